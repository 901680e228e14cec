"""Parts of traces that can be read separately."""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Optional, Union

from . import _native, _remote

# Approximate size of the text of an OTF2 archive, divided by the size of its events.
TEXT = 2

Path = Union[str, "os.PathLike[str]"]
Patterns = Union[str, Sequence[str], None]


@dataclass(frozen=True)
class Partition:
    """Rows of a trace that `read` can read alone: those that begin at ``start`` or later, and before
    ``end``. Each row of a trace is in exactly one of its partitions."""

    path: str
    """File of the trace."""
    start: float = -inf
    """First time at which rows begin."""
    end: float = inf
    """Time before which rows begin."""
    natures: Optional[tuple[str, ...]] = None
    """Natures of the rows, or None for all."""
    types: Optional[tuple[str, ...]] = None
    """Patterns for types of the rows, or None for all."""
    containers: Optional[tuple[str, ...]] = None
    """Patterns for containers of the rows, or None for all."""
    rows: Optional[int] = None
    """Estimated number of rows of all types and containers, or None if it is unknown."""
    bytes: Optional[int] = None
    """Number of bytes of the file that have these rows, or None if it is unknown."""
    size: Optional[int] = None
    """Size of the file. `read` fails if the file has changed."""
    first: float = -inf
    """Earliest time of the trace, if it is known."""
    last: float = inf
    """Latest time of the trace, if it is known."""
    follow_files: bool = True
    """Whether to read the files that the trace names."""


def partitions(
    source: Union[Path, Sequence[Path]],
    *,
    size: Union[int, str] = "64M",
    start: Optional[float] = None,
    end: Optional[float] = None,
    natures: Patterns = None,
    types: Patterns = None,
    containers: Patterns = None,
) -> list[Partition]:
    """Lists the parts of a trace that can be read separately.

    A row belongs to the partition in which it begins, so the partitions add up to the trace. Packed
    traces with an index are divided by time. OTF2 archives are divided by container if only states are
    wanted (``natures="state"``). Other traces have one partition for each file.

        >>> for partition in pajereplay.partitions("app.pjp"):
        ...     states = pajereplay.read(partition).states.to_pandas()

    Args:
        source: A path, or a URL that fsspec can open. Or a list of complete traces that are pieces of one
            run, such as those of pj_split; the first file must have all containers (``root.trace``).
        size: Size of the text in a partition, in bytes or as ``"64M"``.
        start: Omit rows that begin before this time.
        end: Omit rows that begin at this time or later.
        natures: Natures of rows, as for `read`.
        types: Patterns for types, as for `read`.
        containers: Patterns for containers, as for `read`.

    Raises:
        OSError: A file cannot be read or is damaged.
    """
    most, wanted = _native.size(size), _names(natures)
    if isinstance(source, (str, os.PathLike)):
        found = _of_file(os.fspath(source), most)
        if len(found) == 1 and [nature.lower() for nature in wanted or ()] == ["state"]:
            found = _of_archive(found[0], most, _names(containers))
    else:
        files = [os.fspath(path) for path in source]
        if not files:
            raise ValueError("source must not be empty")
        found = []
        for number, file in enumerate(files):
            own = ("container",) if number == 0 else ()
            some = (*own, "state", "variable", "event", "link")
            found += [replace(part, natures=some, follow_files=False) for part in _of_file(file, most)]
    start, end = (-inf if start is None else start), (inf if end is None else end)
    chosen = []
    for part in found:
        kept = part.natures if wanted is None else wanted
        if part.natures is not None and wanted is not None:
            kept = tuple(one for one in wanted if one.lower() in part.natures)
        if part.end <= start or end <= part.start or kept == ():
            continue
        chosen.append(
            replace(
                part,
                start=max(start, part.start),
                end=min(end, part.end),
                natures=kept,
                types=_names(types),
                containers=part.containers or _names(containers),
            )
        )
    return chosen


def _names(patterns: Patterns) -> Optional[tuple[str, ...]]:
    return (patterns,) if isinstance(patterns, str) else None if patterns is None else tuple(patterns)


def _of_file(file: str, most: int) -> list[Partition]:
    if _remote.is_url(file):
        with _remote.Copy(file) as copy:
            segments, size = copy.is_packed and _native.segments(copy.path), copy.size
    else:
        # An OTF2 archive is a folder.
        size = None if stat.S_ISDIR((found := os.stat(file)).st_mode) else found.st_size
        segments = None if size is None else _native.segments(file)
    if not segments:
        return [Partition(file, bytes=size, size=size)]
    times = [(first, last) for first, last, *_ in segments if first <= last]
    if not times:
        return [Partition(file, rows=sum(segment[4] for segment in segments), bytes=size, size=size)]
    borders = [-inf, *_borders(segments, most), inf]
    bytes_, rows = [0] * (len(borders) - 1), [0] * (len(borders) - 1)
    for first, last, packed, _, lines in segments:
        if not isfinite(first):
            rows[0] += lines
            continue
        # The partition in which the segment begins, and the one in which it ends.
        begin, behind = (max(bisect_left(borders, time, lo=1) - 1, 0) for time in (first, last))
        begin += borders[begin + 1] == first
        behind += borders[behind + 1] == last
        rows[begin] += lines
        for number in range(begin, behind + 1):
            bytes_[number] += packed
    first, last = min(first for first, _ in times), max(last for _, last in times)
    return [
        Partition(file, start, end, rows=rows[number], bytes=bytes_[number], size=size, first=first, last=last)
        for number, (start, end) in enumerate(zip(borders, borders[1:]))
    ]


def _of_archive(whole: Partition, most: int, containers: Optional[tuple[str, ...]]) -> list[Partition]:
    """Returns partitions with the states of containers, if the trace is an OTF2 archive."""
    if _remote.is_url(whole.path):
        return [whole]
    groups: list[tuple[list[str], int]] = []
    for alias, bytes_ in _native.locations(whole.path, containers) or ():
        aliases, size = groups[-1] if groups else ([], most + 1)
        if TEXT * (size + bytes_) > most:
            groups.append(([alias], bytes_))
        else:
            groups[-1] = ([*aliases, alias], size + bytes_)
    return [Partition(whole.path, containers=tuple(aliases), bytes=size) for aliases, size in groups] or [whole]


def _borders(segments: list[tuple[float, float, int, int, int]], most: int) -> list[float]:
    """Returns times that divide the trace into partitions of about this size of text."""
    timed = sorted((first, text) for first, _, _, text, _ in segments if isfinite(first))
    borders, size, previous = [], 0, timed[0][0]
    for first, text in timed:
        if size >= most and first > previous:
            borders.append(first)
            previous, size = first, 0
        size += text
    return borders
