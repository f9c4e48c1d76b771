"""A header of text over ids of text: a first line whose words occur nowhere else is reported."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm

DOUBT = r"'package' and 'needs' in its first line occur nowhere else.*header=True.*header=False"
EDGES = "torch,numpy\nnumpy,python\npyg,torch\n"


def write(path, text):
    path.write_text(text)
    return path


def compile_quietly(source, out, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return gm.compile_graph(source, out, ids="map", **options)


def test_a_header_that_looks_like_an_edge(tmp_path):
    source = write(tmp_path / "needs.csv", f"package,needs\n{EDGES}")
    with pytest.warns(UserWarning, match=DOUBT):
        done = gm.compile_graph(source, tmp_path / "g.gl", ids="map")
    assert done.num_edges == 4
    assert compile_quietly(source, tmp_path / "g.gl", header=True).num_edges == 3
    assert compile_quietly(source, tmp_path / "g.gl", header=False).num_edges == 4


def test_the_warning_points_at_the_call(tmp_path):
    source = write(tmp_path / "needs.csv", f"package,needs\n{EDGES}")
    with pytest.warns(UserWarning, match=DOUBT) as caught:
        gm.compile_graph(source, tmp_path / "g.gl", ids="map")
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=DOUBT) as caught:
        gm.compile_dataset(tmp_path / "ds", edges=source, ids="map")
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "text",
    [
        f"numpy,python\n{EDGES}",  # both occur again
        f"package,numpy\n{EDGES}",  # one of them does
        f"package,needs\n{EDGES}pyg,package\n",  # late in the file
        f"package,needs\npackage,needs\n{EDGES}",  # the same edge twice
        "package,needs\n",  # nothing to compare it with
        "package,needs\n1,2\n2,3\n",  # a header that can be told: ids are numbers
    ],
)
def test_no_doubt(tmp_path, text):
    compile_quietly(write(tmp_path / "e.csv", text), tmp_path / "g.gl")


def test_several_files_with_the_same_header(tmp_path):
    for number in range(3):
        write(tmp_path / f"part{number}.csv", f"package,needs\n{EDGES}")
    with pytest.warns(UserWarning, match=DOUBT):
        gm.compile_graph(str(tmp_path / "part*.csv"), tmp_path / "g.gl", ids="map")


@given(later=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40))
def test_any_edges_against_the_slow_way(tmp_path, later):
    edges = [("n0", "n1"), *((f"n{a}", f"n{b}") for a, b in later)]
    source = write(tmp_path / "e.csv", "".join(f"{a},{b}\n" for a, b in edges))
    is_doubtful = not any({"n0", "n1"} & set(edge) for edge in edges[1:])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gm.compile_graph(source, tmp_path / "g.gl", ids="map", memory="64MiB")
    assert len(caught) == is_doubtful


def test_messages_say_that_a_header_may_be_the_reason(tmp_path):
    source = write(tmp_path / "needs.csv", f"package,needs\n{EDGES}")
    names = ["torch", "numpy", "python", "pyg"]
    with pytest.raises(gm.errors.SourceError, match=r"'package' is not among.*header=True"):
        gm.compile_graph(source, tmp_path / "g.gl", ids="map", node_ids=names)
    table = gm.Table(source=[[1.0]] * 4, key=names)
    with (
        pytest.warns(UserWarning, match=DOUBT),
        pytest.raises(gm.errors.SourceError, match=r"2 of 6 nodes have no row.*header=True"),
    ):
        gm.compile_dataset(tmp_path / "ds", edges=source, ids="map", features={"x": table})
