"""Traces that fsspec opens: object stores, HTTP."""

from __future__ import annotations

import os
import tempfile
from errno import EIO
from typing import Any, Optional

from . import _native

CHANGED = "the file has another size than when its partitions were listed"

MAGIC = b"\x89PJP\r\n\x1a\n"

# Bytes at the end of a packed trace that are fetched first. They have its index.
TAIL = 1 << 15


def is_url(source: Any) -> bool:
    return isinstance(source, str) and "://" in source


class Copy:
    """Copy of a trace with only the bytes that a window needs, or the index if there is no window.

    Attributes:
        path: File with the copy. The bytes that it lacks are zero.
        size: Size of the trace in bytes.
        is_packed: Whether it is a packed trace whose window has been fetched. If not, the copy has no bytes.
        fetched: Number of bytes fetched.
    """

    def __init__(
        self, url: str, window: Optional[tuple[float, float]] = None, expected_size: Optional[int] = None
    ) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise ImportError("URLs need fsspec, which is not installed: pip install fsspec") from error
        self._url = url
        self._fs, self._name = url_to_fs(url)
        self._have: list[tuple[int, int]] = []
        self.size = int(self._fs.size(self._name))
        if expected_size is not None and self.size != expected_size:
            raise OSError(EIO, CHANGED, url)
        self.fetched = 0
        handle, self.path = tempfile.mkstemp(prefix="pajereplay-", suffix=".pjp")
        try:
            with os.fdopen(handle, "r+b") as self._file:
                self._file.truncate(self.size)
                self.is_packed = self._fetch_window(window)
        except BaseException:
            os.unlink(self.path)
            raise

    def _fetch_window(self, window: Optional[tuple[float, float]]) -> bool:
        head = self._fetch([(0, min(12, self.size))])[0]
        if not head.startswith(MAGIC):
            return False
        lacking: Optional[list[tuple[int, int]]] = [(max(12, self.size - TAIL), self.size)]
        while lacking:
            self._fetch(lacking)
            try:
                lacking = _native.missing(self.path, self._have, window)
            except OSError as error:
                raise OSError(error.errno, error.strerror, self._url) from None
        return lacking is not None

    def _fetch(self, ranges: list[tuple[int, int]]) -> list[bytes]:
        names, starts, ends = [self._name] * len(ranges), [one for one, _ in ranges], [one for _, one in ranges]
        pieces = self._fs.cat_ranges(names, starts, ends, on_error="raise")
        for (start, end), piece in zip(ranges, pieces):
            if len(piece) != end - start:
                raise OSError(EIO, f"only {len(piece)} of {end - start} bytes from {start} could be read", self._url)
            self._file.seek(start)
            self._file.write(piece)
            self.fetched += len(piece)
        self._file.flush()
        # Adjacent ranges become one.
        merged: list[tuple[int, int]] = []
        for start, end in sorted([*self._have, *ranges]):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        self._have = merged
        return pieces

    def open(self) -> Any:
        """Opens the trace as a stream."""
        return self._fs.open(self._name, "rb", cache_type="readahead")

    def __enter__(self) -> Copy:
        return self

    def __exit__(self, *_: object) -> None:
        os.unlink(self.path)
