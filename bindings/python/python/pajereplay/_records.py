"""What is told about traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional


class TraceError(ValueError):
    """A trace that is not valid. `str` of it is the whole message, with the line and a caret.

    Attributes:
        message: what is wrong, in one sentence.
        code: a short name for it, stable from release to release, such as ``unknown-type``.
        file: the file that it is in: of a trace in many files, perhaps a named one.
        line: its line, counted from 1; None if it is in no one line.
        column: its column in bytes, counted from 1; None likewise.
        excerpt: the line with carets below what is wrong, or None.
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
        # All of them, so that an error comes out of another process as it was.
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
    """Something wrong or doubtful in a trace. `str` of it is one line, as pj_validate's."""

    severity: str
    """``error`` or ``warning``."""
    code: str
    """A short name, stable from release to release, such as ``unknown-type``."""
    message: str
    """What it is, in one sentence."""
    file: Optional[str] = None
    """The file that it is in."""
    line: Optional[int] = None
    """The first line that has it, counted from 1; None if it is in no one line."""
    column: Optional[int] = None
    """Where in the line, in bytes counted from 1; None if that is not known."""
    count: int = 1
    """How many lines have it."""
    remedy: Optional[str] = None
    """What `recover` made of it: ``skipped``, ``kept``, ``created`` or ``cut off``."""
    note: Optional[str] = None
    """What else helps to understand it."""
    excerpt: Optional[str] = None
    """The line with carets below what is meant."""

    def __post_init__(self) -> None:
        if self.file is not None:
            object.__setattr__(self, "file", str(self.file))

    def __str__(self) -> str:
        more = f" ({self.count} times)" if self.count > 1 else ""
        place = _place(self.file, self.line, self.column)
        return f"{place}{self.severity}[{self.code}]: {self.message}{more}"


@dataclass(frozen=True, repr=False)
class Report:
    """What `validate` found. It is true if the trace is sound; `str` of it is what pj_validate prints."""

    problems: list[Problem]
    """Errors and warnings, in the order of files and lines."""
    error_count: int
    """How many errors there are, each line counted, also those that `max_problems` left out."""
    warning_count: int
    """The same of warnings."""
    files: list[str]
    """What was read: the trace, then the files that it names."""
    summary: dict[str, Any]
    """What the trace holds: how many lines, bytes, types, containers, states and so on; start and end in seconds."""
    text: str
    """What pj_validate prints."""

    @property
    def errors(self) -> list[Problem]:
        """The problems that make the trace invalid."""
        return [problem for problem in self.problems if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        """The problems that do not."""
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
