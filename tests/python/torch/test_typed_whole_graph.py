"""With all neighbors drawn, a model gives seeds and ends of links what it gives on the whole graph.

Over many types, in every form of batches. Accuracy alone would not notice relations that are
swapped, or ids in a wrong order; this does, which is shown by planting both.
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from typed_loader_data import (  # noqa: E402
    AT,
    CITES,
    COUNTS,
    TABLES,
    WRITES,
    make_typed,
    source_edges,
)
from typed_outputs import WholeModel, whole_outputs  # noqa: E402

import graphmount as gm  # noqa: E402

FORMS = ("numpy", "torch", "pyg")
REV_CITES = ("paper", "rev_cites", "paper")
INPUTS = ("paper", "author", WRITES, CITES, AT)
NUM_LINKS = 70
WITH_ROWS = [kind for kind, name in TABLES if name == "x"]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Batches are small: threads would only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=["hot", "given"])
def whole(request, tmp_path_factory):
    """The dataset, a model for it, and what that gives on the whole graph."""
    path = tmp_path_factory.mktemp("typed") / "d"
    ds = make_typed(path, request.param, reverse=(WRITES, CITES, AT))
    model = WholeModel(ds)
    return ds, model, whole_outputs(model, ds)


def make_loader(form, dataset, inputs):
    """A loader of nodes of a type, or of links of a relation with negatives."""
    if form == "pyg":
        pytest.importorskip("torch_geometric")
    module = gm if form == "numpy" else importlib.import_module(f"graphmount.{form}")
    options = {"memory": "30KiB", "shuffle": True, "seed": 1}
    if isinstance(inputs, str):
        nodes = (inputs, "train")
        return module.NeighborLoader(dataset, [-1, -1], input_nodes=nodes, batch_size=99, **options)
    return module.LinkNeighborLoader(
        dataset,
        [-1, -1],
        edge_label_index=(inputs, source_edges()[inputs][:, :NUM_LINKS]),
        ids="external",
        neg_sampling="binary",
        batch_size=40,
        **options,
    )


class Parts:
    """What a model needs of a batch of any form, and where in it the inputs are."""

    def __init__(self, batch, form, inputs):
        if form == "pyg":
            self.x = {name: batch[name].x for name in WITH_ROWS}
            self.edges = dict(batch.edge_index_dict)
            self.nodes = {name: batch[name].n_id for name in COUNTS}
        else:
            tensor = torch.as_tensor
            self.x = {name: tensor(batch.features[name]["x"]) for name in WITH_ROWS}
            self.edges = {name: tensor(ends) for name, ends in batch.edge_index.items()}
            self.nodes = {name: tensor(np.asarray(own)) for name, own in batch.nodes.items()}
        if isinstance(inputs, str):
            count = batch[inputs].batch_size if form == "pyg" else batch.num_seeds
            self.places = [(inputs, torch.arange(count))]
        else:
            store = batch[inputs] if form == "pyg" else batch
            row, col = torch.as_tensor(store.edge_label_index)
            self.places = [(inputs[0], row), (inputs[2], col)]

    def is_right(self, model, wanted):
        """Whether the model gives all inputs what it gives them on the whole graph, to 1e-5."""
        counts = {name: len(own) for name, own in self.nodes.items()}
        found = model(self.x, self.edges, counts)
        return all(
            torch.allclose(
                found[name][places], wanted[name][self.nodes[name][places]], rtol=0, atol=1e-5
            )
            for name, places in self.places
        )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("inputs", INPUTS, ids=str)
def test_outputs_are_those_of_the_whole_graph(whole, form, inputs):
    ds, model, wanted = whole
    seen = 0
    for batch in make_loader(form, ds, inputs):
        parts = Parts(batch, form, inputs)
        assert parts.is_right(model, wanted)
        seen += len(parts.places[0][1])
    is_type = isinstance(inputs, str)
    assert seen == (len(ds.nodes[inputs].splits["train"]) if is_type else 2 * NUM_LINKS)


@pytest.mark.parametrize("form", ["torch", "pyg"])
def test_outputs_by_matrices_are_those_of_the_whole_graph(whole, form):
    ds, model, wanted = whole
    for batch in make_loader(form, ds, "paper"):
        parts = Parts(batch, form, "paper")
        if form == "pyg":
            sampled = {name: batch[name].num_sampled_nodes for name in COUNTS}
            found = model.by_matrices(parts.x, batch.adjs_dict, sampled)
        else:
            found = model.by_matrices(parts.x, batch.adjs, batch.num_sampled_nodes)
        ((_, places),) = parts.places
        torch.testing.assert_close(
            found["paper"][places], wanted["paper"][parts.nodes["paper"]][places], rtol=0, atol=1e-5
        )


def swap_relations(parts):
    """Edges of one relation in the place of those of another one between the same types."""
    parts.edges[CITES], parts.edges[REV_CITES] = parts.edges[REV_CITES], parts.edges[CITES]


def turn_a_relation(parts):
    parts.edges[CITES] = parts.edges[CITES].flip(0)


def order_rows_by_ids(parts):
    """Rows of authors in the order of their ids, and not in that of the batch."""
    parts.x["author"] = parts.x["author"][parts.nodes["author"].argsort()]


def order_ids(parts):
    """The ids of papers in a wrong order, with rows and edges that are right."""
    parts.nodes["paper"] = parts.nodes["paper"].sort().values


PLANTED = (swap_relations, turn_a_relation, order_rows_by_ids, order_ids)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("inputs", ["paper", WRITES], ids=str)
@pytest.mark.parametrize("plant", PLANTED)
def test_what_is_planted_is_noticed(whole, form, inputs, plant):
    ds, model, wanted = whole
    parts = Parts(next(iter(make_loader(form, ds, inputs))), form, inputs)
    assert parts.is_right(model, wanted)
    plant(parts)
    assert not parts.is_right(model, wanted)
