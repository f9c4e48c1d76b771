"""compile_features(edges=): row i goes to the edges that row i of their source became."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import neighbor_lists

import graphmount as gm


@given(data=st.data())
def test_against_a_twin(data, tmp_path):
    num_nodes = data.draw(st.integers(1, 8))
    node = st.integers(0, num_nodes - 1)
    pairs = data.draw(st.lists(st.tuples(node, node), max_size=40))
    src, dst = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    neighbors = data.draw(st.sampled_from(["both", "in", "out"]))
    times = data.draw(st.none() | st.just([row * 7919 % 5 for row in range(len(pairs))]))
    options = {
        "directed": data.draw(st.booleans()),
        "dedup": data.draw(st.sampled_from([False, "first"])),
        "self_loops": data.draw(st.sampled_from(["keep", "drop"])),
    }
    gm.compile_graph(
        (src, dst),
        tmp_path / "g.gl",
        num_nodes=num_nodes,
        neighbors=neighbors,
        timestamps=times,
        source_rows=True,
        **options,
    )
    columns = data.draw(st.sampled_from([None, 1, 3]))
    shape = (len(pairs),) if columns is None else (len(pairs), columns)
    rows = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    memory = data.draw(st.sampled_from(["64MiB", "2GiB"]))
    done = gm.compile_features(rows, tmp_path / "w.gd", edges=tmp_path / "g.gl", memory=memory)

    # Edge ids count the entries of the first direction, list by list.
    direction = "out" if neighbors == "out" else "in"
    lists = neighbor_lists(src, dst, direction=direction, times=times, **options)
    kept = [row for owner in range(num_nodes) for _, _, _, row in lists[owner]]
    graph, store = gm.Graph(tmp_path / "g.gl"), gm.FeatureStore(tmp_path / "w.gd")
    assert done.shape == (len(kept), *shape[1:])
    assert store.numpy().tolist() == rows[kept].tolist()
    assert gm.verify(store.path).ok
    # And so an edge has its row, whichever direction it is reached by.
    if neighbors == "both" and options["directed"] and not options["dedup"]:
        outward = graph.neighbor_lists("out")
        for owner in range(num_nodes):
            part = slice(outward.indptr[owner], outward.indptr[owner + 1])
            for other, edge in zip(outward.indices[part], outward.edge_ids[part], strict=True):
                row = kept[edge]
                assert (src[row], dst[row]) == (owner, other)


@pytest.mark.parametrize("memory", ["64MiB", "2GiB"])
def test_many_edges_from_text(memory, tmp_path):
    """More than fit into the smallest budget at once, from a source that is read as it comes."""
    generator = np.random.default_rng(4)
    src, dst = generator.integers(0, 3_000, (2, 300_000))
    gm.compile_graph((src, dst), tmp_path / "g.gl", source_rows=True, neighbors="in")
    with (tmp_path / "w.csv").open("w") as file:
        file.writelines(f"{row},{row}.5\n" for row in range(300_000))
    calls = []
    gm.compile_features(
        tmp_path / "w.csv",
        tmp_path / "w.gd",
        edges=gm.Graph(tmp_path / "g.gl"),
        dtype="float64",
        memory=memory,
        progress=lambda done, total: calls.append(done / total),
    )
    order = np.lexsort((np.arange(300_000), src, dst))
    found = gm.FeatureStore(tmp_path / "w.gd").numpy()
    assert (found[:, 0] == order).all()
    assert (found[:, 1] == order + 0.5).all()
    assert calls == sorted(calls)
    assert calls[-1] == 1
    assert sorted(os.listdir(tmp_path)) == ["g.gl", "w.csv", "w.gd"]


def test_too_few_rows(tmp_path):
    gm.compile_graph(([0, 1, 2], [1, 2, 0]), tmp_path / "g.gl", source_rows=True)
    with pytest.raises(gm.errors.SourceError, match=r"1 of 3 .* have no row: edge 0; pass missing"):
        gm.compile_features([1.0, 2.0], tmp_path / "w.gd", edges=tmp_path / "g.gl")
    done = gm.compile_features([1.0, 2.0], tmp_path / "w.gd", edges=tmp_path / "g.gl", missing=-1)
    assert done.missing == 1
    assert gm.FeatureStore(tmp_path / "w.gd").numpy().tolist() == [-1, 1, 2]


def test_rows_of_dropped_edges(tmp_path):
    """The graph knows nothing of edges that were dropped last, so their rows are let be."""
    gm.compile_graph(([0, 1, 1], [1, 0, 1]), tmp_path / "g.gl", source_rows=True, self_loops="drop")
    gm.compile_features([1.0, 2.0, 3.0], tmp_path / "w.gd", edges=tmp_path / "g.gl")
    assert gm.FeatureStore(tmp_path / "w.gd").numpy().tolist() == [2, 1]


def test_quantized_and_renamed_nodes(tmp_path):
    gm.compile_graph(
        ([0, 1], [1, 0]), tmp_path / "g.gl", source_rows=True, node_ids=["b", "a"], directed=False
    )
    gm.compile_features(
        [[127.0], [-3.0]], tmp_path / "w.gd", edges=tmp_path / "g.gl", quantize="column"
    )
    assert gm.FeatureStore(tmp_path / "w.gd").numpy().ravel().tolist() == [127, -3, 127, -3]


def test_refusals(tmp_path):
    gm.compile_graph(([0, 1], [1, 0]), tmp_path / "g.gl")
    gm.compile_graph(([0, 1], [1, 0]), tmp_path / "rows.gl", source_rows=True)
    out = tmp_path / "w.gd"
    with pytest.raises(gm.errors.MissingDataError, match="compile it with source_rows=True"):
        gm.compile_features([1, 2], out, edges=tmp_path / "g.gl")
    for options in ({"key": [0, 1]}, {"order": tmp_path / "g.gl"}, {"num_nodes": 2}):
        with pytest.raises(ValueError, match="edges= does not go with key=, order= or num_nodes="):
            gm.compile_features([1, 2], out, edges=tmp_path / "rows.gl", **options)
    assert sorted(os.listdir(tmp_path)) == ["g.gl", "rows.gl"]
