"""Traces as Dask data frames, and reports that Dask's workers compute.

    >>> import pajereplay.dask as pd
    >>> states = pd.states("app.pjp")
    >>> states.groupby("Value", observed=True)["Duration"].sum().compute()
    >>> pd.profile("app.pjp")

Each partition of a data frame is one of `pajereplay.partitions`: a worker reads only the part of the
trace that it needs. Packed traces are divided by time, and their data frames have known divisions.
The index is the time at which a row begins. All partitions have the same categories.

The keywords of all functions are those of `pajereplay.partitions`. Other keywords are passed to
`pajereplay.read`.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import replace
from math import inf, isfinite
from typing import Any, Optional

try:
    import dask
    import dask.dataframe as dd
    import pandas
except ImportError as missing:
    raise ImportError("pajereplay.dask needs Dask: pip install 'pajereplay[dask]'") from missing

from . import _native, _remote
from ._partitions import Partition, partitions
from ._read import read

__all__ = ["comm", "containers", "events", "links", "profile", "states", "variables", "waits"]

# Reports are added up in groups of this size.
GROUP = 8

# Size of the text that waits read at once.
PORTION = "16M"

# Name of each table, its nature, and the column of its rows' beginnings.
NATURES = {
    "containers": ("container", "Start"),
    "states": ("state", "Start"),
    "variables": ("variable", "Start"),
    "events": ("event", "Time"),
    "links": ("link", "Start"),
}


def states(source: Any, **keywords: Any) -> dd.DataFrame:
    """Returns the states: Container, Type, Start, End, Duration, Imbrication, Value."""
    return _frame("states", source, keywords)


def links(source: Any, **keywords: Any) -> dd.DataFrame:
    """Returns the links: Container, Type, Start, End, Duration, Value, StartContainer, EndContainer, Key."""
    return _frame("links", source, keywords)


def variables(source: Any, **keywords: Any) -> dd.DataFrame:
    """Returns the values of variables over time: Container, Type, Start, End, Duration, Value."""
    return _frame("variables", source, keywords)


def events(source: Any, **keywords: Any) -> dd.DataFrame:
    """Returns the events: Container, Type, Time, Value. All events are read once to find their values."""
    return _frame("events", source, keywords)


def containers(source: Any, **keywords: Any) -> dd.DataFrame:
    """Returns the containers: Parent, Type, Start, End, Duration, Name."""
    return _frame("containers", source, keywords)


def profile(source: Any, *, by: str = "value", **keywords: Any) -> pandas.DataFrame:
    """Returns the profile of states, as `Trace.profile` does. Workers compute the profiles of the
    partitions and add them up. The sums are exact, so the result does not depend on the partitions."""
    return _report("profile", source, by, keywords)


def comm(
    source: Any, *, level: Optional[str] = None, bytes: Optional[str] = None, **keywords: Any
) -> pandas.DataFrame:
    """Returns the communication matrix, as `Trace.comm` does, computed like `profile`."""
    return _report("comm", source, level, {"user_defined": True, **keywords}, bytes)


def waits(
    source: Any,
    *,
    by: str = "kind",
    map: Optional[str] = None,
    group: Optional[str] = None,
    root: Optional[str] = None,
    eager: Optional[int] = None,
    bytes: Optional[str] = None,
    **keywords: Any,
) -> pandas.DataFrame:
    """Returns wait states, as `Trace.waits` does. They depend on all containers and earlier times, so
    one worker computes them. By kind, it reads a file up to three times, in portions of ``size``, and
    keeps only rows that depend on one another. Otherwise, it reads the whole trace, and needs about as
    much memory as the text has bytes: for other groupings, lists of files, URLs and archives, and if
    the trace may contain links twice or does not have one group of containers for all collectives.
    ``memory_limit`` is the memory for rows, and for the analysis beside them; the default is half the
    worker's memory. If the analysis needs more, a `ValueError` says how much."""
    size = _native.size(keywords.pop("size", PORTION))
    about = {"by": by, "map": map, "group": group, "root": root, "eager": eager, "bytes": bytes}
    label = f"{_label('waits', source)}-{uuid.uuid4().hex}"
    return dask.delayed(_waits)(source, keywords, about, size, dask_key_name=label).compute()


def _waits(source: Any, keywords: dict[str, Any], about: dict[str, Any], size: int) -> pandas.DataFrame:
    keywords = {"memory_limit": _memory(), **keywords}
    usual = read.__kwdefaults__ or {}
    changes_rows = any(keywords.get(name) for name in ("sort", "recover", "no_imbrication"))
    is_plain = keywords.keys() <= usual.keys() and not changes_rows
    is_file = isinstance(source, (str, os.PathLike)) and os.path.isfile(source)
    if is_plain and is_file and about["by"] == "kind" and about["group"] is None:
        options = {name: about[name] for name in ("map", "root", "eager", "bytes")}
        # Dask runs tasks in parallel, and each thread needs memory.
        asked = {**usual, "threads": 1, **keywords}
        found = _native.waits_in_portions(os.fspath(source), asked, size, **options)
        if found is not None:
            return found.to_pandas()
    return read(source, **keywords).waits(**about).to_pandas()


def _memory() -> Optional[int]:
    """Returns half the memory of this worker, if it is limited."""
    try:
        from distributed import get_worker

        limit = get_worker().memory_manager.memory_limit
    except (ImportError, ValueError):
        return None
    return limit // 2 if limit else None


def _divided(keywords: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the keywords of `partitions` and those of `read`."""
    names = ("size", "start", "end", "types", "containers")
    ours = {name: keywords[name] for name in names if name in keywords}
    # Dask runs tasks in parallel.
    return ours, {"threads": 1, **{name: value for name, value in keywords.items() if name not in names}}


# Reports


def _report(
    report: str, source: Any, by: Optional[str], keywords: dict[str, Any], bytes: Optional[str] = None
) -> pandas.DataFrame:
    listed, options = _divided(keywords)
    nature, run = ("state" if report == "profile" else "link"), uuid.uuid4().hex
    # Rows at the ends of a window count in part, and pieces of a run number their containers differently.
    parts = [] if listed.keys() & {"start", "end"} else partitions(source, natures=nature, **listed)
    # A part of an archive does not have its end.
    if len(parts) < 2 or not isfinite(parts[0].first) or len({part.path for part in parts}) > 1:
        keywords = {name: value for name, value in keywords.items() if name != "size"}
        keywords = {**keywords, "natures": nature}
        label = f"{_label(report, source)}-{run}"
        return dask.delayed(_whole_report)(report, source, by, keywords, bytes, dask_key_name=label).compute()
    found = [
        dask.delayed(_part)(report, part, by, options, bytes, dask_key_name=f"{_label(report, part.path)}-{number}-{run}")
        for number, part in enumerate(parts)
    ]
    while len(found) > GROUP:
        groups = [found[first : first + GROUP] for first in range(0, len(found), GROUP)]
        found = [dask.delayed(_native.add_parts)(report, group) for group in groups]
    return dask.delayed(_sum)(report, _nothing(parts[0]), by, options, found).compute()


def _part(report: str, part: Partition, by: Optional[str], options: dict[str, Any], bytes: Optional[str]) -> bytes:
    return read(part, **options)._part(report, by, bytes)


def _sum(
    report: str, nothing: Partition, by: Optional[str], options: dict[str, Any], parts: list[bytes]
) -> pandas.DataFrame:
    return read(nothing, **options)._whole(report, by, parts).to_pandas()


def _whole_report(
    report: str, source: Any, by: Optional[str], keywords: dict[str, Any], bytes: Optional[str]
) -> pandas.DataFrame:
    trace = read(source, **keywords)
    found = trace.profile(by=by) if report == "profile" else trace.comm(level=by, bytes=bytes)
    return found.to_pandas()


def _label(work: str, source: Any) -> str:
    """Returns the name of tasks, which Dask prints if it gives up. It has the name of the file."""
    first = source if isinstance(source, (str, os.PathLike)) else next(iter(source))
    return f"{work}-of-{os.path.basename(os.fspath(first))}"


def _nothing(part: Partition) -> Partition:
    """Returns a partition without rows, which has the types and containers."""
    return replace(part, start=inf, end=inf)


# Data frames


def _frame(table: str, source: Any, keywords: dict[str, Any]) -> dd.DataFrame:
    listed, options = _divided(keywords)
    if options.get("user_defined"):
        raise ValueError("user_defined is impossible here, because partitions can have different fields")
    parts = partitions(source, natures=NATURES[table][0], **listed)
    if not parts:
        raise ValueError("no rows begin in this window")
    reader = _Reader(table, options)
    known = _known(table, parts)
    if known is None:
        # The names are only known after all rows have been read.
        run = uuid.uuid4().hex
        keys = (f"{_label('names', part.path)}-{number}-{run}" for number, part in enumerate(parts))
        names_of = dask.delayed(reader.names_of)
        found = dask.compute(*(names_of(part, dask_key_name=key) for part, key in zip(parts, keys)))
    else:
        found = [reader.names_of(_nothing(parts[0])), (None, {"Value": known})]
    (empty, names), *others = found
    names = {column: all.union(*(more.get(column, ()) for _, more in others)) for column, all in names.items()}
    reader = _Reader(table, options, {column: sorted(all) for column, all in names.items()})
    meta = reader.frame(empty)
    return dd.from_map(reader, parts, meta=meta, divisions=_divisions(parts), label=_label(table, source))


def _known(table: str, parts: list[Partition]) -> Optional[set[str]]:
    """Returns the values of a table, or None if they are unknown before all rows have been read."""
    paths = {part.path for part in parts}
    if len(paths) > 1 or not isfinite(parts[0].first):
        return None
    if table in ("containers", "variables"):
        return set()
    if table == "events":
        return None
    path = paths.pop()
    if _remote.is_url(path):
        with _remote.Copy(path) as copy:
            found = _native.values(copy.path)
    else:
        found = _native.values(path)
    values = None if found is None else set(found[0] if table == "states" else found[1])
    # Tables read invalid UTF-8 as Latin-1, and reports do not.
    return None if values is None or any("\N{REPLACEMENT CHARACTER}" in value for value in values) else values


def _divisions(parts: list[Partition]) -> tuple[Optional[float], ...]:
    is_known = len({part.path for part in parts}) == 1 and isfinite(parts[0].first)
    if not is_known:
        return (None,) * (len(parts) + 1)
    # Containers that no event creates exist from 0.
    first, last = min(parts[0].first, 0.0), max(parts[-1].last, 0.0)
    return (max(parts[0].start, first), *(part.start for part in parts[1:]), min(parts[-1].end, last))


class _Reader:
    """Reads partitions of a table. Dask passes the columns that it needs."""

    def __init__(self, table: str, options: dict[str, Any], names: Optional[dict[str, list[str]]] = None) -> None:
        self._table = table
        self._options = options
        self._names = names or {}

    def __call__(self, part: Partition, columns: Optional[list[str]] = None) -> pandas.DataFrame:
        rows = getattr(self._read(part), self._table).to_arrow()
        return self.frame(rows, columns, part.path)

    def _read(self, part: Partition) -> Any:
        return read(part, **{"durations": True, **self._options})

    def names_of(self, part: Partition) -> tuple[Any, dict[str, set[str]]]:
        """Returns the table without rows, and the names in its columns of names."""
        trace = self._read(part)
        types = list(zip(*(trace.type_hierarchy[column].to_list() for column in ("Parent", "Name", "Nature"))))
        entities = zip(*(trace.entity_hierarchy[column].to_list() for column in ("Name", "Nature")))
        nature = NATURES[self._table][0].capitalize()
        wanted = {name for _, name, of in types if of == nature}
        known = {
            "Type": {name for parent, child, of in types if of != "Value" for name in (parent, child)},
            "Value": {name for parent, name, of in types if of == "Value" and parent in wanted},
        }
        containers = {name for name, of in entities if of == "Container"}
        rows = getattr(trace, self._table).to_arrow()
        columns = [field.name for field in rows.schema if str(field.type).startswith("dictionary")]
        return rows.slice(0, 0), {column: known.get(column, containers) for column in columns}

    def frame(self, rows: Any, columns: Optional[list[str]] = None, path: str = "") -> pandas.DataFrame:
        """Converts a table, with the same categories for all partitions."""
        time = NATURES[self._table][1]
        begin = rows[time].to_numpy()
        frame = rows.select(rows.column_names if columns is None else list(columns)).to_pandas()
        for column, names in self._names.items():
            if column in frame.columns:
                held = frame[column].cat.remove_unused_categories()
                unknown = set(held.cat.categories) - set(names)
                if unknown:
                    raise ValueError(f"{path}: {column} has the name {unknown.pop()!r}, which was unknown before")
                frame[column] = held.cat.set_categories(names)
        frame.index = pandas.Index(begin, name="time")
        return frame.sort_index(kind="stable")
