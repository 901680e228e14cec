"""Compares tables with the rows of pj_dump, through each package and with several threads."""

import duckdb
import pandas
import polars
import pyarrow
import pytest

import pajereplay
from conftest import COLUMNS, EXAMPLES, comparable, rows

SHAPES = [
    "mpi", "mpi-wild", "task-runtime", "many-containers", "one-container", "all-links", "links-reversed", "variables",
    "deep", "quoted", "unique-values",
]

# Examples that need options.
WITH = {
    "old-names": ({"strict": False}, ["-n"]),
    "open-links": ({"ignore_incomplete_links": True}, ["-z"]),
    "unsorted": ({"sort": True}, ["--sort"]),
}


def by_pyarrow(table):
    return list(zip(*(column.to_pylist() for column in pyarrow.table(table).columns)))


def by_rows(table):
    return pyarrow.table(table).to_pylist()


def by_polars(table):
    return polars.DataFrame(table).rows()


def by_duckdb(rows_of):
    return duckdb.sql("SELECT * FROM rows_of").fetchall()


def by_pandas(table):
    frame = pandas.DataFrame.from_arrow(table)
    return list(zip(*(frame[column].tolist() for column in frame)))


def by_to_pandas(table):
    return list(table.to_pandas().itertuples(index=False, name=None))


READERS = [by_pyarrow, by_polars, by_duckdb, by_to_pandas]
# Pandas has this function since version 3, which needs Python 3.11.
if hasattr(pandas.DataFrame, "from_arrow"):
    READERS.append(by_pandas)


def check(trace, wanted, readers=READERS):
    for name in COLUMNS:
        table = getattr(trace, name)
        for reader in readers:
            found = reader(table)
            assert comparable(name, found) == comparable(name, wanted[name]), (name, reader.__name__)
        assert len(table) == len(wanted[name])


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.trace")))
def test_examples(name, example):
    keywords, options = WITH.get(name, ({}, []))
    wanted = rows(example(name), *options)
    check(pajereplay.read(example(name), **keywords), wanted)


@pytest.mark.parametrize("shape", SHAPES)
def test_generated(shape, generated):
    for seed in (1, 2):
        path = generated(shape, 300_000, seed)
        check(pajereplay.read(path, threads=2), rows(path), [by_pyarrow, by_polars])


def test_options(example):
    path = example("mpi")
    for keywords, options in [
        ({"no_imbrication": True}, ["-i"]),
        ({"stop_at": 0.02, "ignore_incomplete_links": True}, ["-z", "-a", "0.02"]),
        ({"start": 0.009, "end": 0.012}, ["-s", "0.009", "-e", "0.012"]),
        ({"start": 5}, ["-s", "5"]),
        ({"natures": "state"}, ["--nature", "state"]),
        ({"natures": ["link", "container"]}, ["--nature", "link,container"]),
        ({"types": "*STATE"}, ["--of-type", "*STATE"]),
        ({"types": ["MPI_*", "P*"], "containers": ["rank-1", "rank-2"]},
         ["--of-type", "MPI_*", "--of-type", "P*", "--in", "rank-1", "--in", "rank-2"]),
        ({"variable_precision": "single"}, ["--variable-precision", "single"]),
    ]:
        check(pajereplay.read(path, **keywords), rows(path, *options), [by_pyarrow, by_polars])
    kept = pajereplay.read(example("quoted"), quotes="keep").containers.to_arrow()["Name"].to_pylist()
    bare = pajereplay.read(example("quoted")).containers.to_arrow()["Name"].to_pylist()
    assert kept != bare and [name.strip('"') for name in kept] == bare


def test_lines(example):
    trace = pajereplay.read(example("mpi"), lines=True)
    text = example("mpi").read_text().splitlines()
    table = trace.links.to_arrow()
    for number, key in zip(table["Line"].to_pylist(), table["Key"].to_pylist()):
        assert text[number - 1].split()[-1] == key


def test_user_defined_fields(example):
    """Columns of user-defined fields follow the others."""
    path = example("user-fields")
    plain, more = pajereplay.read(path), pajereplay.read(path, user_defined=True)
    for name in COLUMNS:
        columns = getattr(plain, name).column_names
        assert getattr(more, name).column_names[: len(columns)] == columns
        table = getattr(more, name).to_arrow()
        assert table.select(columns).to_pylist() == by_rows(getattr(plain, name))
        assert by_polars(getattr(more, name)) == by_duckdb(getattr(more, name))
    assert any(len(getattr(more, name).column_names) > len(getattr(plain, name).column_names) for name in COLUMNS)


def test_the_number_of_threads_does_not_matter(generated):
    # Several batches of states and links.
    path = generated("mpi", 30_000_000, 3)
    first = None
    for threads in (1, 2, 3, 4):
        trace = pajereplay.read(path, threads=threads)
        names = [*COLUMNS, "type_hierarchy", "entity_hierarchy"]
        tables = {name: getattr(trace, name).to_arrow() for name in names}
        first = first or tables
        assert len(pyarrow.table(trace.states).column(0).chunks) > 1
        for name, table in tables.items():
            assert table.equals(first[name]), (threads, name)


def test_hierarchies(example, tmp_path):
    path = example("mpi")
    types, entities = tmp_path / "types.csv", tmp_path / "entities.csv"
    rows(path, f"--type-hierarchy={types}", f"--entity-hierarchy={entities}")
    trace = pajereplay.read(path)
    for table, file in ((trace.type_hierarchy, types), (trace.entity_hierarchy, entities)):
        lines = file.read_text().splitlines()
        assert lines[0] == ", ".join(table.column_names)
        assert lines[1:] == [", ".join(row) for row in by_pyarrow(table)]


def test_memory_is_shared(generated):
    trace = pajereplay.read(generated("mpi", 1_000_000, 1))
    addresses = [
        [chunk.buffers()[1].address for chunk in pyarrow.table(trace.states)[column].chunks]
        for column in ("Start", "Start", "End")
    ]
    assert addresses[0] == addresses[1] != addresses[2]
    of_polars = polars.DataFrame(trace.variables)["Start"].to_arrow().buffers()[1].address
    assert of_polars == pyarrow.table(trace.variables)["Start"].chunk(0).buffers()[1].address


def test_rows_are_cached_until_released(example):
    trace = pajereplay.read(example("mpi"))
    assert trace.states.nbytes == 0 and "not made yet" in repr(trace.states)
    table = trace.states.to_arrow()
    assert trace.states.nbytes > 0 and "158 rows" in repr(trace.states)
    trace.states.release()
    assert trace.states.nbytes == 0
    before = table.to_pylist()
    trace.links.to_arrow()
    trace.release()
    del trace
    assert table.to_pylist() == before and len(before) == 158


def test_schemas_need_no_rows(example):
    trace = pajereplay.read(example("mpi"))
    schema = pyarrow.schema(trace.links)
    assert schema.names == trace.links.column_names
    assert trace.links.column_names[-1] == "Key" and trace.links.num_columns == 8
    assert schema.field("Start").type == pyarrow.float64()
    assert schema.field("Value").type == pyarrow.dictionary(pyarrow.int32(), pyarrow.utf8())
    assert schema.metadata[b"paje.trace"] == str(example("mpi")).encode()
    assert trace.links.nbytes == 0


def test_a_trace_without_rows():
    trace = pajereplay.read(b"%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef\n")
    assert trace.states.to_arrow().num_rows == 0 and trace.states.to_polars().shape == (0, 6)
    assert trace.states.to_pandas().shape == (0, 6)
    assert len(trace.containers) == 1 and trace.end == 0
