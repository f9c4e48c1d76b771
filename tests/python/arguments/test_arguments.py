"""Numbers and arrays of users: bounded, named in messages, and never changed on the way in."""

from __future__ import annotations

import ast
import pathlib
from fractions import Fraction

import numpy as np
import pytest

import graphmount as gm
from graphmount._support.arguments import as_count, as_id, as_ids, as_number, as_plain
from graphmount._support.shown import shown
from graphmount._support.sizes import format_bytes, parse_bytes

HUGE = 10**5000


@pytest.mark.parametrize(
    "size",
    ["9" * 5000, "9" * 40 + "TiB", "999999999999TiB", "1e30", HUGE, 2**63, "1." + "0" * 5000 + "G"],
    ids=lambda size: shown(size)[:20],
)
def test_sizes_that_no_machine_has(size):
    with pytest.raises(
        ValueError, match=r"^memory=.* (is not a size|is more than any machine)"
    ) as e:
        parse_bytes(size, "memory")
    assert len(str(e.value)) < 400
    with pytest.raises(ValueError, match=r"^memory="):
        gm.compile_graph(([0], [1]), "never.gl", memory=size)
    with pytest.raises(ValueError, match=r"^memory="):
        gm.compile_features([[1.0]], "never.gd", memory=size)


def test_the_largest_size_that_a_message_names_works(tmp_path):
    with pytest.raises(ValueError, match="more than any machine has") as e:
        parse_bytes("9999999TiB", "memory")
    largest = str(e.value).rpartition(" ")[2].strip("'")
    assert parse_bytes(largest, "memory") == 2**60
    gm.compile_graph(([0, 1], [1, 2]), tmp_path / "g.gl", memory=largest)
    gm.compile_features([[2.0], [1.0]], tmp_path / "x.gd", key=[1, 0], memory=largest)


def test_sizes_are_exact():
    assert parse_bytes("1152921504606846975", "memory") == 2**60 - 1  # a float would be 2**60
    assert parse_bytes("0.1GiB", "memory") == 2**30 // 10


@pytest.mark.parametrize("size", [2**80, 2**1000, HUGE, 2**1200], ids=shown)
def test_shown_sizes_of_damaged_headers(size):
    assert format_bytes(size).endswith("TiB")
    assert len(format_bytes(size)) < 60


@pytest.mark.parametrize(
    "value", [HUGE, -HUGE, [HUGE] * 3, "x" * 10**6, list(range(10**5))], ids=type
)
def test_values_in_messages_are_short(value):
    assert len(shown(value)) < 200


@pytest.mark.parametrize("check", [as_count, as_id])
def test_integers_of_5000_digits(check):
    with pytest.raises((ValueError, gm.errors.IdError), match=r"n .*10\*\*5000 or so"):
        check(HUGE, "n")
    with pytest.raises(TypeError, match="n must be one integer, not"):
        check("9" * 5000, "n")


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (0, {"least": 1}, "n must be at least 1, not 0"),
        (2**63, {"least": 1}, f"n must be at least 1 and at most {2**63 - 1}, not {2**63}"),
        (0, {"least": 1, "most": 63}, "n must be at least 1 and at most 63, not 0"),
        (64, {"least": 1, "most": 63}, "n must be at least 1 and at most 63, not 64"),
    ],
)
def test_limits_that_say_something(value, options, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        as_count(value, "n", **options)


@pytest.mark.parametrize("ids", [[HUGE], [1, HUGE], [1.5, HUGE], [2**63], [-(2**70)]], ids=shown)
def test_ids_of_5000_digits(ids):
    with pytest.raises((gm.errors.IdError, TypeError), match=r"ids"):
        as_ids(ids, "ids")
    with pytest.raises((gm.errors.SourceError, TypeError)):
        gm.compile_graph((ids, [0] * len(ids)), "never.gl")


def test_numbers_that_a_float_cannot_hold():
    assert as_number(np.longdouble("1e4000")) is None or np.finfo(np.longdouble).max < 1e4000
    assert as_number(Fraction(HUGE)) is None
    assert as_number(float("inf")) == float("inf")
    assert as_number(Fraction(1, 4)) == 0.25
    with pytest.raises(ValueError, match=r"nan=.*choose 'keep'"):
        gm.compile_features([[1.0]], "never.gd", nan=Fraction(HUGE))
    with pytest.raises(ValueError, match=r"missing=.*choose 'error'"):
        gm.compile_features([[1.0]], "never.gd", key=[0], missing=HUGE)


MASKED = np.ma.array([0, 1], mask=[False, True])
COVERED = np.ma.array([0, 1], mask=[False, False])


def calls_with(array, folder):
    """Every call that takes an array of a user, with `array`, two integers, in its place."""
    graph, store, data = str(folder / "g.gl"), str(folder / "x.gd"), str(folder / "d")
    gm.compile_graph(([0, 1], [1, 0]), graph)
    gm.compile_features([[1.0], [2.0]], store)
    out = folder / "out.gl"
    rows = folder / "out.gd"
    return {
        "sources": lambda: gm.compile_graph((array, [0, 0]), out),
        "destinations": lambda: gm.compile_graph(([0, 0], array), out),
        "edges": lambda: gm.compile_graph(np.ma.stack([array, array]), out),
        "a list of arrays": lambda: gm.compile_graph([array, array], out),
        "weights": lambda: gm.compile_graph(([0, 1], [1, 0]), out, weights=array),
        "timestamps": lambda: gm.compile_graph(([0, 1], [1, 0]), out, timestamps=array),
        "node_ids": lambda: gm.compile_graph(([0, 1], [1, 0]), out, node_ids=array),
        "features": lambda: gm.compile_features(array, rows),
        "rows": lambda: gm.compile_features([array, array], rows),
        "key": lambda: gm.compile_features([[1.0], [2.0]], rows, key=array),
        "labels": lambda: gm.compile_dataset(data, edges=([0], [1]), labels=array),
        "split": lambda: gm.compile_dataset(data, edges=([0], [1]), splits={"train": array}),
        "order": lambda: gm.compile_dataset(data, edges=([0], [1]), order=array),
        "degree": lambda: gm.Graph(graph).degree(array),
        "gather": lambda: gm.FeatureStore(store).gather(array),
        "input_nodes": lambda: gm.NeighborLoader(
            gm.Graph(graph), num_neighbors=[1], input_nodes=array, batch_size=1
        ),
        "edge_label": lambda: gm.LinkNeighborLoader(
            gm.Graph(graph),
            num_neighbors=[1],
            edge_label_index=([0, 1], [1, 0]),
            edge_label=array,
            batch_size=1,
        ),
    }


NAMES = [
    "sources",
    "destinations",
    "edges",
    "a list of arrays",
    "weights",
    "timestamps",
    "node_ids",
    "features",
    "rows",
    "key",
    "labels",
    "split",
    "order",
    "degree",
    "gather",
    "input_nodes",
    "edge_label",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_mask_is_never_dropped(name, tmp_path):
    with pytest.raises(ValueError, match=r"values are masked.*pass array.filled\(…\)"):
        calls_with(MASKED, tmp_path)[name]()


@pytest.mark.parametrize("name", NAMES)
def test_a_mask_over_nothing_does_no_harm(name, tmp_path):
    calls = calls_with(COVERED, tmp_path)
    assert sorted(calls) == sorted(NAMES)
    calls[name]()


@pytest.mark.parametrize("name", NAMES)
def test_masked_values_that_are_filled(name, tmp_path):
    """What the message advises, with a value that is not there yet."""
    calls_with(MASKED.filled(1), tmp_path)[name]()


def test_lists_that_are_no_array():
    with pytest.raises(ValueError, match=r"^features: .* lists must all be of the same length"):
        gm.compile_features([[1.0], [1.0, 2.0]], "never.gd")
    with pytest.raises(ValueError, match="same length"):
        as_plain([[1], [2, 3]], "x")


#: Arrays that are made here, of values that are known, and never given by a user.
OWN_ARRAYS = {
    "_support/arguments.py: as_plain",
    "_mount/node_reading.py: nodes_of_ids",
    "_compile/rows/stored_form.py: quantized",
    "_sources/contract/exact.py: changed_by_cast",
    "_sources/objects/memory_edges.py: as_array",
    "_sources/layouts/mag240m.py: _as_ids",
}


def test_arrays_have_one_way_in():
    """`numpy.asarray` drops masks, so nobody calls it but `as_plain`, and those listed here."""
    package = pathlib.Path(gm.__file__).parent
    found = set()
    for path in package.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in ast.walk(function):
                is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
                if is_call and node.func.attr in ("asarray", "asanyarray", "array_like"):
                    found.add(f"{path.relative_to(package).as_posix()}: {function.name}")
    assert found <= OWN_ARRAYS
