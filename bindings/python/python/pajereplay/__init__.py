"""Pajé traces as tables: what parallel programs did, in pyarrow, polars, DuckDB and pandas.

    >>> import pajereplay
    >>> trace = pajereplay.read("app.trace")
    >>> trace.states.to_polars()

`read` replays a trace, exactly and with all processors, and gives its tables: containers, states, variables,
events, links, and the two hierarchies. They are Arrow tables, shared without copying with whatever understands
Arrow's PyCapsule interface. `validate` tells every problem of a trace.

All times are in seconds; lines and columns are counted from 1, sizes in bytes.
"""

from ._native import VERSION as __version__
from ._native import Analysis, Column, Table, Trace
from ._read import read, validate
from ._records import Problem, Report, TraceError

__all__ = ["Analysis", "Column", "Problem", "Report", "Table", "Trace", "TraceError", "read", "validate", "__version__"]

for _one in (Problem, Report, TraceError, read, validate):
    # Names that people see in messages and ask help() about.
    _one.__module__ = __name__
del _one
