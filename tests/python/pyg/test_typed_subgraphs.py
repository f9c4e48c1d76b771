"""Samples over several types next to what PyG makes of the same edges: both ways, and fanouts."""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.sampler import HeteroSamplerOutput, NumNeighbors  # noqa: E402

RELATIONS = (
    ("author", "writes", "paper"),
    ("paper", "rev_writes", "author"),
    ("paper", "cites", "paper"),
    ("venue", "prints", "paper"),
    ("paper", "printed_in", "venue"),
    ("author", "knows", "author"),
    ("author", "rev_knows", "author"),
)


@pytest.fixture(scope="module")
def ds(tmp_path_factory):
    """Relations with a reverse by name, with one that only leads back, and within one type."""
    rng = np.random.default_rng(6)
    counts = {"author": 60, "paper": 80, "venue": 10}
    path = tmp_path_factory.mktemp("typed") / "mag"
    gm.compile_dataset(
        path,
        nodes={name: gm.Nodes(num_nodes=count) for name, count in counts.items()},
        edges={
            relation: gm.EdgeTable(
                source=(
                    rng.integers(0, counts[relation[0]], 400),
                    rng.integers(0, counts[relation[2]], 400),
                ),
                weights=rng.random(400).astype(np.float32),
            )
            for relation in RELATIONS
        },
        order="given",
        progress=False,
    )
    return gm.Dataset(path)


@pytest.mark.parametrize(
    "options", [{}, {"disjoint": True}, {"replace": True}, {"weighted": True}], ids=str
)
def test_bidirectional_is_what_pyg_makes_of_a_sample(ds, options):
    call = {"seeds": ("paper", np.arange(8)), "fanouts": [4, 3], "seed": 2, **options}
    drawn = ds.sample_neighbors(**call)
    both = ds.sample_neighbors(**call, subgraph_type="bidirectional")
    ends = {relation: torch.from_numpy(found) for relation, found in drawn.edge_index.items()}
    expected = HeteroSamplerOutput(
        node={name: torch.from_numpy(found) for name, found in drawn.nodes.items()},
        row={relation: found[0] for relation, found in ends.items()},
        col={relation: found[1] for relation, found in ends.items()},
        edge={relation: torch.from_numpy(found) for relation, found in drawn.edge_ids.items()},
    ).to_bidirectional()
    for relation in RELATIONS:
        source, destination = both.edge_index[relation]
        found = sorted(zip(source.tolist(), destination.tolist(), strict=True))
        pairs = zip(expected.row[relation].tolist(), expected.col[relation].tolist(), strict=True)
        assert found == sorted(pairs)
        assert len(found) > drawn.edge_index[relation].shape[1] / 2
    for name, nodes in drawn.nodes.items():
        np.testing.assert_array_equal(both.nodes[name], nodes)


def test_fanouts_of_pyg(ds):
    call = {"seeds": ("paper", np.arange(8)), "seed": 2}
    ours = {RELATIONS[0]: [4, 1], "default": [2, 2]}
    theirs = NumNeighbors({RELATIONS[0]: [4, 1]}, default=[2, 2])
    one, two = (ds.sample_neighbors(fanouts=fanouts, **call) for fanouts in (ours, theirs))
    for relation in RELATIONS:
        np.testing.assert_array_equal(one.edge_ids[relation], two.edge_ids[relation])
    with pytest.raises(ValueError, match="Missing number of neighbors"):
        ds.sample_neighbors(fanouts=NumNeighbors({RELATIONS[0]: [4, 1]}), **call)
