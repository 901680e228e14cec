"""Compares files of pj_dump --tables, read by pyarrow, polars and DuckDB, with its rows.

PAJE_CORPUS may name a folder of additional traces (*.trace, compressed or not).
"""

import csv
import io
import os
import subprocess
from pathlib import Path

import duckdb
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

from conftest import COLUMNS, EXAMPLES, dump, program, text

CORPUS = sorted(Path(os.environ["PAJE_CORPUS"]).glob("*.trace*")) if "PAJE_CORPUS" in os.environ else []
OPTIONS = ["-n", "-z", "--sort"]


def printed(out):
    """Returns the rows of pj_dump as tables."""
    natures = {nature: name for name, (nature, _) in COLUMNS.items()}
    rows = {name: [] for name in COLUMNS}
    for row in csv.reader(io.StringIO(out.decode("latin-1"), newline="\n"), skipinitialspace=True):
        rows[natures[row[0]]].append(row[1:])
    tables = {}
    for name, (_, columns) in COLUMNS.items():
        cells = list(zip(*rows[name])) or [()] * len(columns)
        arrays = {}
        for column, values in zip(columns, cells):
            number = column in ("Start", "End", "Time", "Imbrication") or (name, column) == ("variables", "Value")
            if number:
                arrays[column] = pyarrow.array(map(float, values), pyarrow.float64())
            elif column != "Duration":
                arrays[column] = pyarrow.array(map(text, values), pyarrow.string())
        tables[name] = pyarrow.table(arrays)
    return tables


def plain(table):
    """Converts names to strings and integers to floats. Columns are in the order of rows."""
    columns = {}
    for name in table.column_names:
        column = table[name]
        kind = pyarrow.float64() if pyarrow.types.is_integer(column.type) or column.type == pyarrow.float64() else pyarrow.string()
        columns[name] = column.cast(kind).combine_chunks()
    return pyarrow.table(columns)


def by_pyarrow(path):
    return pyarrow.parquet.read_table(path)


def by_polars(path):
    return polars.read_parquet(path).with_columns(polars.selectors.categorical().cast(polars.String)).to_arrow()


def by_duckdb(path):
    return duckdb.sql(f"SELECT * FROM '{path}'").to_arrow_table()


def by_feather(path):
    return pyarrow.feather.read_table(path.with_suffix(".arrow"), memory_map=True)


@pytest.mark.parametrize("trace", [*sorted(EXAMPLES.glob("*.trace")), *CORPUS], ids=lambda path: path.name)
def test_files_equal_printed_rows(trace, tmp_path):
    status, out, messages = dump(trace, *OPTIONS)
    options = [*OPTIONS, "--no-progress"]
    for more in ["parquet", "arrow"]:
        done = subprocess.run([program("pj_dump"), *options, "-O", tmp_path / "t", "--format", more, trace], check=False)
        assert done.returncode == status
    if status != 0:
        assert messages and not (tmp_path / "t").exists()
        return
    for name, wanted in printed(out).items():
        path = tmp_path / "t" / f"{name.removesuffix('s')}.parquet"
        for reader in (by_pyarrow, by_polars, by_duckdb, by_feather):
            found = plain(reader(path))
            assert found.column_names == wanted.column_names
            for column in wanted.column_names:
                if name == "containers" and column in ("Start", "End"):
                    # pj_dump prints six digits of container times.
                    rounded = [float(f"{value:g}") for value in found[column].to_pylist()]
                    assert rounded == wanted[column].to_pylist(), reader.__name__
                else:
                    assert found[column].equals(wanted[column]), (name, column, reader.__name__)
