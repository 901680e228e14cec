"""Progress bars for notebooks and terminals."""

from __future__ import annotations

import sys
import time
from typing import Any, Optional


def bar() -> Any:
    """Returns tqdm's bar if it is installed, else a line of text."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return Line()
    return Bar(tqdm)


class Bar:
    """tqdm's bar, created at the first call."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Optional[Any] = None

    def __call__(self, done: int, total: Optional[int]) -> None:
        if self._bar is None:
            self._bar = self._tqdm(total=total, unit="B", unit_scale=True, desc="replay")
        elif total is not None and total != self._bar.total:
            # The total grows when the trace names further files.
            self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class Line:
    """A line on standard error that is overwritten."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._width = 0

    def __call__(self, done: int, total: Optional[int]) -> None:
        rate = done / max(time.monotonic() - self._began, 1e-3)
        text = f"replay: {done / 1e6:.0f} MB, {rate / 1e6:.0f} MB/s"
        if total:
            text = f"replay: {100 * done / total:3.0f} % of {total / 1e6:.0f} MB, {rate / 1e6:.0f} MB/s"
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()
