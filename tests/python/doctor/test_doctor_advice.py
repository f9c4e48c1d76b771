"""Advice about machines that do not exist: what is said, and that its figures are right."""

from __future__ import annotations

import errno

import hypothesis.strategies as st
import pytest
from hypothesis import given
from made_up_machines import GIB, dataset, disk, figures, machine

from graphmount.doctor import BatchFacts, Estimate, Machine, TableFacts
from graphmount.doctor.advice import advise
from graphmount.doctor.estimate import bytes_under_way, estimate, rows_per_second, suggested_memory
from graphmount.doctor.finding import about, as_option, rate
from graphmount.doctor.io_uring import explain_refusal


def advice(a_machine=None, a_disk=None, some_figures=None, a_dataset=None):
    """Findings by subject."""
    found = advise(a_machine or machine(), a_disk or disk(), some_figures or figures(), a_dataset)
    by_subject = {finding.subject: finding for finding in found}
    assert len(by_subject) == len(found)
    for finding in found:
        assert finding.text.endswith((".", ".)"))
        assert "None" not in finding.text
    return by_subject


def test_laptop_with_more_features_than_memory():
    found = advice(a_dataset=dataset())
    assert list(found) == ["size", "batches", "float16", "io_uring"]
    assert "Tables of 52.9 GiB, and 16.0 GiB of memory" in found["size"].text
    assert "memory='8GiB'" in found["size"].text
    assert found["size"].level == "act"
    text = found["batches"].text
    assert "about 100,000 rows. The disk gives about 200,000 rows/s when all is cold, 2 b" in text
    # 8 GiB are 15.1 % of the rows, which serve 70 % of a batch: 30,000 reads.
    assert "about 70% of rows come from the cache" in text
    assert "6.7 batches/s before the model: the disk decides (149 ms of reads for a batch" in text
    assert "76 ms of sampling and copying" in text
    assert "26.5 GiB instead of 52.9 GiB" in found["float16"].text
    assert "83% of rows instead of 70%" in found["float16"].text


def test_estimate():
    found = estimate(figures(), dataset(), 8 * GIB)
    cached = 8 * GIB / (111_000_000 * 512)
    assert found.served_share == pytest.approx(0.6 + (cached - 0.1) * 2)
    assert found.disk_seconds == pytest.approx((1 - found.served_share) * 100_000 / 200e3)
    assert found.cpu_seconds == pytest.approx(0.05 + 100_000 * 512 / 2e9)
    assert found.batches_per_second == pytest.approx(1 / found.disk_seconds)
    assert found.bound == "disk"
    # With all rows in memory, the processor decides.
    found = estimate(figures(), dataset(), 60 * GIB)
    assert (found.served_share, found.disk_seconds, found.bound) == (1, 0, "cpu")
    assert found.batches_per_second == pytest.approx(1 / found.cpu_seconds)
    assert estimate(figures(), dataset(batch=None), GIB) is None
    assert estimate(figures(), dataset(tables=()), GIB) is None


def test_estimate_of_several_tables():
    one = estimate(figures(), dataset(), 0)
    table = TableFacts(name="x", rows=111_000_000, row_bytes=512, dtype="float32")
    edges = TableFacts(name="e", rows=10**9, row_bytes=512, dtype="float32", of_edges=True)
    two = estimate(figures(), dataset(tables=(table, table, edges)), 0)
    assert two.disk_seconds == pytest.approx(2 * one.disk_seconds)
    assert two.rows_per_second == pytest.approx(one.rows_per_second / 2)


@given(
    st.integers(0, 100),
    st.integers(0, 100),
    st.floats(0.1, 1),
    st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted),
)
def test_more_memory_is_never_slower(one, other, scale, heights):
    served = tuple(zip((0.0, 0.1, 0.5, 1.0), (*heights, 1.0), strict=True))
    facts = dataset(served=served)
    small, large = sorted((one, other))
    less = estimate(figures(), facts, small * GIB, scale=scale)
    more = estimate(figures(), facts, large * GIB, scale=scale)
    assert more.disk_seconds <= less.disk_seconds + 1e-12
    assert more.batches_per_second >= less.batches_per_second * (1 - 1e-12)


def test_rows_per_second():
    assert rows_per_second(figures(), 512) == 200e3
    # Long rows: what decides is how many bytes come, with the rest of the last block.
    assert rows_per_second(figures(), 1 << 20) == pytest.approx(2e9 / ((1 << 20) + 512))
    assert rows_per_second(figures(uring=()), 512) == 100e3
    assert rows_per_second(figures(uring=(), pread=()), 512) == 30e3
    assert rows_per_second(figures(uring=(), pread=(), mapped=()), 512) == 0


def test_control_group_of_2_gib():
    limited = machine(memory=256, limit=2)
    found = advice(limited, a_dataset=dataset())
    text = found["memory limit"].text
    assert "may use 2.0 GiB of the machine's 256.0 GiB" in text
    assert "memory='1GiB'" in found["size"].text
    # The lists of papers100M are not in memory then.
    assert "Neighbor lists of 7.0 GiB" in found["neighbor lists"].text
    assert "memory='1GiB'" in advice(limited)["memory limit"].text


def test_batches_take_memory_too():
    limited = machine(memory=2)
    large = BatchFacts(
        fanouts=(15, 10, 5),
        num_seeds=256,
        num_nodes=300_000,
        sample_bytes=20_000_000,
        sample_seconds=0.05,
        smaller_because="memory",
    )
    facts = dataset(batch=large)
    under_way = bytes_under_way(large, 512)
    assert under_way == 5 * 300_000 * 512 + 21 * 20_000_000
    # Together with what is suggested, they take three quarters of the memory.
    memory = suggested_memory(limited, facts)
    assert memory == 3 * GIB // 2 - under_way
    assert memory < GIB
    found = advice(limited, a_dataset=facts)
    assert f"memory='{as_option(memory)}'" in found["size"].text
    assert "batches under way (about 1.1 GiB)" in found["size"].text
    assert "pass this batch_size=" in found["batches"].text


def test_everything_fits():
    found = advice(machine(memory=128), a_dataset=dataset())
    assert list(found) == ["everything fits", "io_uring"]
    assert "You do not need us" in found["everything fits"].text
    assert found["everything fits"].level == "good"
    # All rows fit, but not beside the lists.
    found = advice(machine(memory=120), a_dataset=dataset(list_bytes=80 * GIB))
    assert "keeps all rows" in found["size"].text
    assert "the processor decides" in found["batches"].text
    assert "neighbor lists" in found


def test_no_io_uring():
    refusal = explain_refusal(errno.EPERM, is_linux=True, setting="0", is_filtered=True)
    found = advice(some_figures=figures(uring=(), io_uring=refusal), a_dataset=dataset())
    text = found["io_uring"].text
    assert "not allowed (EPERM): a filter of system calls (seccomp)" in text
    assert "up to 32 threads instead, 100,000 reads/s, 10 times what one gets" in text
    assert "--security-opt seccomp=" in text
    assert found["io_uring"].level == "act"
    assert "about 100,000 rows/s" in found["batches"].text
    refusal = explain_refusal(errno.ENOSYS, is_linux=False, setting=None, is_filtered=False)
    found = advice(some_figures=figures(uring=(), io_uring=refusal))
    assert "only Linux has it" in found["io_uring"].text
    assert found["io_uring"].level == "note"


@pytest.mark.parametrize(
    ("code", "setting", "is_filtered", "reason", "remedy"),
    [
        (errno.EPERM, "2", False, "kernel.io_uring_disabled = 2", "sysctl"),
        (errno.EPERM, "1", True, "kernel.io_uring_disabled = 1", "io_uring_group"),
        (errno.EPERM, "0", True, "seccomp", "--security-opt"),
        (errno.ENOSYS, None, True, "seccomp", "--security-opt"),
        (errno.ENOSYS, None, False, "older than Linux 5.6", "kernel"),
        (errno.EACCES, "0", False, "SELinux", None),
        (errno.ENOMEM, "0", False, "locked", "ulimit -l"),
        (errno.EMFILE, "2", False, "open", "ulimit -n"),
        (errno.EIO, "0", True, "Input/output error", None),
    ],
)
def test_reasons_for_refusals(code, setting, is_filtered, reason, remedy):
    found = explain_refusal(code, is_linux=True, setting=setting, is_filtered=is_filtered)
    assert not found.is_allowed
    assert found.error == errno.errorcode[code]
    assert reason in found.reason
    assert remedy is None if found.remedy is None else remedy in found.remedy


def test_threads_that_are_faster():
    slow_ring = figures(uring=((1, 10e3), (128, 50e3)))
    assert "reader='pread'" in advice(some_figures=slow_ring)["io_uring"].text
    assert "reader='pread'" not in advice()["io_uring"].text


def test_spinning_disk():
    slow = figures(
        uring=((1, 90), (128, 250)),
        pread=((1, 95), (32, 210)),
        mapped=((1, 90), (8, 150)),
        sequential=150e6,
    )
    found = advice(some_figures=slow, a_dataset=dataset())
    text = found["slow disk"].text
    assert "A scattered read takes 10.5 ms, and the most there are is 250 a second" in text
    assert "a spinning disk does" in text
    assert "about 250 rows/s when all is cold, 0.0025 batches/s" in found["batches"].text
    found = advice(a_disk=disk(file_system="nfs4"), some_figures=slow)
    assert "network file system" in found["slow disk"].text
    # What a disk says of itself is not believed: virtual disks call themselves spinning.
    assert "slow disk" not in advice(a_disk=disk(is_rotational=True))


def test_tmpfs():
    found = advice(
        a_disk=disk(file_system="tmpfs"),
        some_figures=figures(why_not_direct="Invalid argument", cached_bytes=GIB),
    )
    assert "tmpfs is memory, not a disk" in found["no disk"].text
    assert "page cache" not in found
    assert "1.0 GiB of the 1.0 GiB that were read stayed in memory" in found["figures"].text


def test_a_file_that_was_just_written():
    found = advice(some_figures=figures(write_bytes_per_second=1e9))
    assert "had just been written" in found["figures"].text
    assert "figures" not in advice()


def test_no_direct_reads():
    found = advice(
        a_disk=disk(file_system="zfs"), some_figures=figures(why_not_direct="Invalid argument")
    )
    assert "zfs does not allow reads past the page cache" in found["page cache"].text
    assert "O_DIRECT: Invalid argument" in found["page cache"].text


def test_read_ahead():
    assert "read-ahead" not in advice()
    found = advice(a_disk=disk(read_ahead_bytes=8 << 20))
    text = found["read-ahead"].text
    assert "reads 8.0 MiB around each page" in text
    assert "about 240 scattered rows/s, against 30,000 without" in text  # 2e9 / 8 MiB
    assert "half of the memory (8.0 GiB)" in text


def test_order_and_dtype():
    found = advice(a_dataset=dataset(is_hot_first=False, dtype="float16"))
    assert "order='hot'" in found["order"].text
    assert "float16" not in found
    wide = advice(a_dataset=dataset(dtype="float64"))["float16"].text
    assert "13.2 GiB instead of 52.9 GiB" in wide


def test_small_batches_and_none():
    batch = BatchFacts(
        fanouts=(15, 10, 5),
        num_seeds=128,
        num_nodes=20_000,
        sample_bytes=1_000_000,
        sample_seconds=0.05,
        smaller_because="time",
    )
    assert (
        "(Larger batches could not be sampled in time.)"
        in advice(a_dataset=dataset(batch=batch))["batches"].text
    )
    assert "batches" not in advice(a_dataset=dataset(batch=None))


def test_unknown_machine():
    unknown = Machine()
    assert unknown.usable_bytes is None
    assert suggested_memory(unknown, None) is None
    found = advice(unknown, disk(read_ahead_bytes=None, file_system=None), a_dataset=dataset())
    assert list(found) == ["float16", "io_uring", "memory"]
    assert "does not tell how much memory" in found["memory"].text


def test_huge_pages():
    assert "huge pages" not in advice(machine(huge_pages="madvise"))
    assert "switched off" in advice(machine(huge_pages="never"))["huge pages"].text


@pytest.mark.parametrize(
    ("size", "shown"),
    [(8 * GIB, "8GiB"), (9.87 * GIB, "9.8GiB"), (25.5 * GIB, "25GiB"), (600 << 20, "600MiB")],
)
def test_sizes_as_options(size, shown):
    from graphmount._support import sizes

    assert as_option(int(size)) == shown
    assert sizes.parse_bytes(shown, "memory") <= size


def test_figures_in_words():
    assert [about(x) for x in (0.04, 7.77, 10, 99.6, 187_654)] == [
        "0.0", "7.8", "10", "100", "190,000",
    ]  # fmt: skip
    assert [rate(x) for x in (0.00251, 0.77, 5.149, 123)] == ["0.0025", "0.77", "5.1", "120"]


def test_no_estimate_is_endless():
    nothing = Estimate(
        memory_bytes=0, served_share=1, rows_per_second=1, disk_seconds=0, cpu_seconds=0
    )
    assert nothing.batches_per_second == pytest.approx(1e9)
