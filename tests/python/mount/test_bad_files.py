"""Files that are not what they should be: each a named error that says what is wrong."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest
import reference
from forge import Forgery, damage

import graphmount as gm


def open_error(path, kind=gm.Graph):
    with pytest.raises(gm.errors.FormatError) as caught:
        kind(path)
    assert caught.value.path == str(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_missing_file(tmp_path):
    for kind in (gm.Graph, gm.FeatureStore, gm.verify):
        with pytest.raises(FileNotFoundError) as caught:
            kind(tmp_path / "nothing.gl")
        assert caught.value.filename == str(tmp_path / "nothing.gl")


@pytest.mark.parametrize("kind", [gm.Graph, gm.FeatureStore, gm.verify])
def test_null_character_in_a_path(kind, features_path):
    with pytest.raises(ValueError, match="null"):
        kind(f"{features_path}\0.bak")


def test_folder_pipe_and_forbidden_file(tmp_path, graph_path):
    with pytest.raises(IsADirectoryError):
        gm.Graph(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="special file"):
        gm.Graph(tmp_path / "pipe")
    if os.geteuid() != 0:
        graph_path.chmod(0)
        with pytest.raises(PermissionError):
            gm.Graph(graph_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"0,1\n1,2\n", "it looks like text; compile it first"),
        (b"src\tdst\r\n1\t2\r\n" * 1000, "it looks like text"),
        (b"\x93NUMPY\x01\x00", "it is a NumPy .npy file"),
        (b"PK\x03\x04....", "it is a zip archive"),
        (b"PAR1....", "it is a Parquet file"),
        (b"\x1f\x8b\x08", "compressed with gzip"),
        (b"\x89GMGL\n\x1a", "damaged, as by a transfer in text mode"),
        (b"\x89GMGL\r\n\x1a", "truncated: 8 bytes"),
        (bytes(range(256)) * 64, "its first bytes are not those of one"),
        (b"\0", "not a graphmount file"),
    ],
)
def test_strangers(content, message, tmp_path):
    (tmp_path / "stranger.gl").write_bytes(content)
    assert message in open_error(tmp_path / "stranger.gl")


def test_wrong_kind(graph_path, features_path):
    assert "open it with Graph" in open_error(graph_path, gm.FeatureStore)
    assert "open it with FeatureStore" in open_error(features_path, gm.Graph)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"endian_mark": 0x04030201}, "big-endian"),
        ({"endian_mark": 5}, "byte order mark is damaged"),
        ({"major_version": 2}, "format version 2.0; this graphmount reads version 1.1"),
        ({"header_bytes": 8192}, "sizes that version 1 does not allow"),
        ({"chunk_bytes": 4096}, "sizes that version 1 does not allow"),
        ({"section_alignment": 4096}, "sizes that version 1 does not allow"),
        ({"flags": 1 << 40}, "unknown flags"),
        ({"flags": 4}, "a graph is marked as a vector"),
        ({"file_bytes": 65536}, "too long"),
        ({"file_bytes": 1 << 40}, "truncated"),
        ({"num_sections": 60}, "60 sections are more than 59"),
        ({"num_sections": 0}, "no section of checksums"),
        ({"num_sections": 3}, "no section of checksums"),
        ({"num_rows": 51}, "51 entries for 51 nodes"),
        ({"num_rows": 2**64 - 1}, "exceed 2^63"),
        ({"num_columns": 301}, "300 entries for 301 edges"),
    ],
)
def test_wrong_header(change, message, graph_path):
    forgery = Forgery(graph_path)
    forgery.set_header(**change)
    assert message in open_error(forgery.save())


def test_newer_minor_version_is_read(graph_path):
    forgery = Forgery(graph_path)
    forgery.set_header(minor_version=7)
    assert gm.Graph(forgery.save()).num_nodes == 50


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("indices", {"offset": 65536}, "indptr (in) and indices (in) overlap"),
        ("indices", {"offset": 65537}, "not a multiple of 64 KiB"),
        ("indices", {"offset": 0}, "not a multiple of 64 KiB"),
        ("indices", {"offset": 1 << 40}, "beyond the end of the file"),
        ("indices", {"offset": 2**64 - 65536}, "beyond the end of the file"),
        ("indices", {"bytes": 2**63, "rows": 2**61}, "beyond the end of the file"),
        ("indices", {"rows": 2**62 + 300}, "which is not"),  # times 4 overflows to 300 x 4
        ("indices", {"columns": 2**33, "rows": 2**33}, "which is not"),
        ("indices", {"rows": 299}, "which is not"),
        ("indices", {"dtype": 99}, "unknown dtype 99"),
        ("indices", {"dtype": 1}, "neither int32 nor int64"),
        ("indices", {"direction": 3}, "unknown direction 3"),
        ("indices", {"direction": 0}, "does not belong into this graph"),
        ("indices", {"kind": 64}, "unknown kind 64"),
        ("indices", {"kind": 99}, "needs a newer version"),
        ("indices", {"kind": 18}, "two sections are weights (in)"),
        ("indices", {"reserved0": 1}, "reserved bits"),
        ("indices", {"reserved1": 1}, "reserved bits"),
        ("indices", {"first_chunk": 0}, "checksums of section indices (in)"),
        ("indices", {"rows": 150, "columns": 2}, "2 columns instead of 1"),
        ("weights", {"dtype": 7}, "is not float32"),
        ("alias", {"kind": 0x8000}, "does not go with the weights"),
        ("timestamps", {"kind": 0x8000}, "is missing, but the lists are marked"),
        ("checksums", {"kind": 0x8001}, "no section of checksums"),
        ("id_table", {"kind": 0x8001}, "external node ids are not complete"),
        ("id_table", {"kind": 35}, "needs a newer version"),
        ("id_table", {"rows": 64, "dtype": 8, "bytes": 512}, "wrong size or dtype"),
        ("id_table", {"rows": 96, "bytes": 384}, "wrong size or dtype"),
        ("id_table", {"rows": 32, "bytes": 128}, "wrong size or dtype"),
        ("name_offsets", {"kind": 32}, "external node ids are not complete"),
    ],
)
def test_wrong_section(kind, change, message, graph_path):
    forgery = Forgery(graph_path)
    direction = 0 if kind in ("checksums", "id_table", "name_offsets") else 1
    forgery.set_section(forgery.find(kind, direction), **change)
    assert message in open_error(forgery.save())


def test_missing_edge_ids(graph_path):
    forgery = Forgery(graph_path)
    forgery.set_section(forgery.find("edge_ids", 2), kind=0x8000)
    assert "edge ids (out) is missing" in open_error(forgery.save())


def test_weights_in_one_direction_only(graph_path):
    forgery = Forgery(graph_path)
    for number in [forgery.find(kind, 2) for kind in ("weights", "alias")]:
        forgery.set_section(number, kind=0x8000 + number)
    assert "only one direction has weights" in open_error(forgery.save())


def test_unknown_optional_section_is_ignored(graph_path):
    forgery = Forgery(graph_path)
    number = forgery.find("source_rows", 1)
    forgery.set_section(number, kind=0x8123, dtype=77)
    graph = gm.Graph(forgery.save())
    assert graph.neighbor_lists().source_rows is None
    assert gm.verify(graph_path).ok
    forgery.data[forgery.section(number, "offset")] ^= 1
    assert "checksum" in gm.verify(forgery.save()).problems[0].message


@pytest.mark.parametrize(
    ("header", "section", "message"),
    [
        ({"num_rows": 99}, {}, "disagree about the shape"),
        ({"num_columns": 25}, {}, "disagree about the shape"),
        ({"flags": 4}, {}, "a one-dimensional table has 24 columns"),
        ({"flags": 1}, {}, "a matrix is marked as a graph"),
        ({}, {"kind": 0x8000}, "no section with a matrix"),
        ({}, {"direction": 1}, "no section with a matrix"),
        ({}, {"dtype": 2}, "which is not 100 x 24 of float64"),
    ],
)
def test_wrong_features(header, section, message, features_path):
    forgery = Forgery(features_path)
    forgery.set_header(**header)
    forgery.set_section(0, **section)
    assert message in open_error(forgery.save(), gm.FeatureStore)


@pytest.mark.parametrize(
    ("section", "number", "message"),
    [
        ({"dtype": 1, "bytes": 800}, 0, "there are scales, but the matrix is not of int8"),
        ({"dtype": 7}, 1, "the scales are not one float32 for each of 2 columns"),
        ({"rows": 3}, 1, "the scales are not one float32"),
        ({"rows": 1, "columns": 2}, 1, "the scales are not one float32"),
        ({"bytes": 4}, 1, "the scales are not one float32"),
    ],
)
def test_wrong_scales(section, number, message, tmp_path):
    path = tmp_path / "x.gd"
    gm.compile_features(np.ones((100, 2)), path, quantize="column")
    forgery = Forgery(path)
    forgery.set_section(number, **section)
    assert message in open_error(forgery.save(), gm.FeatureStore)


@pytest.mark.parametrize("scale", [-1.0, np.nan, np.inf])
def test_bad_scale_is_found(scale, tmp_path):
    path = tmp_path / "x.gd"
    gm.compile_features(np.ones((100, 2)), path, quantize="column")
    forgery = Forgery(path)
    forgery.set_item(forgery.find("scales"), 1, scale)
    forgery.repair_chunks()
    (problem,) = gm.verify(forgery.save()).problems
    assert problem.section == "scales"
    assert "not a finite number of at least 0" in problem.message


def test_damaged_scale_is_found(tmp_path):
    path = tmp_path / "x.gd"
    gm.compile_features(np.ones((100, 2)), path, quantize="column")
    forgery = Forgery(path)
    forgery.set_item(forgery.find("scales"), 1, 0.25)
    assert "checksum" in gm.verify(forgery.save()).problems[0].message


@pytest.mark.parametrize("size", [1, 7, 8, 100, 4095, 4096, 65536, -65536, -1])
def test_truncated(size, graph_path):
    data = graph_path.read_bytes()
    graph_path.write_bytes(data[:size])
    assert re.search("truncated|damaged|not a graphmount file", open_error(graph_path))


def test_too_long(features_path):
    with features_path.open("ab") as file:
        file.write(bytes(10))
    assert "too long" in open_error(features_path, gm.FeatureStore)


def test_every_flipped_bit_of_the_header_is_noticed(features_path):
    data = features_path.read_bytes()
    for at in range(4096):
        changed = bytearray(data)
        changed[at] ^= 1 << (at % 8)
        features_path.write_bytes(changed)
        open_error(features_path, gm.FeatureStore)


@pytest.mark.parametrize("value", [-1, 10**9, 2**63 - 1, -(2**63)])
def test_offsets_out_of_order(value, graph_path):
    graph = gm.Graph(damage(graph_path, "indptr", 1, 10, value))
    for call in (
        lambda: graph.degree([9]),
        lambda: graph.degree([10]),
        graph.degree,
        lambda: graph.neighbors(9),
        lambda: graph.neighbors(10),
        lambda: graph.prefetch([9]),
        graph.degree_summary,
    ):
        with pytest.raises(gm.errors.FormatError, match="`graphmount verify` says where"):
            call()
    assert graph.degree([0, 8, 11]).shape == (3,)  # what is not damaged can still be read
    problems = gm.verify(graph_path).problems
    assert problems[0].section == "indptr (in)"
    assert "the list of node" in problems[0].message


@pytest.mark.parametrize(("item", "message"), [(0, "first offset is 3"), (50, "last offset is 3")])
def test_wrong_ends_of_the_offsets(item, message, graph_path):
    damage(graph_path, "indptr", 1, item, 3)
    assert any(message in problem.message for problem in gm.verify(graph_path).problems)


@pytest.mark.parametrize("value", [-1, 50, 2**31 - 1, -(2**31)])
def test_neighbor_out_of_range(value, graph_path):
    graph = gm.Graph(damage(graph_path, "indices", 1, 123, value))
    node = int(np.searchsorted(graph.indptr, 123, side="right")) - 1
    with pytest.raises(gm.errors.FormatError, match=f"node {node} has the neighbor {value}"):
        graph.neighbors(node)
    assert graph.neighbors(node - 1).max() < 50
    (problem,) = [p for p in gm.verify(graph_path).problems if "neighbor" in p.message]
    assert problem.section == "indices (in)"
    assert f"at position 123: neighbor {value}" in problem.message


def test_damaged_external_ids(graph_path, tmp_path):
    names = gm.Graph(graph_path).to_external(range(50))
    table = reference.parse(graph_path).sections["id_table", 0].ravel()
    graph = gm.Graph(damage(graph_path, "id_table", 0, np.flatnonzero(table >= 0)[3], 50))
    with pytest.raises(gm.errors.FormatError, match="names node 50"):
        graph.to_internal(names)
    assert gm.verify(graph_path).problems[0].section == "node id table"
    gm.compile_graph(([0], [1]), tmp_path / "2.gl", node_ids=["ann", "bob"])
    graph = gm.Graph(damage(tmp_path / "2.gl", "name_offsets", 0, 1, 1 << 40))
    with pytest.raises(gm.errors.FormatError, match="the name of node 0 goes from byte 0"):
        graph.to_external([0])
    assert gm.verify(tmp_path / "2.gl").problems[0].section == "node name offsets"
    gm.compile_graph(([0], [1]), tmp_path / "3.gl", node_ids=["ann", "bob"])
    graph = gm.Graph(damage(tmp_path / "3.gl", "name_bytes", 0, 1, 0xFF))
    with pytest.raises(gm.errors.FormatError, match="the name of node 0 is not valid UTF-8"):
        graph.to_external([0])
    assert graph.to_external([1]) == ["bob"]
    assert "not valid UTF-8" in gm.verify(tmp_path / "3.gl").problems[0].message
