"""verify names each broken rule, in the right section, at the right byte."""

from __future__ import annotations

import struct

import numpy as np
import pytest
import reference
from forge import Forgery, damage

import graphmount as gm


def problems_of(path):
    result = gm.verify(path)
    assert result.num_problems >= len(result.problems)
    assert not result.ok
    return result.problems


def test_checksum_of_each_section(graph_path):
    original = graph_path.read_bytes()
    sections = gm.Graph(graph_path).sections
    assert len(sections) == 16
    for section in sections:
        data = bytearray(original)
        at = section.offset + section.num_bytes // 2
        data[at] ^= 0x10
        graph_path.write_bytes(data)
        found = [p for p in problems_of(graph_path) if p.section == section.name]
        assert any("checksum" in problem.message for problem in found), section


def test_place_of_a_damaged_chunk(tmp_path):
    gm.compile_features(np.zeros(3 << 20, np.uint8), tmp_path / "x.gd")
    with (tmp_path / "x.gd").open("r+b") as file:
        file.seek(65536 + (2 << 20) + 77)
        file.write(b"!")
    (problem,) = problems_of(tmp_path / "x.gd")
    assert problem.section == "matrix"
    assert problem.offset == 65536 + (2 << 20)
    assert "chunk 2" in problem.message


@pytest.mark.parametrize("at", [4096, 65535, 65536 + 9600, -1])
def test_padding(at, features_path):
    data = bytearray(features_path.read_bytes())
    data[at] = 1
    features_path.write_bytes(data)
    (problem,) = problems_of(features_path)
    assert problem.section == "padding"
    assert problem.offset == at % len(data)


def test_bools(tmp_path):
    gm.compile_features(np.array([True, False]), tmp_path / "x.gd")
    damage(tmp_path / "x.gd", "matrix", 0, 1, 2)
    (problem,) = problems_of(tmp_path / "x.gd")
    assert problem.message == "a bool is neither 0 nor 1 but 2"
    assert problem.offset == 65537


def messages(path, section):
    return " / ".join(p.message for p in problems_of(path) if p.section == section)


@pytest.fixture
def plain_path(tmp_path):
    """0 -> 1, 2 -> 1, 3 -> 1, 1 -> 0, with weights."""
    path = tmp_path / "plain.gl"
    gm.compile_graph(([0, 2, 3, 1], [1, 1, 1, 0]), path, weights=[1, 2, 3, 4])
    return path


def test_unsorted_list(plain_path):
    forgery = Forgery(plain_path)
    number = forgery.find("indices", 1)  # of node 1: 0 2 3 at positions 1 to 3
    forgery.set_item(number, 1, 3)
    forgery.set_item(number, 3, 0)
    forgery.repair_chunks()
    assert "list of node 1 is not sorted at position 2" in messages(forgery.save(), "indices (in)")


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_wrong_weight(weight, plain_path):
    damage(plain_path, "weights", 1, 2, weight)
    assert "at position 2: weight" in messages(plain_path, "weights (in)")


@pytest.mark.parametrize("entry", [7, struct.unpack("<q", struct.pack("<II", 1, 5))[0], 0])
def test_wrong_alias_table(entry, plain_path):
    damage(plain_path, "alias", 1, 1, entry)
    assert "the table of node 1 is wrong" in messages(plain_path, "alias table (in)")


def test_alias_table_of_other_weights(plain_path):
    damage(plain_path, "weights", 1, 1, 30.0)
    assert "the table of node 1 is wrong" in messages(plain_path, "alias table (in)")


def test_edge_that_only_one_direction_has(plain_path):
    damage(plain_path, "indices", 1, 3, 2)  # 3 -> 1 becomes 2 -> 1 among the incoming edges
    assert "from 3 to 1 is not the incoming edge 3" in messages(plain_path, "edge ids (out)")


def test_weight_that_only_one_direction_has(plain_path):
    forgery = Forgery(plain_path)
    forgery.set_item(forgery.find("weights", 2), 0, 9.0)
    forgery.repair_chunks()
    assert "differs from it in weight or time" in messages(forgery.save(), "edge ids (out)")


def test_wrong_edge_ids(plain_path):
    damage(plain_path, "edge_ids", 2, 0, 4)
    assert "at position 0: edge id 4 of 4 edges" in messages(plain_path, "edge ids (out)")


def test_repeated_edge_ids(tmp_path):
    gm.compile_graph(([0, 0], [1, 1]), tmp_path / "twins.gl")
    damage(tmp_path / "twins.gl", "edge_ids", 2, 0, 1)
    assert "the same edge id" in messages(tmp_path / "twins.gl", "edge ids (out)")


def test_half_an_undirected_edge(tmp_path):
    gm.compile_graph(([0, 1], [1, 2]), tmp_path / "u.gl", directed=False)
    damage(tmp_path / "u.gl", "indices", 1, 0, 2)  # 0's only neighbor becomes 2
    text = messages(tmp_path / "u.gl", "indices (in)")
    assert "the undirected edge between 0 and 2 is not in both their lists" in text


def test_halves_of_different_weight(tmp_path):
    gm.compile_graph(([0, 1], [1, 2]), tmp_path / "u.gl", directed=False, weights=[1, 2])
    damage(tmp_path / "u.gl", "weights", 1, 3, 5.0)  # of 1 in the list of 2
    text = messages(tmp_path / "u.gl", "indices (in)")
    assert "the undirected edge between 1 and 2 has another weight or time" in text


def test_times_out_of_order(tmp_path):
    gm.compile_graph(([0, 2], [1, 1]), tmp_path / "t.gl", timestamps=[5, 6], neighbors="in")
    damage(tmp_path / "t.gl", "timestamps", 1, 0, 7)
    assert "not sorted" in messages(tmp_path / "t.gl", "indices (in)")


def test_negative_source_row(tmp_path):
    gm.compile_graph(([0, 2], [1, 1]), tmp_path / "r.gl", source_rows=True)
    damage(tmp_path / "r.gl", "source_rows", 1, 1, -2)
    assert "source row -2 is negative" in messages(tmp_path / "r.gl", "source rows (in)")


def test_external_id_that_leads_elsewhere(tmp_path):
    gm.compile_graph(([0], [1]), tmp_path / "n.gl", node_ids=[5, 9])
    damage(tmp_path / "n.gl", "node_ids", 0, 0, 6)
    text = messages(tmp_path / "n.gl", "node id table")
    assert "the external id of node 0 leads here, but not on to the node" in text


def test_the_same_external_id_twice(tmp_path):
    gm.compile_graph(([0], [1]), tmp_path / "n.gl", node_ids=[5, 9])
    forgery = Forgery(tmp_path / "n.gl")
    forgery.set_item(forgery.find("node_ids"), 0, 9)
    table = reference.id_table([9, 9], 4)
    for slot, node in enumerate(table):
        forgery.set_item(forgery.find("id_table"), slot, node)
    forgery.repair_chunks()
    forgery.save()
    text = messages(tmp_path / "n.gl", "node id table")
    assert "nodes 0 and 1 have the same external id" in text


def test_damaged_table_of_external_ids(graph_path):
    table = reference.parse(graph_path).sections["id_table", 0].ravel()
    used, empty = np.flatnonzero(table >= 0)[0], np.flatnonzero(table < 0)[0]
    original = graph_path.read_bytes()
    for slot, value, message in (
        (used, 50, "node 50 does not exist"),
        (empty, -2, "node -2 does not exist"),
        (used, -1, f"the external id of node {table[used]} leads here, but not on to the node"),
        (empty, table[used], f"node {table[used]} is not where its external id leads"),
    ):
        graph_path.write_bytes(original)
        damage(graph_path, "id_table", 0, slot, value)
        assert message in messages(graph_path, "node id table")


def test_damaged_header_is_a_problem_and_a_stranger_an_error(graph_path, tmp_path):
    data = bytearray(graph_path.read_bytes())
    data[50] ^= 1
    graph_path.write_bytes(data)
    (problem,) = problems_of(graph_path)
    assert str(problem) == "header, byte 0: the header is damaged: its checksum does not match"
    (tmp_path / "edges.csv").write_text("0,1\n")
    with pytest.raises(gm.errors.FormatError, match="looks like text"):
        gm.verify(tmp_path / "edges.csv")


def test_more_problems_than_are_listed(tmp_path):
    gm.compile_features(np.zeros((200, 1 << 20), np.uint8), tmp_path / "x.gd")
    data = bytearray((tmp_path / "x.gd").read_bytes())
    for chunk in range(200):
        data[65536 + (chunk << 20)] = 1
    (tmp_path / "x.gd").write_bytes(data)
    result = gm.verify(tmp_path / "x.gd")
    assert result.num_problems == 200
    assert [p.offset for p in result.problems] == [65536 + (i << 20) for i in range(100)]


def test_progress(tmp_path):
    gm.compile_features(np.zeros((8, 1 << 20), np.uint8), tmp_path / "x.gd")
    calls = []
    gm.verify(tmp_path / "x.gd", progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (8 << 20, 8 << 20)
    assert all(0 < done <= total == 8 << 20 for done, total in calls)

    def stop(_done, _total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gm.verify(tmp_path / "x.gd", progress=stop)


@pytest.mark.parametrize("threads", [1, 3])
def test_same_findings_whatever_the_threads(threads, graph_path):
    data = bytearray(graph_path.read_bytes())
    for section in gm.Graph(graph_path).sections:
        data[section.offset] ^= 1
    graph_path.write_bytes(data)
    before = gm.num_threads()
    try:
        gm.set_num_threads(threads)
        found = gm.verify(graph_path)
    finally:
        gm.set_num_threads(before)
    sections = {problem.section for problem in found.problems}
    assert {s.name for s in gm.Graph(graph_path).sections} <= sections
