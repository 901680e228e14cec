"""Previews of tables and traces for terminals and notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import Table, Trace

# Number of rows shown at the beginning and at the end.
SHOWN = 5

# Mark for omitted rows and letters.
GAP = "…"

# Maximum width of cells in text. Notebooks wrap long cells instead.
WIDEST = 40


def table_text(table: Table) -> str:
    rows = [[_cut(cell) for cell in row] for row in _rows(table)]
    numbers = _numbers(table)
    columns = list(zip(table.column_names, *rows))
    widths = [max(map(len, column)) for column in columns]
    lines = [_caption(table)]
    for row in [table.column_names, *rows]:
        cells = [cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(row, widths, numbers)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def table_html(table: Table) -> str:
    numbers = _numbers(table)
    return _html(_caption(table), table.column_names, _rows(table), numbers)


def trace_text(trace: Trace) -> str:
    facts = _facts(trace)
    width = max(len(name) for name, _ in facts)
    lines = [trace.metadata["source"], *(f"  {name.ljust(width)}  {fact}" for name, fact in facts)]
    return "\n".join(lines)


def trace_html(trace: Trace) -> str:
    return _html(trace.metadata["source"], [], [list(fact) for fact in _facts(trace)], [False, True])


def _facts(trace: Trace) -> list[tuple[str, str]]:
    """Returns facts about a trace that are known without making its tables."""
    facts = [(name, f"{count:,}") for name, count in trace.counts.items()]
    facts.append(("end", f"{trace.end:.12g} s"))
    for name, problems in (("warnings", trace.warnings), ("recovered", trace.recovered)):
        if problems:
            facts.append((name, f"{sum(problem.count for problem in problems):,}"))
    return facts


def _caption(table: Table) -> str:
    return f"{table.name}: {len(table):,} rows"


def _rows(table: Table) -> list[list[str]]:
    """Returns the first and last rows as strings, with a row of marks between them."""
    columns = [table[name] for name in table.column_names]
    length = len(table)
    if length <= 2 * SHOWN + 1:
        return [[_cell(value) for value in row] for row in zip(*columns)]
    top = [[_cell(value) for value in row] for row in zip(*(column[:SHOWN] for column in columns))]
    bottom = [[_cell(value) for value in row] for row in zip(*(column[length - SHOWN :] for column in columns))]
    return [*top, [GAP] * len(columns), *bottom]


def _numbers(table: Table) -> list[bool]:
    """Returns whether each column is numeric, judging by the first row."""
    first = [table[name][:1] for name in table.column_names]
    return [bool(values) and isinstance(values[0], (int, float)) for values in first]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _cut(cell: str) -> str:
    line = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in cell)
    return line if len(line) <= WIDEST else f"{line[: WIDEST - 1]}{GAP}"


def _html(caption: str, head: list[str], rows: list[list[str]], numbers: list[bool]) -> str:
    def cells(tag: str, row: list[str]) -> str:
        sides = ["right" if number else "left" for number in numbers]
        return "".join(f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>' for cell, side in zip(row, sides))

    parts = [f'<table><caption style="text-align: left">{escape(caption)}</caption>']
    if head:
        parts.append(f"<thead><tr>{cells('th', head)}</tr></thead>")
    parts.append("<tbody>")
    parts += [f"<tr>{cells('td', row)}</tr>" for row in rows]
    parts.append("</tbody></table>")
    return "\n".join(parts)
