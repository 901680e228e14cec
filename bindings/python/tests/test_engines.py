"""Engines read datasets of Parquet files, and open only the files that a query needs."""

import re
import shutil
import subprocess

import pajereplay
import pytest
from conftest import ROOT, program
from test_partitions import packed

dask = pytest.importorskip("dask")
pandas = pytest.importorskip("pandas")
import pajereplay.dask as paje  # noqa: E402

# Columns and conditions of queries. All of them can be answered with the files of rank-1.
QUERIES = [
    ("count(*)", "TRUE"),
    ("sum(\"End\" - Start)", "TRUE"),
    ("sum(\"End\" - Start)", "Value = 'computing'"),
    ("count(*)", "Start >= 0.5 AND Start < 0.7"),
    ("max(\"End\")", "Start < 0.2"),
    ("min(Start)", "Value = 'PMPI_Allreduce'"),
    ("count(DISTINCT Value)", "TRUE"),
    ("max(\"End\" - Start)", "Start > 1"),
    ("sum(Imbrication)", "TRUE"),
    ("avg(\"End\" - Start)", "Value LIKE 'PMPI_%'"),
]


@pytest.fixture(scope="module", params=["dask", "pj_dump"])
def dataset(request, tmp_path_factory, generated):
    """Returns a dataset of states, of which only the files of rank-1 are intact, and these states."""
    text = generated("mpi", 2_000_000, 3)
    folder = tmp_path_factory.mktemp("dataset") / "state"
    if request.param == "dask":
        with dask.config.set(scheduler="synchronous"):
            frame = paje.states(packed(text, folder.parent, "256K"), size="256K")
            frame.to_parquet(folder, partition_on=["Container"])
    else:
        folder = folder.parent / "set" / "state"
        command = [program("pj_dump"), text, "-O", folder.parent, "--partition-by", "container", "--no-progress"]
        subprocess.run([str(word) for word in command], check=True)
    files = list(folder.rglob("*.parquet"))
    assert len([file for file in files if file.parent.name == "Container=rank-1"]) * 3 < len(files)
    for file in files:
        if file.parent.name != "Container=rank-1":
            # An engine that opens it fails.
            file.write_bytes(b"no Parquet")
    states = pajereplay.read(text, durations=True).states.to_pandas()
    return folder, states[states["Container"] == "rank-1"]


def answers(states):
    """Returns the answers for states in memory."""
    duckdb = pytest.importorskip("duckdb")
    memory = duckdb.connect()
    memory.register("states", states.astype({"Container": str, "Type": str, "Value": str}))
    return [memory.execute(f"SELECT {what} FROM states WHERE {where}").fetchall()[0][0] for what, where in QUERIES]


def test_duckdb(dataset):
    duckdb = pytest.importorskip("duckdb")
    folder, states = dataset
    memory = duckdb.connect()
    # DuckDB takes the columns from the first file.
    first, own = min(folder.rglob("*.parquet")), next((folder / "Container=rank-1").glob("*.parquet"))
    first.write_bytes(own.read_bytes())
    source = f"read_parquet('{folder}/*/*.parquet', hive_partitioning = true)"
    found = [
        memory.execute(f"SELECT {what} FROM {source} WHERE Container = 'rank-1' AND {where}").fetchall()[0][0]
        for what, where in QUERIES
    ]
    assert found == pytest.approx(answers(states))


def test_polars(dataset):
    polars = pytest.importorskip("polars")
    folder, states = dataset
    schema = polars.scan_parquet(next((folder / "Container=rank-1").glob("*.parquet"))).collect_schema()
    lazy = polars.scan_parquet(
        folder, hive_partitioning=True, schema=schema, hive_schema={"Container": polars.String}
    ).filter(polars.col("Container") == "rank-1")
    found = lazy.select("Start", "End", "Imbrication", "Value", "Type").collect()
    assert answers(found.to_pandas().assign(Container="rank-1")) == pytest.approx(answers(states))


def test_spark(dataset):
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    from pyspark.sql import SparkSession

    folder, states = dataset
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        schema = spark.read.parquet(str(folder / "Container=rank-1")).schema
        if "Container" not in schema.names:
            schema = schema.add("Container", "string")
        frame = spark.read.schema(schema).parquet(str(folder))
        frame.createOrReplaceTempView("states")
        found = [
            spark.sql(f"SELECT {what.replace(chr(34), '')} FROM states WHERE Container = 'rank-1' AND {where}").first()[0]
            for what, where in QUERIES
        ]
    finally:
        spark.stop()
    assert found == pytest.approx(answers(states))


def test_the_tutorial_works(tmp_path, monkeypatch):
    """Runs the examples of the document about clusters, one after the other."""
    monkeypatch.chdir(tmp_path)
    packed(ROOT / "datasets" / "examples" / "mpi.trace", tmp_path, "4K").rename("run.pjp")
    document = (ROOT / "docs" / "how-to" / "cluster.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
    assert len(examples) == 3
    with dask.config.set(scheduler="synchronous"):
        for example in examples:
            # The cluster needs a script of its own; the rest works with any scheduler.
            code = re.sub(r".*(LocalCluster).*\n", "", example).replace('if __name__ == "__main__":\n', "if True:\n")
            exec(compile(code, "cluster.md", "exec"), {"__name__": "example"})
    assert (tmp_path / "states" / "Container=rank-1").is_dir()
    columns = pandas.read_parquet("states").columns
    assert {"Start", "End", "Duration", "Value"} <= set(columns)
