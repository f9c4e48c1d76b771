"""What `stats()` says: one scope at a time, table by table, and as numbers for loggers."""

from __future__ import annotations

import time

import pytest

import graphmount as gm


@pytest.fixture
def loader(dataset):
    return gm.NeighborLoader(
        dataset, [5, 5], input_nodes="train", batch_size=200, memory="60KiB", window=4, seed=1
    )


def test_tables_of_the_epoch_and_of_all(loader):
    rows = []
    for epoch in range(3):
        rows.append(sum(batch.num_nodes for batch in loader))
        stats = loader.stats()
        assert stats.epoch == epoch
        assert stats.batches == stats.epoch_batches == len(loader)
        for name in ("x", "year"):
            epoch_table, table = stats.epoch_tables[name], stats.tables[name]
            assert epoch_table.rows == rows[-1]
            assert table.rows == sum(rows)
            parts = epoch_table.hot_rows + epoch_table.window_rows + epoch_table.read_rows
            assert parts == rows[-1]
            assert epoch_table.cache_bytes == table.cache_bytes > 0


def test_print_has_a_part_for_each_scope(loader):
    assert "no batches yet" in str(loader.stats())
    for _ in range(2):
        list(loader)
    lines = str(loader.stats()).splitlines()
    heads = [line for line in lines if not line.startswith("  ")]
    assert [head.partition(":")[0] for head in heads] == [
        "epoch 1",
        "since the loader was made",
        "memory now",
    ]
    epoch, whole, now = (lines.index(head) for head in heads)
    assert [line.split(":")[0].strip() for line in lines[epoch + 2 : whole]] == ["x", "year"]
    assert [line.split(":")[0].strip() for line in lines[whole + 1 : now]] == ["x", "year"]
    assert "60.0 KiB, which is given as memory=" in lines[now + 1]


def test_the_bottleneck_is_of_this_epoch():
    busy = gm.TableStats(rows=10, wait_seconds=100.0)
    quick = gm.TableStats(rows=1, copy_seconds=0.1)
    stats = gm.LoaderStats(
        batches=1, waited_for_batches=1.0, epoch_tables={"x": quick}, tables={"x": busy}
    )
    assert stats.bottleneck == "memory"  # the disk was waited for in an earlier epoch


def test_the_time_of_an_epoch_ends_with_it(loader):
    list(loader)
    before = loader.stats().seconds
    time.sleep(0.05)
    assert loader.stats().seconds == before
    batches = iter(loader)
    next(batches)
    before = loader.stats().seconds
    time.sleep(0.01)
    assert loader.stats().seconds > before


def test_figures_are_numbers_of_the_epoch(loader):
    for _ in range(2):
        list(loader)
    stats = loader.stats()
    figures = stats.figures()
    assert all(type(value) is float for value in figures.values())
    assert figures["batches"] == len(loader)
    assert figures["x/hit_rate"] == stats.epoch_tables["x"].hit_rate
    assert figures["budget_bytes"] == 60 << 10
    assert 0 <= figures["wait_share"] <= 1


def test_figures_of_a_loader_that_did_nothing(loader):
    figures = loader.stats().figures()
    assert figures["batches"] == figures["wait_share"] == figures["cache_bytes"] == 0
