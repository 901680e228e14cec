"""Reading traces, and checking them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, Optional, Union

from . import _native, _progress
from ._records import Report

Source = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]], bytes, bytearray, memoryview, BinaryIO]
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

    The trace may be compressed with gzip, zstd, xz or bzip2, which is recognised by content. Python's lock is
    not held meanwhile, and Ctrl-C ends it. The result is the same for any number of threads.

    Args:
        source: A path; a list of paths, which are one trace (pieces that pj_split wrote, for example); bytes;
            or a file object that is open for reading bytes (``sys.stdin.buffer``).
        threads: How many threads work; as many as the process may use if not given. Tables are made by as many.
        pin: Where they run: ``none``, ``compact``, ``scatter``, ``numa``, ``numa:0,1`` or CPUs as ``0,2,4-7``.
        strict: False understands the field names of older traces (``ContainerType``, ``SourceContainer``, …).
        ignore_incomplete_links: Drops links that lack an end instead of refusing the trace.
        no_imbrication: Pushes and pops become changes of one state.
        user_defined: Keeps user-defined fields, as further columns.
        lines: Keeps the line of the event that opened each object, as the column ``Line``. Not with ``sort``.
        durations: Adds the column ``Duration``, which is ``End`` minus ``Start``, to tables that have both.
        sort: Replays events in the order of their times, whatever the order of their lines.
        recover: Leaves out or mends what is wrong, instead of refusing the trace: see ``Trace.recovered``.
        stop_at: Ignores events later than this time, in seconds; what is open ends there.
        start: Leaves out rows that end before this time, in seconds; containers are never left out.
        end: Leaves out rows that begin after this time, in seconds; containers are never left out.
        natures: Only rows of these natures: ``"state"``, say, or ``["State", "Link"]``. Other tables have no rows, and
            take no time and memory.
        types: Only rows of types whose name or alias matches this pattern (``"MPI_*"``), or one of these. The row
            of a container is of the container's type.
        containers: Only rows in containers whose name or alias matches this pattern, or one of these, and in
            all that is in them. Patterns that nothing in the trace matches get a warning (``UserWarning``).
        variable_precision: ``double``, or ``single`` as PajeNG reads values of variables.
        quotes: ``strip``: names are bare; ``keep``: as they are written in the trace.
        follow_files: Reads the files that the trace names (PajeTraceFile, Filename), which must be regular files
            below its own folder (the current one, if the source is no path).
        files_from: A folder, or some, below which the trace may name files too.
        memory_limit: How much memory the process may have during the replay, in bytes or as ``"4G"``; beyond
            it, the trace goes to a temporary file. Tables are in memory in any case. None: no limit.
        temp_dir: Where that file is made: ``$TMPDIR`` if not given, or ``/var/tmp``. It has no name.
        progress: True shows a bar (tqdm's, if it is installed); or a function that is called some ten times a
            second with the bytes read so far and those that there are (None if that is not known).

    Raises:
        TraceError: The trace is invalid. The error has the line, the column and a code.
        OSError: A file cannot be read, or compressed data are damaged (``errno.EIO``).
        ValueError: A keyword has a value that it cannot have.
        TypeError: The source is nothing of the above, or a keyword is of a type that it cannot be of.
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
    }
    try:
        return _native.read(source, watcher, asked)
    finally:
        if shown is not None:
            shown.close()


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
    """Checks a Pajé trace, and tells all its problems instead of the first only.

    The report is true if the trace is sound, has a list of problems, and prints as pj_validate does:

        >>> report = pajereplay.validate("app.trace")
        >>> if not report:
        ...     print(report)

    Args:
        source: As for `read`, but for lists of paths.
        strict: False understands the field names of older traces.
        ignore_incomplete_links: Passes over links that lack an end.
        follow_files: Checks the files that the trace names too, which must be regular files below its own folder.
        files_from: A folder, or some, below which the trace may name files too.
        max_problems: How many errors, and how many warnings, are listed; None: all. All are counted.
        max_line: The longest line that is read, in bytes or as ``"64M"``, which it is if not given.

    Raises:
        OSError: The trace cannot be read. That a file which it names cannot be read is a problem of the trace.
        ValueError: A keyword has a value that it cannot have.
        TypeError: The source is nothing of the above, or a keyword is of a type that it cannot be of.
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
