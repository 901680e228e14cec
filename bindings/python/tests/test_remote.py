"""Traces in an object store: a partition fetches only its bytes. The store is a server on this machine."""

import errno

import pajereplay
import pytest
from test_partitions import added, packed, report, rows, same

pytest.importorskip("s3fs")
server_of = pytest.importorskip("moto.server")


@pytest.fixture(scope="module")
def store(tmp_path_factory, generated):
    """Returns a file system of S3, the text of a trace, and the size of the packed trace in it."""
    import s3fs

    server = server_of.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    text = generated("mpi", 8_000_000, 3)
    path = packed(text, tmp_path_factory.mktemp("store"), "256K")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("AWS_ENDPOINT_URL", address), ("AWS_ACCESS_KEY_ID", "x"), ("AWS_SECRET_ACCESS_KEY", "x")):
            patch.setenv(name, value)
        system = s3fs.S3FileSystem()
        system.mkdir("bucket")
        system.put_file(str(path), "bucket/run.pjp")
        system.put_file(str(text), "bucket/run.trace")
        yield system, text, path
    server.stop()


def test_partitions_fetch_their_bytes(store):
    _, text, path = store
    size = path.stat().st_size
    parts = pajereplay.partitions("s3://bucket/run.pjp", size="1M")
    assert len(parts) > 5
    same(added(parts), rows(pajereplay.read(text)))
    for part in parts:
        fetched = pajereplay.read(part).metadata["bytes_read"]
        assert part.bytes < fetched < part.bytes + 0.15 * size


def test_windows_fetch_their_bytes(store):
    _, text, path = store
    expected = pajereplay.read(text)
    start, end = 0.5 * expected.end, 0.51 * expected.end
    window = pajereplay.read("s3://bucket/run.pjp", start=start, end=end)
    assert window.metadata["bytes_read"] < 0.25 * path.stat().st_size
    assert window.metadata["source"] == "s3://bucket/run.pjp"
    expected = pajereplay.read(text, start=start, end=end)
    assert rows(window) == rows(expected)
    assert report(window.profile()) == report(expected.profile())
    with pytest.raises(ValueError, match="needs the whole trace"):
        window.waits()


def test_whole_traces_are_streams(store):
    _, text, _ = store
    for name in ("run.pjp", "run.trace"):
        assert rows(pajereplay.read(f"s3://bucket/{name}")) == rows(pajereplay.read(text)), name
    assert len(pajereplay.partitions("s3://bucket/run.trace")) == 1


def test_faults_name_the_object(store):
    system, _, path = store
    good = path.read_bytes()
    place = len(good) // 2
    system.pipe_file("bucket/damaged.pjp", good)
    parts = pajereplay.partitions("s3://bucket/damaged.pjp", size="1M")
    system.pipe_file("bucket/damaged.pjp", good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
    failed = []
    for part in parts:
        try:
            pajereplay.read(part)
        except OSError as error:
            failed.append(error)
    assert failed and all(error.filename == "s3://bucket/damaged.pjp" for error in failed)
    assert all(error.errno == errno.EIO for error in failed)
    system.pipe_file("bucket/damaged.pjp", good[: len(good) // 2])
    with pytest.raises(OSError, match="another size"):
        pajereplay.read(parts[1])
    system.rm_file("bucket/damaged.pjp")
    with pytest.raises(FileNotFoundError):
        pajereplay.read(parts[1])


def test_data_frames(store):
    dask = pytest.importorskip("dask")
    import pajereplay.dask as paje

    with dask.config.set(scheduler="synchronous"):
        frame = paje.states("s3://bucket/run.pjp", size="1M")
        assert frame.npartitions > 5 and len(frame) == pajereplay.read(store[1]).counts["states"]
        found = paje.profile("s3://bucket/run.pjp", size="1M")
        assert found.to_dict("list") == pajereplay.read(store[1]).profile().to_pandas().to_dict("list")
