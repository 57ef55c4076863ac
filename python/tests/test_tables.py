"""Tables reach data frames without a copy, and outlive what they came from."""

from __future__ import annotations

import gc
import resource
import threading

import pyarrow
import pytest
import resched


def addresses(array):
    """The addresses of the buffers of an array of pyarrow, without those that are missing."""
    return [buffer.address for buffer in array.buffers() if buffer is not None]


def test_pyarrow_polars_and_numpy_share_the_memory(history):
    import polars

    table = history.attempts
    ours = table._raw._addresses("start")
    chunks = pyarrow.table(table).column("start").chunks
    assert [addresses(chunk)[-1:] for chunk in chunks] == [list(own[:1]) for own in ours]
    series = polars.DataFrame(table)["start"].rechunk() if len(ours) > 1 else polars.DataFrame(table)["start"]
    assert addresses(series.to_arrow())[-1] == ours[0][0]
    jobs = history.jobs
    times = pyarrow.table(jobs).column("submit").chunk(0).to_numpy(zero_copy_only=True)
    assert times.__array_interface__["data"][0] == jobs._raw._addresses("submit")[0][0]


def test_texts_are_views_that_polars_takes_as_they_are(history):
    import polars

    table = history.jobs
    ids = pyarrow.table(table).column("job_id")
    assert ids.type == pyarrow.string_view()
    assert polars.DataFrame(table)["job_id"].to_list() == ids.to_pylist()


def test_a_table_can_be_read_again_and_by_pandas(history):
    import pandas

    table = history.jobs
    assert pyarrow.table(table).equals(pyarrow.table(table))
    frame = table.to_pandas()
    assert list(frame.columns) == table.column_names
    assert isinstance(frame["submit"].dtype, pandas.ArrowDtype)


def test_a_frame_outlives_the_table_also_on_another_thread(tmp_path):
    trace = resched.generate("traces/sample-history.toml", out=tmp_path / "T")
    frame = pyarrow.table(trace.jobs)
    expected = len(trace.jobs)
    del trace
    gc.collect()
    found = []
    thread = threading.Thread(target=lambda: found.append(sum(1 for value in frame.column("submit").to_pylist())))
    thread.start()
    thread.join()
    assert found == [expected]


def test_handing_out_a_table_takes_no_memory(tmp_path):
    table = resched.generate("traces/delay-locality.toml", out=tmp_path / "T").attempts
    # The first use of a library takes memory of its own.
    size = pyarrow.table(table).nbytes
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kept = [pyarrow.table(table) for _ in range(20)]
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    assert len(kept) == 20
    assert grown < size, f"20 frames of {size} bytes took {grown} more"


def test_an_unknown_table_is_named(history):
    with pytest.raises(KeyError, match="expected one of .*jobs"):
        history.table("job")


def test_a_table_shows_its_first_rows_and_no_markup_of_names(tmp_path):
    trace = resched.generate("traces/sample-history.toml", out=tmp_path / "T")
    shown = trace.tables["jobs"]._repr_html_()
    assert "<th>job_id</th>" in shown
    assert "more rows" in shown
