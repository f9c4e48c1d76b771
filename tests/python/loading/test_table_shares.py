"""How memory is divided among tables: by what a byte saves, next to dividing it by size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm
from graphmount._loading.rows.table_shares import TableUse, divide

MIB = 1 << 20


def reads_left(tables, shares):
    """What trials read if each table keeps its hottest rows in its share: the obvious way."""
    total = 0.0
    for table, share in zip(tables, shares, strict=True):
        for ranks in table.wanted:
            kept = share // max(table.row_bytes, 1)
            blocks = {int(rank) * table.row_bytes // 4096 for rank in ranks if rank >= kept}
            total += len(blocks) * table.read_cost
    return total


def by_size(memory, tables):
    sizes = [max(table.num_bytes, 1) for table in tables]
    return [memory * size // sum(sizes) for size in sizes]


def table_of(generator, num_rows, row_bytes, num_wanted, skew):
    wanted = [(num_rows * generator.random(num_wanted) ** skew).astype(np.int64) for _ in range(4)]
    return TableUse(num_bytes=num_rows * row_bytes, row_bytes=row_bytes, wanted=wanted)


def test_a_small_table_that_all_batches_want_is_kept_whole():
    generator = np.random.default_rng(1)
    hot = table_of(generator, 2_000, 512, 5_000, 1)  # 1 MB, all of it wanted by each batch
    cold = table_of(generator, 1_000_000, 1024, 500, 1)  # 1 GB, of which a batch wants 500 rows
    shares = divide(4 * MIB, [cold, hot])
    assert shares[1] >= hot.num_bytes
    assert sum(shares) <= 4 * MIB
    # By size, it would have had four KiB.
    assert reads_left([cold, hot], shares) < 0.7 * reads_left(
        [cold, hot], by_size(4 * MIB, [cold, hot])
    )


def test_tables_that_nobody_wants_get_nothing_where_others_can_use_it():
    generator = np.random.default_rng(2)
    wanted = table_of(generator, 100_000, 256, 20_000, 3)
    idle = TableUse(num_bytes=10**9, row_bytes=256, wanted=[np.empty(0, np.int64)] * 4)
    shares = divide(8 * MIB, [idle, wanted])
    assert shares == [0, 8 * MIB]


def test_tables_that_are_used_alike_grow_together():
    generator = np.random.default_rng(3)
    tables = [table_of(generator, 50_000, size, 20_000, 2) for size in (128, 128)]
    one, two = divide(2 * MIB, tables)
    assert abs(one - two) < 0.2 * MIB


@pytest.mark.parametrize("memory", [0, 1, 10 * MIB, 10**12])
def test_edges_of_the_rule(memory):
    generator = np.random.default_rng(4)
    tables = [table_of(generator, 10_000, 100, 100, 1), table_of(generator, 1, 0, 3, 1)]
    shares = divide(memory, tables)
    assert sum(shares) <= memory
    assert min(shares) >= 0
    assert divide(memory, []) == []
    if memory > 10**9:
        assert shares[0] >= tables[0].num_bytes


@given(data=st.data())
def test_no_more_is_read_than_by_size(data):
    """The division is a heuristic, but on its own trials it never does much worse than by size."""
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    tables = [
        table_of(
            generator,
            data.draw(st.integers(1, 20_000)),
            data.draw(st.sampled_from([4, 100, 512, 4096, 20_000])),
            data.draw(st.integers(0, 2_000)),
            data.draw(st.sampled_from([1, 2, 4])),
        )
        for _ in range(data.draw(st.integers(1, 5)))
    ]
    total = sum(table.num_bytes for table in tables)
    memory = int(total * data.draw(st.floats(0, 1.2)))
    shares = divide(memory, tables)
    assert sum(shares) <= memory
    blocks = 4 * len(tables)
    worst = max(table.read_cost for table in tables)
    assert (
        reads_left(tables, shares)
        <= 1.25 * reads_left(tables, by_size(memory, tables)) + blocks * worst * 4
    )


def test_a_loader_keeps_the_table_that_all_batches_want(tmp_path):
    """The rows of a small table are all hot, where by size it would be read for every batch."""
    generator = np.random.default_rng(5)
    edges = generator.integers(0, 20_000, (2, 200_000))
    gm.compile_dataset(
        tmp_path / "d",
        edges=edges,
        num_nodes=20_000,
        features={
            "wide": generator.random((20_000, 256), dtype=np.float32),
            "year": generator.integers(0, 99, 20_000),
        },
    )
    loader = gm.NeighborLoader(
        gm.Dataset(tmp_path / "d"), [5], batch_size=50, memory="1MiB", seed=1
    )
    for _ in loader:
        pass
    tables = loader.stats().tables
    assert tables["year"].hot_rows == tables["year"].rows > 0
    assert tables["wide"].read_rows > 0
