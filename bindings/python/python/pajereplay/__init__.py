"""Pajé traces of parallel programs as tables for pyarrow, polars, DuckDB and pandas.

    >>> import pajereplay
    >>> trace = pajereplay.read("app.trace")
    >>> trace.states.to_polars()

`read` replays a trace in parallel and returns its tables: containers, states, variables, events,
links and the two hierarchies. They are Arrow tables, shared without copying with libraries that
support Arrow's PyCapsule interface. `validate` lists all problems of a trace. `partitions` lists the
parts of a trace that can be read separately, and `pajereplay.dask` reads them on many machines.

Times are in seconds and sizes in bytes. Lines and columns are counted from 1.
"""

from ._native import VERSION as __version__
from ._native import Analysis, Column, Table, Trace
from ._partitions import Partition, partitions
from ._read import read, validate
from ._records import Problem, Report, TraceError

__all__ = [
    "Analysis",
    "Column",
    "Partition",
    "Problem",
    "Report",
    "Table",
    "Trace",
    "TraceError",
    "partitions",
    "read",
    "validate",
    "__version__",
]

for _one in (Partition, Problem, Report, TraceError, partitions, read, validate):
    # This is the module's name in messages and in help().
    _one.__module__ = __name__
del _one
