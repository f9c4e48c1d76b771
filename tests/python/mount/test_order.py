"""Files go together only if they number the same nodes in the same order."""

from __future__ import annotations

import pytest

import graphmount as gm


@pytest.fixture
def graphs(tmp_path):
    edges = ([0, 1], [1, 2])
    gm.compile_graph(edges, tmp_path / "plain.gl")
    gm.compile_graph(edges, tmp_path / "abc.gl", node_ids=["a", "b", "c"])
    gm.compile_graph(edges, tmp_path / "acb.gl", node_ids=["a", "c", "b"])
    return {name: gm.Graph(tmp_path / f"{name}.gl") for name in ("plain", "abc", "acb")}


def table(path, **options):
    gm.compile_features([[1.0], [2.0], [3.0]], path, **options)
    return gm.FeatureStore(path)


def test_same_order(graphs, tmp_path):
    gm.check_order()
    gm.check_order(graphs["plain"], table(tmp_path / "x.gd"))
    gm.check_order(
        graphs["abc"],
        table(tmp_path / "y.gd", order=graphs["abc"]),
        table(tmp_path / "z.gd", order=graphs["abc"].path),
    )


def test_another_order(graphs, tmp_path):
    x = table(tmp_path / "x.gd", order=graphs["abc"])
    for other in (graphs["acb"], graphs["plain"], table(tmp_path / "plain.gd")):
        with pytest.raises(gm.errors.OrderError, match="different orders"):
            gm.check_order(x, other)
    # Order matters even where the bytes would not tell: "ab", "c" is not "a", "bc".
    gm.compile_graph(([0], [1]), tmp_path / "1.gl", node_ids=["ab", "c"])
    gm.compile_graph(([0], [1]), tmp_path / "2.gl", node_ids=["a", "bc"])
    assert gm.Graph(tmp_path / "1.gl").order != gm.Graph(tmp_path / "2.gl").order


def test_another_number_of_nodes(graphs, tmp_path):
    gm.compile_features([[1.0]], tmp_path / "short.gd")
    with pytest.raises(gm.errors.OrderError, match=r"has 3 nodes, but .*short.gd has 1 rows"):
        gm.check_order(graphs["plain"], gm.FeatureStore(tmp_path / "short.gd"))
    with pytest.raises(gm.errors.OrderError, match=r"2 rows, but .* has 3 nodes"):
        gm.compile_features([1, 2], tmp_path / "y.gd", order=graphs["plain"])
    assert not (tmp_path / "y.gd").exists()
