"""Folders of RelBench, version 3: tables become node types, foreign keys relations both ways."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_folders import edges_of

import graphmount as gm
from graphmount._sources.layouts.relbench_columns import NO_TIME
from graphmount._sources.layouts.relbench_manifest import read_manifest
from graphmount._sources.layouts.typed import find_typed_layout
from graphmount.cli import main
from graphmount.errors import SourceError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("yaml")
from relbench_folders import MANIFEST, TABLES, as_relbench, seconds  # noqa: E402


def run(*arguments):
    return main(["compile", "known", *map(str, arguments), "--no-progress"])


EDGES = {
    ("posts", "f2p_OwnerUserId", "users"): [(0, 2), (1, 0), (3, 1)],
    ("posts", "f2p_ParentId", "posts"): [(1, 0), (2, 0), (3, 2)],
    ("votes", "f2p_PostId", "posts"): [(0, 0), (1, 0), (2, 3)],
    ("votes", "f2p_UserId", "users"): [(0, 1), (1, 2), (2, 0)],
}


@pytest.mark.parametrize("memory", ["2GiB", "64MiB"])
def test_tables_keys_and_times(tmp_path, capsys, memory):
    source = as_relbench(tmp_path / "rel-small")
    assert run(source, tmp_path / "out", "--memory", memory) == 0
    captured = capsys.readouterr()
    assert "10 nodes, 24 edges, 3 node types" in captured.out
    assert "Tasks are left to RelBench: user-badge" in captured.err
    assert "user-badge must not see posts.Score" in captured.err
    assert "left out: users.DisplayName, posts.Body." in captured.err
    ds = gm.Dataset(tmp_path / "out")
    assert ds.node_types == ("users", "posts", "votes")
    assert ds.edge_types[:4] == tuple(EDGES)
    for (source_type, name, other), edges in EDGES.items():
        assert edges_of(ds, (source_type, name, other)) == edges
        turned = sorted((dst, src) for src, dst in edges)
        assert edges_of(ds, (other, f"rev_{name}", source_type)) == turned
    users, posts = ds.nodes["users"], ds.nodes["posts"]
    all_users, all_posts = users.to_internal([0, 1, 2]), posts.to_internal([0, 1, 2, 3])
    times = np.asarray(users.timestamps)[all_users].tolist()
    assert times == [seconds(2018), seconds(2019), NO_TIME]
    times = np.asarray(posts.timestamps)[all_posts].tolist()
    assert times == [seconds(year) for year in (2018, 2019, 2019, 2021)]
    assert ds.nodes["votes"].timestamps is None
    x = users.features["x"].gather(all_users)
    assert np.array_equal(x, [[31, 1], [np.nan, 0], [47, 0]], equal_nan=True)
    assert str(users.features["x"].dtype) == "float64"  # an int64 may not fit into float32
    assert posts.features["x"].gather(all_posts).tolist() == [[1], [-2], [3], [4]]
    assert str(posts.features["x"].dtype) == "float32"
    assert list(ds.nodes["votes"].features) == []
    assert ds.description["columns"]["nodes/users/features/x.gd"] == ["Age", "IsAdmin"]
    assert gm.verify(tmp_path / "out").ok


def test_many_rows_in_batches(tmp_path):
    """Row groups and batches of any size: row i of a table stays node i."""
    rng = np.random.default_rng(1)
    num_users, num_posts = 1000, 30_000
    owners = rng.integers(0, num_users, num_posts)
    missing = rng.random(num_posts) < 0.3
    tables = {
        "users": {"Id": np.arange(num_users)},
        "posts": {"Owner": pa.array(owners, mask=missing), "When": rng.integers(0, 99, num_posts)},
    }
    manifest = """
name: many
val_timestamp: '2020-01-01'
test_timestamp: '2021-01-01'
tables:
  users: {pkey: Id}
  posts: {time_col: When, fkeys: {Owner: users}}
"""
    source = as_relbench(tmp_path / "many", tables, manifest)
    pq.write_table(pa.table(tables["posts"]), source / "db/posts.parquet", row_group_size=777)
    assert run(source, tmp_path / "out", "--order", "given", "--memory", "64MiB") == 0
    ds = gm.Dataset(tmp_path / "out")
    there = np.flatnonzero(~missing)
    expected = sorted(zip(there.tolist(), owners[there].tolist(), strict=True))
    assert edges_of(ds, ("posts", "f2p_Owner", "users")) == expected
    assert ds.nodes["posts"].timestamps.tolist() == tables["posts"]["When"].tolist()


def test_both_directions_belong_to_it(tmp_path, capsys):
    source = as_relbench(tmp_path / "rel-small")
    assert run(source, tmp_path / "out", "--reverse", "none") == 2
    assert "RelBench has both directions" in capsys.readouterr().err


def with_column(table, name, values):
    return TABLES | {table: TABLES[table] | {name: values}}


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (with_column("users", "Id", [0, 2, 1]), "'Id' is not 0, 1, 2, … .see row 1"),
        (with_column("users", "Id", pa.array([0, 1, None])), "is not 0, 1, 2"),
        (with_column("posts", "OwnerUserId", [0, 1, 2, 3]), "row 3: 3 is no row of the other"),
        (with_column("posts", "OwnerUserId", [0, -1, 2, 2]), "row 1: -1 is no row"),
        (with_column("posts", "OwnerUserId", [0, 1.5, 2, 2]), "keys are whole numbers"),
        (with_column("posts", "OwnerUserId", ["a", "b", "c", "d"]), "keys are whole numbers"),
        (with_column("posts", "CreationDate", ["a", "b", "c", "d"]), "timestamps are integers, ti"),
        ({k: v for k, v in TABLES.items() if k != "votes"}, "votes.parquet is missing, though"),
        (TABLES | {"votes": {"PostId": [0, 0, 3]}}, "has no column 'UserId'"),
    ],
)
def test_tables_that_are_wrong(tmp_path, capsys, tables, message):
    import re

    source = as_relbench(tmp_path / "rel", tables)
    assert run(source, tmp_path / "out") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert re.search(message, said), said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("manifest_version: 1", "manifest_version: 2", "is of version 2, and version 1 is known"),
        ("OwnerUserId: users", "OwnerUserId: people", "to no table: 'people'"),
        ("PostId: posts", "PostId: votes", "to 'votes', which has no primary key"),
        ("  users:\n", "  ../users:\n", "the name '../users', which cannot be"),
        ("      PostId: posts", "      a/b: posts", "the name 'a/b', which cannot be"),
        ("pkey: Id", "pkey: 3", "names the column 3"),
        ("    fkeys: {}", "    fkeys: [1]", "foreign keys of 'users' that are none"),
        ("tables:\n", "tables: [\n", "is no YAML"),
        ("tables:\n", "table:\n", "names no tables"),
        ("name: rel-small", "name: !!python/object/apply:os.system ['true']", "is no YAML"),
        ("name: rel-small", "name: &a x\nother: *a", "has an alias"),
    ],
)
def test_manifests_that_are_wrong(tmp_path, old, new, message):
    assert old in MANIFEST
    source = as_relbench(tmp_path / "rel", manifest=MANIFEST.replace(old, new, 1))
    with pytest.raises(SourceError, match=message):
        find_typed_layout(source)


def test_hostile_manifests(tmp_path):
    for number, text in enumerate(("- 1\n- 2\n", "", "[" * 3000, "\0", "x" * (1 << 20) + "yy")):
        source = as_relbench(tmp_path / str(number), manifest=text)
        with pytest.raises(SourceError):
            find_typed_layout(source)


def test_without_yaml(tmp_path, monkeypatch, capsys):
    source = as_relbench(tmp_path / "rel")
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert run(source, tmp_path / "out") == 2
    assert "pip install 'graphmount[relbench]'" in capsys.readouterr().err


def test_no_foreign_keys(tmp_path):
    manifest = "name: x\ntables:\n  users: {pkey: Id}\n"
    source = as_relbench(tmp_path / "rel", manifest=manifest)
    with pytest.raises(SourceError, match="no foreign keys"):
        find_typed_layout(source)


PIECES = [
    "\n",
    " ",
    ":",
    "- ",
    "{",
    "}",
    "[",
    "!!",
    "&a",
    "*a",
    "'",
    '"',
    "|",
    "\t",
    "\0",
    "é",
    "~",
]


@settings(max_examples=300, deadline=None)
@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(MANIFEST)), st.integers(0, 12), st.sampled_from(PIECES)),
        max_size=4,
    )
)
def test_damaged_manifests_are_refused_or_read(edits, tmp_path_factory):
    """Whatever is in the file, there is a manifest whose names are no paths, or our error."""
    text = MANIFEST
    for place, gone, piece in edits:
        text = text[:place] + piece + text[place + gone :]
    path = tmp_path_factory.mktemp("manifest") / "manifest.yaml"
    path.write_text(text)
    manifest, problem = None, str(path)
    try:
        manifest = read_manifest(str(path))
    except SourceError as error:
        problem = str(error)
    assert str(path) in problem
    for name, table in () if manifest is None else manifest.tables.items():
        for one in (name, *table.fkeys, *table.fkeys.values()):
            assert one not in (".", "..")
            assert not set(one) & set("/\\\0\n")
