"""Times of nodes or of edges by `time_attr`, and links of relations without edges, as in PyG."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data, HeteroData  # noqa: E402
from torch_geometric.sampler import NumNeighbors  # noqa: E402

import graphmount as gm  # noqa: E402
import graphmount.pyg  # noqa: E402
from graphmount.errors import MissingDataError, SourceError  # noqa: E402
from graphmount.pyg import LinkNeighborLoader, NeighborLoader  # noqa: E402

NUM_NODES = 12


def timed_data(seed=1, num_edges=30):
    generator = torch.Generator().manual_seed(seed)
    return Data(
        num_nodes=NUM_NODES,
        edge_index=torch.randint(0, NUM_NODES, (2, num_edges), generator=generator),
        time=torch.randint(0, 6, (NUM_NODES,), generator=generator),
    )


def edges_reached(data, seed, time, hops, drawn_end):
    """Twin: the edges over which nodes of that time or before are reached, hop by hop."""
    drawn, owner = data.edge_index[drawn_end].tolist(), data.edge_index[1 - drawn_end].tolist()
    seen, frontier, edges = {seed}, {seed}, set()
    for _ in range(hops):
        found = {
            edge
            for edge in range(len(drawn))
            if owner[edge] in frontier and data.time[drawn[edge]] <= time
        }
        edges |= found
        frontier = {drawn[edge] for edge in found} - seen
        seen |= frontier
    return edges


class TestTimesOfNodes:
    @settings(max_examples=8, deadline=None)
    @given(
        seed=st.integers(0, 99), direction=st.sampled_from(["in", "out"]), given_times=st.booleans()
    )
    def test_only_nodes_of_that_time_or_before_are_drawn(
        self, tmp_path_factory, seed, direction, given_times
    ):
        data = timed_data(seed)
        times = torch.arange(NUM_NODES) % 6 if given_times else None
        loader = NeighborLoader(
            data,
            [-1, -1],
            time_attr="time",
            input_time=times,
            direction=direction,
            cache=tmp_path_factory.mktemp("cache"),
            progress=False,
        )
        for batch in loader:
            node = int(batch.n_id[0])
            # Without times of their own, seeds begin at the time that they have as nodes.
            time = int((data.time if times is None else times)[node])
            assert batch.seed_time.tolist() == [time]
            wanted = edges_reached(data, node, time, 2, 0 if direction == "in" else 1)
            assert set(batch.e_id.tolist()) == wanted
            assert torch.equal(batch.time, data.time[batch.n_id])

    @pytest.mark.parametrize("subgraph_type", ["directional", "bidirectional", "induced"])
    @pytest.mark.parametrize("time", [None, 2])
    def test_one_kind_is_as_many_kinds_with_one(self, subgraph_type, time):
        data = timed_data()
        typed = HeteroData()
        typed["v"].time, typed["v"].num_nodes = data.time, NUM_NODES
        typed["v", "to", "v"].edge_index = data.edge_index
        options = {
            "time_attr": "time",
            "input_time": None if time is None else torch.full((NUM_NODES,), time),
            "subgraph_type": subgraph_type,
            "batch_size": NUM_NODES,
            "progress": False,
        }
        (one,) = NeighborLoader(data, [-1, -1], **options)
        (many,) = NeighborLoader(typed, [-1, -1], "v", **options)
        found = [
            sorted(torch.stack([*part.n_id[ends], part.batch[ends[1]]]).t().tolist())
            for part, ends in ((one, one.edge_index), (many["v"], many["v", "to", "v"].edge_index))
        ]
        assert found[0] == found[1]
        assert len(found[0]) > 0

    def test_the_latest_of_them(self):
        data = Data(
            num_nodes=4,
            edge_index=torch.tensor([[1, 2, 3], [0, 0, 0]]),
            time=torch.tensor([9, 5, 7, 8]),
        )
        loader = NeighborLoader(
            data,
            [1],
            torch.tensor([0]),
            time_attr="time",
            input_time=torch.tensor([7]),
            temporal_strategy="last",
            progress=False,
        )
        assert next(iter(loader)).n_id.tolist() == [0, 2]

    def test_labels_may_be_times(self):
        data = timed_data()
        data.y = data.time
        del data.time
        (batch,) = NeighborLoader(data, [1], time_attr="y", batch_size=12, progress=False)
        assert torch.equal(batch.seed_time, data.y)

    def test_masks_begin_at_the_times_of_their_nodes(self):
        data = timed_data()
        mask = torch.arange(NUM_NODES) % 2 == 1
        loader = NeighborLoader(data, [1], mask, time_attr="time", batch_size=6, progress=False)
        (batch,) = loader
        assert torch.equal(batch.seed_time, data.time[mask])
        assert torch.equal(batch.input_id, mask.nonzero().view(-1))

    @pytest.mark.parametrize("mode", [None, "binary", "triplet"])
    def test_links(self, mode):
        data = timed_data()
        times = torch.full((data.num_edges,), 3)
        loader = LinkNeighborLoader(
            data,
            [-1],
            time_attr="time",
            edge_label_time=times,
            neg_sampling=mode,
            batch_size=6,
            progress=False,
        )
        for batch in loader:
            drawn = batch.edge_index[0]
            assert (batch.time[drawn] <= 3).all()
            assert batch.batch.max() == 5

    @pytest.mark.parametrize("mode", ["binary", "triplet"])
    @pytest.mark.parametrize("strict", [False, True])
    def test_negatives_are_no_later_than_their_links(self, mode, *, strict):
        data = timed_data()
        data.time[4] = 0  # some node is early enough for every link
        times = torch.arange(data.num_edges) % 6
        loader = LinkNeighborLoader(
            data,
            [-1],
            time_attr="time",
            edge_label_time=times,
            neg_sampling=gm.LinkNegatives(mode, 7, strict=strict),
            batch_size=6,
            seed=1,
            progress=False,
        )
        for batch in loader:
            own, num = times[batch.input_id], len(batch.input_id)
            if mode == "triplet":
                assert (batch.time[batch.dst_neg_index] <= own.view(-1, 1)).all()
            else:
                assert torch.equal(batch.edge_label_time, own.repeat(8))
                assert (batch.time[batch.edge_label_index[:, num:]] <= own.repeat(7)).all()
        times[3] = -1
        with pytest.raises(ValueError, match="a link has the time -1"):
            LinkNeighborLoader(
                data,
                [1],
                time_attr="time",
                edge_label_time=times,
                neg_sampling=mode,
                progress=False,
            )

    @pytest.mark.parametrize("mode", ["binary", "triplet"])
    def test_negatives_of_one_kind_are_those_of_many_with_one(self, mode):
        data = timed_data()
        typed = HeteroData()
        typed["v"].time, typed["v"].num_nodes = data.time, NUM_NODES
        typed["v", "to", "v"].edge_index = data.edge_index
        options = {
            "time_attr": "time",
            "edge_label_time": torch.full((data.num_edges,), 3),
            "neg_sampling": gm.LinkNegatives(mode, 3),
            "batch_size": 6,
            "seed": 1,
            "progress": False,
        }
        ones = LinkNeighborLoader(data, [-1], edge_label_index=data.edge_index, **options)
        links = (("v", "to", "v"), data.edge_index)
        many = LinkNeighborLoader(typed, [-1], edge_label_index=links, **options)
        for one, other in zip(ones, many, strict=True):
            part = other["v", "to", "v"] if mode == "binary" else other["v"]
            for name in ("edge_label_index",) if mode == "binary" else ("dst_neg_index",):
                assert torch.equal(one.n_id[one[name]], other["v"].n_id[part[name]])

    def test_a_copy_in_another_process_has_them(self):
        data = timed_data()
        loader = NeighborLoader(data, [2], time_attr="time", batch_size=6, seed=1, progress=False)
        again = pickle.loads(pickle.dumps(loader))  # noqa: S301
        for batch, wanted in zip(again, loader, strict=True):
            assert torch.equal(batch.e_id, wanted.e_id)
            assert torch.equal(batch.seed_time, wanted.seed_time)
        assert again.data.time.tolist() == data.time.tolist()

    def test_they_are_found_by_their_usual_name(self):
        data = timed_data()
        options = {"input_time": torch.full((NUM_NODES,), 2), "batch_size": 12, "progress": False}
        (named,) = NeighborLoader(data, [-1], time_attr="time", **options)
        (found,) = NeighborLoader(data, [-1], **options)
        assert torch.equal(found.e_id, named.e_id)

    def test_other_times_and_directions_are_compiled_apart(self):
        data = timed_data()
        later = copy.copy(data)
        later.time = data.time + 1
        folders = {
            NeighborLoader(
                one, [1], time_attr="time", direction=direction, progress=False
            )._data.graph.path
            for one in (data, later)
            for direction in ("in", "out")
        }
        assert len(folders) == 4

    @pytest.mark.parametrize(
        ("times", "message"),
        [
            (torch.rand(NUM_NODES), "one integer is needed for each node, .* torch.float32"),
            (torch.zeros(NUM_NODES, 2, dtype=torch.int64), r"these are of shape \(12, 2\)"),
        ],
    )
    def test_times_that_are_none(self, times, message):
        data = timed_data()
        data.time = times
        with pytest.raises(ValueError, match=message):
            NeighborLoader(data, [1], time_attr="time", progress=False)

    def test_edges_that_lead_nowhere_are_named_as_without_times(self):
        data = timed_data()
        data.edge_index[0, 7] = 99
        for time_attr in (None, "time"):
            with pytest.raises(SourceError, match="99"):
                NeighborLoader(data, [1], time_attr=time_attr, progress=False)

    def test_nobody_has_them(self):
        data = timed_data()
        for times in (None, data.time):
            with pytest.raises(MissingDataError, match="neither a node-level or edge-level attr"):
                NeighborLoader(data, [1], time_attr="year", input_time=times, progress=False)
        data.edge_time = torch.arange(data.num_edges)
        with pytest.raises(ValueError, match="needs input_time="):
            NeighborLoader(data, [1], time_attr="edge_time", progress=False)
        with pytest.raises(ValueError, match="'edge_label_time' is not set"):
            LinkNeighborLoader(data, [1], time_attr="time", progress=False)

    def test_a_path_of_many_kinds_has_them_too(self, tmp_path):
        gm.compile_dataset(
            tmp_path / "d",
            nodes={"v": gm.Nodes(num_nodes=4, timestamps=[9, 5, 7, 8])},
            edges={("v", "to", "v"): ([1, 2, 3], [0, 0, 0])},
            order="given",
        )
        loader = NeighborLoader(tmp_path / "d", [-1], ("v", [3, 0]), time_attr="time", batch_size=2)
        (batch,) = loader
        assert batch["v"].seed_time.tolist() == [8, 9]

    def test_attributes_whose_rows_are_those_of_edges_and_nodes(self):
        # As many edges as nodes: PyG takes such an attribute for one of nodes, unless its name has
        # "edge" in it, and so do we.
        data = timed_data(num_edges=NUM_NODES)
        assert data.is_node_attr("time")
        (batch,) = NeighborLoader(data, [-1], time_attr="time", batch_size=12, progress=False)
        assert torch.equal(batch.seed_time, data.time)
        data.edge_time = torch.arange(NUM_NODES)
        options = {"time_attr": "edge_time", "input_time": torch.full((NUM_NODES,), 5)}
        for batch in NeighborLoader(data, [-1], progress=False, **options):
            assert (batch.edge_time <= 5).all()


class TestLinksOfOtherRelations:
    """PyG takes links of a relation that the graph has no edges of: predicted, not followed."""

    @pytest.fixture
    def data(self):
        data = HeteroData()
        data["user"].x = torch.rand(6, 2)
        data["item"].x = torch.rand(5, 2)
        data["item", "near", "item"].edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
        data["item", "seen_by", "user"].edge_index = torch.tensor([[0, 1, 4], [0, 1, 2]])
        return data

    @pytest.mark.parametrize(
        "fanouts",
        [
            [2, 2],
            {("item", "near", "item"): [2, 2], ("item", "seen_by", "user"): [2, 2]},
            NumNeighbors({("item", "near", "item"): [2, 2]}, default=[2, 2]),
        ],
        ids=["a list", "a dict", "NumNeighbors"],
    )
    def test_they_are_predicted_and_not_followed(self, data, fanouts):
        buys = ("user", "buys", "item")
        links = torch.tensor([[0, 1, 2, 5], [3, 3, 4, 0]])
        loader = LinkNeighborLoader(
            data, fanouts, (buys, links), neg_sampling="binary", batch_size=4, progress=False
        )
        (batch,) = loader
        ends = batch[buys].edge_label_index
        assert torch.equal(batch["user"].n_id[ends[0, :4]], links[0])
        assert torch.equal(batch["item"].n_id[ends[1, :4]], links[1])
        assert batch[buys].edge_label.tolist() == [1, 1, 1, 1, 0, 0, 0, 0]
        assert set(batch[buys]) == {"input_id", "edge_label_index", "edge_label"}
        assert set(batch.edge_index_dict) == set(data.edge_types)
        assert batch["item", "seen_by", "user"].num_sampled_edges[0] > 0

    def test_two_types_stand_for_a_relation_called_to(self, data):
        links = torch.tensor([[0], [3]])
        (batch,) = LinkNeighborLoader(data, [1], (("user", "item"), links), progress=False)
        assert batch["user", "to", "item"].edge_label_index.shape == (2, 1)

    def test_a_name_that_may_be_a_slip_gives_a_warning(self, data):
        links = torch.tensor([[0], [1]])
        with pytest.warns(UserWarning, match=r"no edges of \('item', 'sen_by', 'user'\), but"):
            LinkNeighborLoader(data, [1], (("item", "sen_by", "user"), links), progress=False)

    def test_a_graph_without_edges(self):
        data = HeteroData(paper={"num_nodes": 50})
        links = torch.randint(0, 50, (2, 30))
        loader = LinkNeighborLoader(
            data, [], (("paper", "paper"), links), batch_size=10, progress=False
        )
        assert len(loader) == 3
        for batch in loader:
            ends = batch["paper", "paper"].edge_label_index
            assert torch.equal(
                batch["paper"].n_id[ends], links[:, batch["paper", "paper"].input_id]
            )
            assert batch["paper"].num_nodes == ends.unique().numel()

    @pytest.mark.filterwarnings("ignore:num_neighbors=:UserWarning")
    @pytest.mark.parametrize("fanouts", [[], [2, 2]])
    @pytest.mark.parametrize("many", [False, True])
    def test_nodes_of_a_graph_without_edges(self, many, fanouts):
        if many:
            data = HeteroData(paper={"x": torch.rand(7, 2)})
            (batch,) = NeighborLoader(data, fanouts, "paper", batch_size=7, progress=False)
            part = batch["paper"]
        else:
            data = Data(x=torch.rand(7, 2), edge_index=torch.empty(2, 0, dtype=torch.int64))
            (part,) = NeighborLoader(data, fanouts, batch_size=7, progress=False)
        assert part.n_id.tolist() == list(range(7))
        assert part.batch_size == 7

    @pytest.mark.parametrize(
        ("links", "kind", "message"),
        [
            ((("user", "buys", "shop"), [[0], [0]]), ValueError, "no relation .*'shop'"),
            (("user", "buys", "item"), ValueError, "no relation"),
            ((("user", "seen_by", "item"), None), ValueError, "'seen_by' leads from 'item' to 'us"),
            (torch.tensor([[0], [1]]), TypeError, "must be a relation and its links"),
        ],
        ids=["no type", "no links", "turned round", "no relation"],
    )
    def test_what_is_wrong(self, data, links, kind, message):
        with pytest.raises(kind, match=message):
            LinkNeighborLoader(data, [1], links, progress=False)
