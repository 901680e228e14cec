"""Reads and checks traces."""

from __future__ import annotations

import os
from errno import EIO
from math import inf, nextafter
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, Optional, Union

from . import _native, _progress, _remote
from ._partitions import Partition
from ._records import Report

Source = Union[
    str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]], bytes, bytearray, memoryview, BinaryIO, Partition
]
Watcher = Callable[[int, Optional[int]], object]


def read(
    source: Source,
    *,
    threads: Optional[int] = None,
    pin: Optional[str] = None,
    strict: bool = True,
    ignore_incomplete_links: bool = False,
    no_imbrication: bool = False,
    user_defined: bool = False,
    lines: bool = False,
    durations: bool = False,
    sort: bool = False,
    recover: bool = False,
    stop_at: Optional[float] = None,
    time_unit: Optional[str] = None,
    start: Optional[float] = None,
    end: Optional[float] = None,
    natures: Union[str, Sequence[str], None] = None,
    types: Union[str, Sequence[str], None] = None,
    containers: Union[str, Sequence[str], None] = None,
    variable_precision: str = "double",
    quotes: str = "strip",
    follow_files: bool = True,
    files_from: Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]], None] = None,
    memory_limit: Union[int, str, None] = None,
    temp_dir: Union[str, "os.PathLike[str]", None] = None,
    progress: Union[bool, Watcher, None] = None,
) -> _native.Trace:
    """Replays a Pajé trace.

    The trace may be compressed with gzip, zstd, xz or bzip2, recognised by content. Python's lock is
    released meanwhile, and Ctrl-C interrupts the replay.

    Args:
        source: A path; a list of paths that form one trace (such as pieces from pj_split); bytes; a
            file object opened for reading bytes (``sys.stdin.buffer``); a `Partition`, which sets
            ``start``, ``end``, ``natures``, ``types`` and ``containers``; or a URL such as
            ``s3://bucket/app.pjp``, if fsspec is installed.
        threads: Number of threads for the replay and tables. Default: all available. Results do not
            depend on it.
        pin: Placement of threads: ``none``, ``compact``, ``scatter``, ``numa``, ``numa:0,1`` or CPUs
            such as ``0,2,4-7``.
        strict: False accepts the field names of older traces (``ContainerType``, ``SourceContainer``, …).
        ignore_incomplete_links: Ignore links that have no end, instead of raising an error.
        no_imbrication: Treat pushes and pops as changes of a single state.
        user_defined: Keep user-defined fields as further columns.
        lines: Keep the line of each row's opening event as column ``Line``. Not with ``sort``.
        durations: Add the column ``Duration`` (``End`` minus ``Start``) to tables that have both.
        sort: Replay events in the order of their times instead of their lines.
        recover: Skip or repair problems, instead of raising an error (see ``Trace.recovered``).
        stop_at: Ignore events after this time. Open rows end there.
        time_unit: Unit of the trace's times, for analyses: ``ns``, ``us``, ``ms`` or ``s``. Default: that of
            the program that wrote the trace, if known, or else seconds. Tables keep the trace's times.
        start: Omit rows that end before this time, except containers. If the trace is packed, segments
            that are not needed for ``start`` and ``end`` are not read.
        end: Omit rows that begin after this time, except containers.
        natures: Natures of rows, such as ``"state"`` or ``["State", "Link"]``. Other tables are empty
            and cost nothing.
        types: Pattern or patterns for names or aliases of types (``"MPI_*"``). The row
            of a container has the container's type.
        containers: Pattern or patterns for names or aliases of containers. Includes their contents.
            Patterns without a match cause a ``UserWarning``.
        variable_precision: ``double``, or ``single`` as in PajeNG.
        quotes: ``strip`` drops the quotes around names, ``keep`` keeps them.
        follow_files: Read the files that the trace names (PajeTraceFile, Filename). They must be
            regular files below its folder (for other sources, below the current folder).
        files_from: Further folder or folders below which the trace may name files.
        memory_limit: Maximum memory of the process during the replay, in bytes or as ``"4G"``. Beyond
            it, the trace goes to a temporary file. Does not include tables. Waits and the critical path
            are refused if they need more memory than this beside the trace. None: no limit.
        temp_dir: Folder of the temporary file. Default: ``$TMPDIR`` or ``/var/tmp``.
        progress: True shows a progress bar (of tqdm, if installed). A function is called about ten
            times a second with the bytes read and the total (None if unknown).

    Raises:
        TraceError: The trace is invalid. The error has the line, the column and a code.
        OSError: A file cannot be read, or compressed data are damaged (``errno.EIO``).
        ValueError: A keyword has an invalid value.
        TypeError: The source or a keyword has the wrong type.
    """
    shown = _progress.bar() if progress is True else None
    watcher: Optional[Any] = shown or progress or None
    asked = {
        "threads": threads,
        "pin": pin,
        "strict": strict,
        "ignore_incomplete_links": ignore_incomplete_links,
        "no_imbrication": no_imbrication,
        "user_defined": user_defined,
        "lines": lines,
        "durations": durations,
        "sort": sort,
        "recover": recover,
        "stop_at": stop_at,
        "time_unit": time_unit,
        "start": start,
        "end": end,
        "natures": natures,
        "types": types,
        "containers": containers,
        "variable_precision": variable_precision,
        "quotes": quotes,
        "follow_files": follow_files,
        "files_from": files_from,
        "memory_limit": memory_limit,
        "temp_dir": temp_dir,
        "begins": False,
        "name": None,
        "bytes_read": None,
    }
    try:
        if isinstance(source, Partition):
            given = (start, end, natures, types, containers)
            if any(one is not None for one in given):
                raise ValueError("a partition has its own start, end, natures, types and containers")
            return _read_partition(source, watcher, asked)
        if _remote.is_url(source):
            window = None if start is None and end is None else (_or(start, -inf), _or(end, inf))
            return _read_url(source, window, watcher, asked)
        return _native.read(source, watcher, asked)
    finally:
        if shown is not None:
            shown.close()


def _or(time: Optional[float], default: float) -> float:
    return default if time is None else time


def _read_partition(part: Partition, watcher: Optional[Watcher], asked: dict[str, Any]) -> _native.Trace:
    def listed(names: Optional[tuple[str, ...]]) -> Optional[list[str]]:
        return None if names is None else list(names)

    asked.update(begins=True, start=part.start, end=part.end, natures=listed(part.natures))
    asked.update(types=listed(part.types), containers=listed(part.containers))
    asked["follow_files"] = asked["follow_files"] and part.follow_files
    if _remote.is_url(part.path):
        whole = part.start == -inf and part.end == inf
        window = None if whole else (part.start, nextafter(part.end, -inf))
        return _read_url(part.path, window, watcher, asked, part.size)
    if part.size is not None and os.path.getsize(part.path) != part.size:
        raise OSError(EIO, _remote.CHANGED, part.path)
    return _native.read(part.path, watcher, asked)


def _read_url(
    url: str,
    window: Optional[tuple[float, float]],
    watcher: Optional[Watcher],
    asked: dict[str, Any],
    size: Optional[int] = None,
) -> _native.Trace:
    asked["name"] = url
    # Without a window, everything is read, as a stream.
    with _remote.Copy(url, window, size) as copy:
        if copy.is_packed and window is not None:
            return _native.read(copy.path, watcher, {**asked, "bytes_read": copy.fetched})
        with copy.open() as stream:
            return _native.read(stream, watcher, asked)


def validate(
    source: Source,
    *,
    strict: bool = True,
    ignore_incomplete_links: bool = False,
    follow_files: bool = True,
    files_from: Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]], None] = None,
    max_problems: Optional[int] = 100,
    max_line: Union[int, str, None] = None,
) -> Report:
    """Checks a Pajé trace and lists all its problems.

    The report is true if the trace is valid, has a list of problems, and prints like pj_validate:

        >>> report = pajereplay.validate("app.trace")
        >>> if not report:
        ...     print(report)

    Args:
        source: As for `read`, except lists of paths.
        strict: False accepts the field names of older traces.
        ignore_incomplete_links: Ignore links that have no end.
        follow_files: Check the files that the trace names too. They must be regular files below its
            folder.
        files_from: Further folder or folders below which the trace may name files.
        max_problems: Maximum number of listed errors and of listed warnings; None lists all. All are
            counted.
        max_line: Maximum length of a line in bytes or as ``"64M"``, the default.

    Raises:
        OSError: The trace cannot be read. Unreadable files that it names are problems of the trace.
        ValueError: A keyword has an invalid value.
        TypeError: The source or a keyword has the wrong type.
    """
    asked = {
        "strict": strict,
        "ignore_incomplete_links": ignore_incomplete_links,
        "follow_files": follow_files,
        "files_from": files_from,
        "max_problems": max_problems,
        "max_line": max_line,
    }
    return _native.validate(source, asked)
