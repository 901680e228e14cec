"""Previews of traces and tables, columns, and messages about arguments."""

import html.parser
import subprocess
import sys

import numpy
import polars
import pyarrow
import pytest

import pajereplay
from conftest import HEADER, dump

WILD = HEADER + '4 1 Power first "<b>on & off</b>"\n'


@pytest.fixture
def trace(example):
    return pajereplay.read(example("mpi"))


class Cells(html.parser.HTMLParser):
    """Extracts a table's cells and caption. Unclosed elements are an error."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.caption = [], [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif self.open and self.open[-1] == "caption":
            self.caption += data


def test_columns_by_name(trace):
    states, whole, count = trace.states, trace.states.to_arrow(), trace.counts["states"]
    assert list(states) == states.column_names and "Value" in states and "value" not in states and 5 not in states
    for name in states:
        column, wanted = states[name], whole[name].to_pylist()
        assert (column.name, len(column)) == (name, count)
        assert column.to_list() == wanted == list(column) == column[:]
        assert [column[0], column[count - 1], column[-1], column[-count]] == [wanted[0], wanted[-1], wanted[-1], wanted[0]]
        for some in (slice(3, 7), slice(-4, None), slice(None, None, -1), slice(50, 2, -7), slice(10**6, None)):
            assert column[some] == wanted[some]
        for row in (count, -count - 1, 10**30, -(10**30)):
            with pytest.raises(IndexError):
                column[row]
        with pytest.raises(TypeError, match="^an index must be a row's number or a slice, not 'Value'$"):
            column["Value"]
        assert pyarrow.array(column).to_pylist() == wanted == column.to_arrow().to_pylist()
        assert polars.Series(column).to_list() == wanted and column.to_polars().name == name
        assert column.to_pandas().tolist() == wanted and column.to_pandas().name == name
        assert column.to_numpy().tolist() == wanted == numpy.asarray(column).tolist()
    assert numpy.asarray(states["Imbrication"], dtype=float).dtype == float
    assert repr(states["Value"]) == "<pajereplay.Column Value of state: name>"


def test_columns_of_many_batches():
    """Columns hide the batches in which rows are made."""
    lines = "".join(f"4 {number} Power first v{number * number % 17}\n" for number in range(1, 540_001))
    trace = pajereplay.read((HEADER + lines).encode(), threads=2)
    whole = trace.states.to_arrow()
    assert whole["Value"].num_chunks == 3
    for name in ("Start", "Value"):
        column, wanted = trace.states[name], whole[name].to_pylist()
        assert column.to_list() == wanted == column.to_arrow().to_pylist()
        assert column[-1] == wanted[-1] and column[::-9999] == wanted[::-9999]


def test_unknown_columns(trace):
    with pytest.raises(KeyError, match="no column \"value\" in state, which has Container, Type, Start, "):
        trace.states["value"]
    for key in (0, None, slice(3), ["Value"]):
        with pytest.raises(TypeError, match="an index must be a column's name, not "):
            trace.states[key]


def test_columns_without_rows_or_values(example):
    empty = pajereplay.read(HEADER.encode()).states["Value"]
    assert len(empty) == 0 and empty.to_list() == [] and pyarrow.array(empty).to_pylist() == []
    extra = pajereplay.read(example("task-runtime"), user_defined=True)
    tables = [extra.states, extra.events, extra.links, extra.containers, extra.variables]
    for table in tables:
        whole = table.to_arrow()
        assert {name: table[name].to_list() for name in table} == {name: whole[name].to_pylist() for name in table}
    assert any(None in table[name].to_list() for table in tables for name in table)


def test_durations(example):
    wanted = {}
    for line in dump(example("mpi"))[1].decode().splitlines():
        fields = line.split(", ")
        if fields[0] != "Event":
            wanted.setdefault(fields[0], []).append(float(fields[5]))
    with_them = pajereplay.read(example("mpi"), durations=True)
    for nature, table in (("State", with_them.states), ("Variable", with_them.variables), ("Link", with_them.links)):
        assert table.column_names[2:5] == ["Start", "End", "Duration"]
        assert pyarrow.schema(table).names == table.column_names
        assert table["Duration"].to_list() == wanted[nature]
        assert table.to_polars()["Duration"].to_list() == wanted[nature]
    ends = with_them.containers.to_arrow().to_pylist()
    assert ends and all(row["Duration"] == row["End"] - row["Start"] for row in ends)
    assert "Duration" not in with_them.events and "Duration" not in with_them.type_hierarchy
    # Durations are off by default.
    assert "Duration" not in pajereplay.read(example("mpi")).states
    empty = pajereplay.read(HEADER.encode(), durations=True).states
    assert len(empty) == 0 and "Duration" in empty and empty.to_arrow().num_columns == 7


def test_tables_in_notebooks(trace):
    shown = Cells(trace.states._repr_html_())
    assert shown.caption == f"state: {trace.counts['states']} rows"
    assert shown.rows[0] == trace.states.column_names
    rows = trace.states.to_arrow().to_pylist()
    assert [row[5] for row in shown.rows[1:6]] == [row["Value"] for row in rows[:5]]
    assert shown.rows[6] == ["…"] * 6
    assert [row[5] for row in shown.rows[7:]] == [row["Value"] for row in rows[-5:]]
    assert float(shown.rows[1][2]) == rows[0]["Start"]
    # Short tables are complete.
    containers = Cells(trace.containers._repr_html_())
    name = trace.containers.column_names.index("Name")
    assert [row[name] for row in containers.rows[1:]] == trace.containers["Name"].to_list()
    wild = pajereplay.read(WILD.encode()).states
    assert "<b>" not in wild._repr_html_() and Cells(wild._repr_html_()).rows[1][5] == "<b>on & off</b>"
    assert Cells(pajereplay.read(HEADER.encode()).states._repr_html_()).rows == [wild.column_names]


def test_tables_in_terminals(trace):
    assert "not made yet" in repr(trace.states) and trace.states.nbytes == 0
    lines = str(trace.states).splitlines()
    assert lines[0] == f"state: {trace.counts['states']} rows"
    assert lines[1].split() == trace.states.column_names
    assert len(lines) == 2 + 5 + 1 + 5
    first = trace.states.to_arrow().to_pylist()[0]
    assert lines[2].split() == [f"{value:.12g}" if isinstance(value, float) else str(value) for value in first.values()]
    assert len({line.index(" MPI_STATE ") for line in lines[2:7]}) == 1
    long = pajereplay.read((HEADER + f'4 1 Power first "{"long " * 50}"\n').encode()).states
    assert max(map(len, str(long).splitlines())) < 120 and "…" in str(long)
    sly = pajereplay.read((HEADER + '4 1 Power first "\x1b[31mred"\n').encode()).states
    assert "\x1b" not in str(sly)


def test_previews_of_traces(trace, example):
    assert str(trace).splitlines()[0] == str(example("mpi"))
    facts = {line.split()[0]: line.split()[1:] for line in str(trace).splitlines()[1:]}
    assert facts == {**{name: [str(count)] for name, count in trace.counts.items()}, "end": [f"{trace.end:.12g}", "s"]}
    shown = Cells(trace._repr_html_())
    assert ["states", str(trace.counts["states"])] in shown.rows and ["end", f"{trace.end:.12g} s"] in shown.rows
    assert trace.states.nbytes == 0
    doubtful = pajereplay.read(example("files/root"), follow_files=False)
    assert any(row[0] == "warnings" for row in Cells(doubtful._repr_html_()).rows)


def test_patterns_without_a_match_cause_a_warning(example):
    with pytest.warns(UserWarning) as warned:
        found = pajereplay.read(example("mpi"), containers="nosuch", types=["MPI_*", "MPI_NO*"])
    assert [str(warning.message) for warning in warned] == [
        'types="MPI_NO*": the trace has no such type',
        'containers="nosuch": the trace has no such container',
    ]
    # The warning points to the caller.
    assert {warning.filename for warning in warned} == {__file__}
    assert len(found.states) == 0


def test_patterns_with_a_match_cause_no_warning(example, recwarn):
    pajereplay.read(example("mpi"), containers="rank-[0-3]", types="MPI_*", natures="State")
    assert [str(warning.message) for warning in recwarn] == []


def test_natures_ignore_case(example):
    assert len(pajereplay.read(example("mpi"), natures=["State", "LINK"]).links) > 0


def test_a_window_must_not_end_before_it_begins(example):
    with pytest.raises(ValueError, match="start must not be later than end: 5 and 2"):
        pajereplay.read(example("mpi"), start=5, end=2)


@pytest.mark.parametrize(
    ("keyword", "value", "shown"),
    [
        ("threads", "two", "'two'"),
        ("pin", 3, "3"),
        ("strict", 1, "1"),
        ("ignore_incomplete_links", "no", "'no'"),
        ("no_imbrication", None, "None"),
        ("user_defined", 0, "0"),
        ("lines", "", "''"),
        ("durations", 2.5, "2.5"),
        ("sort", [], "[]"),
        ("recover", "yes", "'yes'"),
        ("stop_at", "5", "'5'"),
        ("start", "now", "'now'"),
        ("end", [1], "[1]"),
        ("natures", 1, "1"),
        ("types", [1], "[1]"),
        ("containers", b"rank", "b'rank'"),
        ("memory_limit", 2.5, "2.5"),
        ("temp_dir", 7, "7"),
        ("variable_precision", None, "None"),
        ("quotes", True, "True"),
        ("follow_files", "x" * 100, "of type str"),
        ("progress", 5, "5"),
    ],
)
def test_types_of_arguments(example, keyword, value, shown):
    """The message names the argument, its valid types and the given value."""
    with pytest.raises(TypeError) as raised:
        pajereplay.read(example("mpi"), **{keyword: value})
    message = str(raised.value)
    assert message.startswith(f"{keyword} must be ") and message.endswith(f", not {shown}")


def test_types_of_arguments_of_validate(example):
    for keyword, value in [("strict", 2), ("follow_files", None), ("max_problems", "all"), ("max_line", [4])]:
        with pytest.raises(TypeError, match=f"^{keyword} must be "):
            pajereplay.validate(example("mpi"), **{keyword: value})


def test_numbers_out_of_range(example):
    for threads in (-1, 1 << 70):
        with pytest.raises(ValueError, match=f"^threads must be a whole number from 1, or None, not {threads}$"):
            pajereplay.read(example("mpi"), threads=threads)
    with pytest.raises(ValueError, match="^max_problems must be "):
        pajereplay.validate(example("mpi"), max_problems=-1)


def test_previews_need_no_other_packages(example):
    code = f"""
import sys
for name in ("pyarrow", "polars", "pandas", "numpy"):
    sys.modules[name] = None
import pajereplay
trace = pajereplay.read({str(example('mpi'))!r})
print(len(str(trace.states).splitlines()), trace.states["Type"][0], len(trace.links._repr_html_()) > 500)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "13 MPI_STATE True\n", done.stderr
