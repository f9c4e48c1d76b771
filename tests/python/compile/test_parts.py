"""Graphs whose lists are made in parts, as many processes do: the bytes of a compile in one go."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmount as gm
from graphmount import _core
from graphmount.errors import SourceError

PARTS = {"rows": False, "weights": False, "timestamps": False, "dedup": "keep"}


def cut(src, dst, ends, **options):
    given = {
        "weights": None,
        "timestamps": None,
        "direction": "in",
        "undirected": False,
        "drop_self_loops": False,
        "rectangular": False,
        "num_sources": 100,
        "num_destinations": 100,
        "first_row": 0,
        "keep_rows": False,
    }
    ids = (np.asarray(column, np.int64) for column in (src, dst))
    return _core.cut_edges(*ids, **(given | options), ends=np.asarray(ends, np.uint64))


def make_lists(cuts, ends, num_nodes, **options):
    """The lists of all ranges, with their first nodes."""
    first, made = 0, []
    for number, end in enumerate(ends):
        part = _core.ListPart(first, end, num_neighbors=num_nodes, wide_indices=False, **options)
        for pieces in cuts:
            part.add(pieces[number])
        made.append((first, part.build()))
        first = end
    return made


def joined(path, num_nodes, num_edges, num_rows, **options):
    given = {
        "rectangular": False,
        "in_lists": True,
        "out_lists": False,
        "undirected": False,
        "weights": False,
        "timestamps": False,
        "wide_indices": False,
        "keep_source_rows": False,
    }
    counts = {"num_nodes": num_nodes, "num_sources": num_nodes, "num_edges": num_edges}
    counts["num_rows"] = num_rows
    return _core.JoinedGraph(os.fsencode(path), **counts, **(given | options), memory=1 << 26)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=80),
    st.sets(st.integers(1, 30), max_size=4),
    st.sets(st.integers(1, 30), max_size=4),
    st.tuples(st.booleans(), st.booleans(), st.integers(1, 40)),
)
def test_parts_make_the_bytes_of_the_whole(
    tmp_path_factory, edges, first_cuts, second_cuts, options
):
    is_weighted, drops_loops, batch = options
    folder = tmp_path_factory.mktemp("parts")
    src, dst = np.array(edges, np.int64).T.copy()
    weights = np.arange(len(src), dtype=np.float32) if is_weighted else None
    loops = {"self_loops": "drop"} if drops_loops else {}
    gm.compile_graph(
        (src, dst), folder / "whole.gl", num_nodes=31, weights=weights, source_rows=True, **loops
    )
    kept = {"rows": True, "weights": is_weighted, "timestamps": False, "dedup": "keep"}
    first_ends, second_ends = sorted({*first_cuts, 31}), sorted({*second_cuts, 31})
    cuts = [
        cut(
            src[row : row + batch],
            dst[row : row + batch],
            first_ends,
            weights=None if weights is None else weights[row : row + batch],
            first_row=row,
            keep_rows=True,
            drop_self_loops=drops_loops,
        )
        for row in range(0, len(src), batch)
    ]
    first = make_lists(cuts, first_ends, 31, **kept)
    sizes = np.cumsum([0, *(len(lists[1]) for _, lists in first)]).tolist()
    turned = [
        _core.cut_lists(node, row, lists, ends=np.asarray(second_ends, np.uint64))
        for (node, lists), row in zip(first, sizes, strict=False)
    ]
    second = make_lists(turned, second_ends, 31, **kept)
    graph = joined(
        folder / "parts.gl",
        31,
        sizes[-1],
        len(src),
        out_lists=True,
        weights=is_weighted,
        keep_source_rows=True,
    )
    for node, lists in first:
        graph.append(node, lists)
    graph.begin_second()
    for node, lists in second:
        graph.append(node, lists)
    graph.finish()
    assert (folder / "parts.gl").read_bytes() == (folder / "whole.gl").read_bytes()


def test_cuts_that_cannot_be():
    with pytest.raises(ValueError, match="not in order"):
        cut([0], [1], [5, 3])
    with pytest.raises(ValueError, match="not in order"):
        cut([0], [1], [])
    with pytest.raises(ValueError, match="node 9 is in no range of nodes"):
        cut([0], [9], [5])
    with pytest.raises(ValueError, match="dst has 2 entries for 1 edges"):
        cut([0], [1, 2], [5])
    with pytest.raises(SourceError, match="edge 7: node id -1 is negative"):
        cut([-1], [1], [5], first_row=7)
    wrong = (np.array([0, 2]), np.array([1], np.int32), None, None, None)
    with pytest.raises(ValueError, match="offsets of neighbor lists do not fit"):
        _core.cut_lists(0, 0, wrong, ends=np.array([5], np.uint64))
    far = (np.array([0, 1]), np.array([7], np.int32), None, None, None)
    with pytest.raises(ValueError, match="a neighbor is not one of 5 nodes"):
        _core.cut_lists(0, 0, far, ends=np.array([5], np.uint64))
    short = (np.array([0, 2]), np.array([1, 2], np.int32), np.array([1]), None, None)
    with pytest.raises(ValueError, match="there are 1 values for 2 neighbors"):
        _core.cut_lists(0, 0, short, ends=np.array([5], np.uint64))


def test_entries_of_other_nodes_are_refused():
    [entries] = cut([3], [4], [5])
    for first, end, num_neighbors in ((0, 4, 100), (5, 9, 100), (0, 5, 3)):
        part = _core.ListPart(first, end, num_neighbors=num_neighbors, wide_indices=False, **PARTS)
        with pytest.raises(ValueError, match=f"not of the nodes {first} to {end}"):
            part.add(entries)
    part = _core.ListPart(0, 5, num_neighbors=5, wide_indices=False, **PARTS)
    with pytest.raises(ValueError, match="not of one length"):
        part.add((entries[0], np.array([1, 2, 3]), None, None))
    part.build()
    with pytest.raises(ValueError, match="have been made already"):
        part.build()


def test_counts_of_neighbors_end_at_their_limit():
    [entries] = cut([3, 3, 0], [4, 1, 2], [5])
    counts = np.array([0, 0, 0, 2**32 - 2], np.uint32)
    _core.count_neighbors(entries[0], counts)
    assert counts.tolist() == [1, 0, 0, 2**32 - 1]
    with pytest.raises(ValueError, match="3 counts, and none for node 3"):
        _core.count_neighbors(entries[0], counts[:3].copy())
    assert _core.hot_ids_of_counts(counts, wide=False).tolist() == [1, 2, 3, 0]
    assert _core.hot_ids_of_counts(counts, wide=True).tolist() == [1, 2, 3, 0]


def test_lists_that_do_not_come_in_order_are_refused_and_leave_no_file(tmp_path):
    graph = joined(tmp_path / "g.gl", 4, 1, 1)
    lists = (np.array([0, 1, 1]), np.array([3], np.int32), None, None, None)
    with pytest.raises(ValueError, match="not the next ones, which begin with node 0"):
        graph.append(2, lists)
    with pytest.raises(ValueError, match="have 1 values"):
        graph.append(0, (*lists[:2], np.array([0]), None, None))
    graph.append(0, lists)
    with pytest.raises(ValueError, match="lists of 2 of 4 nodes"):
        graph.finish()
    with pytest.raises(ValueError, match="lists of 2 of 4 nodes"):
        graph.begin_second()
    graph.close()
    with pytest.raises(ValueError, match="has been written already"):
        graph.append(2, lists)
    assert list(tmp_path.iterdir()) == []
