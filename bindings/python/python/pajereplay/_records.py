"""Errors and reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional


class TraceError(ValueError):
    """The trace is invalid. `str` returns the full message with the line and carets.

    Attributes:
        message: Description of the problem in one sentence.
        code: Short name, stable across releases, such as ``unknown-type``.
        file: File with the problem, which may be one that the trace names.
        line: Line, counted from 1, or None if the problem is not in one line.
        column: Column in bytes, counted from 1, or None.
        excerpt: The line with carets below the problem, or None.
    """

    def __init__(
        self,
        message: str,
        code: str = "",
        file: Optional[Any] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        excerpt: Optional[str] = None,
    ) -> None:
        # All attributes, so that the error can be pickled.
        super().__init__(message, code, file, line, column, excerpt)
        self.message = message
        self.code = code
        self.file = None if file is None else str(file)
        self.line = line
        self.column = column
        self.excerpt = excerpt

    def __str__(self) -> str:
        text = f"{_place(self.file, self.line, self.column)}{self.message}"
        return f"{text}\n{self.excerpt}" if self.excerpt else text


@dataclass(frozen=True)
class Problem:
    """Error or warning about a trace. `str` returns one line, as in pj_validate."""

    severity: str
    """``error`` or ``warning``."""
    code: str
    """Short name, stable across releases, such as ``unknown-type``."""
    message: str
    """Description in one sentence."""
    file: Optional[str] = None
    """File with the problem."""
    line: Optional[int] = None
    """First line with the problem, counted from 1, or None if it is not in one line."""
    column: Optional[int] = None
    """Column in bytes, counted from 1, or None if unknown."""
    count: int = 1
    """Number of lines with the problem."""
    remedy: Optional[str] = None
    """Action that recovery took: ``skipped``, ``kept``, ``created`` or ``cut off``."""
    note: Optional[str] = None
    """Further explanation."""
    excerpt: Optional[str] = None
    """The line with carets below the problem."""

    def __post_init__(self) -> None:
        if self.file is not None:
            object.__setattr__(self, "file", str(self.file))

    def __str__(self) -> str:
        more = f" ({self.count} times)" if self.count > 1 else ""
        place = _place(self.file, self.line, self.column)
        return f"{place}{self.severity}[{self.code}]: {self.message}{more}"


@dataclass(frozen=True, repr=False)
class Report:
    """Result of `validate`, true if the trace is valid. `str` returns the output of pj_validate."""

    problems: list[Problem]
    """Errors and warnings, in the order of files and lines."""
    error_count: int
    """Number of lines with errors, including those beyond `max_problems`."""
    warning_count: int
    """Number of lines with warnings, including those beyond `max_problems`."""
    files: list[str]
    """The trace, then the files that it names."""
    summary: dict[str, Any]
    """Numbers of lines, bytes, types, containers, states and so on; start and end in seconds."""
    text: str
    """Output of pj_validate."""

    @property
    def errors(self) -> list[Problem]:
        """Problems that make the trace invalid."""
        return [problem for problem in self.problems if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        """Problems that do not make the trace invalid."""
        return [problem for problem in self.problems if problem.severity == "warning"]

    def __bool__(self) -> bool:
        return self.error_count == 0

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        sound = "sound" if self else "not sound"
        return (
            f"<pajereplay.Report {self.files[0]}: {sound}, {self.error_count} errors, "
            f"{self.warning_count} warnings>"
        )


def _place(file: Optional[str], line: Optional[int], column: Optional[int]) -> str:
    parts = [str(part) for part in (file, line, column) if part is not None]
    return ":".join(parts) + ": " if parts else ""
