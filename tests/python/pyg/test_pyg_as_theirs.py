"""Batches as PyG's own loaders make them: the same attributes, of the same kinds.

PyG's loaders take our sampler, and put batches together by themselves. So their batches say what
ours must have, for one kind of nodes and for many.
"""

from __future__ import annotations

import itertools
import pickle

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data, HeteroData  # noqa: E402
from torch_geometric.loader import LinkLoader, NodeLoader, ZipLoader  # noqa: E402
from torch_geometric.sampler import NegativeSampling, NumNeighbors  # noqa: E402

import graphmount as gm  # noqa: E402
import graphmount.pyg  # noqa: E402
from graphmount.pyg import LinkNeighborLoader, NeighborLoader  # noqa: E402

NUM_NODES, NUM_EDGES = 20, 60
CITES, WRITES, BY = ("p", "cites", "p"), ("a", "writes", "p"), ("p", "by", "a")
SUBGRAPHS = ["directional", "bidirectional", "induced"]


def make_object(*, many):
    """A `Data`, or a `HeteroData` of two types and three relations, with attributes of all."""
    generator = torch.Generator().manual_seed(3)
    data = HeteroData() if many else Data()
    for name in ("p", "a") if many else (None,):
        nodes = data[name] if many else data
        nodes.x = torch.rand(NUM_NODES, 3, generator=generator)
        nodes.y = torch.arange(NUM_NODES)
        nodes.train_mask = torch.arange(NUM_NODES) % 3 == 0
    for relation in (CITES, WRITES, BY) if many else (None,):
        edges = data[relation] if many else data
        edges.edge_index = torch.randint(0, NUM_NODES, (2, NUM_EDGES), generator=generator)
        edges.edge_attr = torch.rand(NUM_EDGES, 2, generator=generator)
        edges.edge_time = torch.arange(NUM_EDGES)
    return data


@pytest.fixture(scope="module", autouse=True)
def kept(tmp_path_factory):
    """One cache for all of these tests, which use the same objects."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHMOUNT_CACHE", str(tmp_path_factory.mktemp("kept")))
        yield


@pytest.fixture(autouse=True)
def cache():
    """Instead of one for each test."""


def flat(batch):
    """All attributes, by the part that has them and their names."""
    if isinstance(batch, Data):
        return {(None, name): value for name, value in batch.to_dict().items()}
    return {(part._key, name): value for part in batch.stores for name, value in part.items()}


def kinds_of(batch):
    """What kind each attribute is of; integers of any width are of one.

    `adjs` is ours alone, and `num_nodes` is always there: nodes may have nothing else.
    """
    found = {}
    for key, value in flat(batch).items():
        if key[1] in ("adjs", "num_nodes"):
            continue
        if isinstance(value, torch.Tensor):
            is_wide = value.dtype in (torch.int32, torch.int64)
            found[key] = ("integers" if is_wide else value.dtype, value.ndim)
        else:
            found[key] = type(value)
    return found


@pytest.fixture(scope="module", params=[False, True], ids=["one kind", "many kinds"])
def both(request, tmp_path_factory):
    """An object of PyG, and a dataset of the same edges for our sampler."""
    data = make_object(many=request.param)
    path = tmp_path_factory.mktemp("both") / "d"
    gm.from_pyg(data, path, order="given", timestamps="edge_time", progress=False)
    return data, gm.Dataset(path)


@pytest.mark.parametrize("subgraph_type", SUBGRAPHS)
@pytest.mark.parametrize("timed", [False, True])
def test_batches_of_nodes_have_what_those_of_pyg_have(both, subgraph_type, timed):
    data, ds = both
    nodes = ("p", torch.arange(12)) if isinstance(data, HeteroData) else torch.arange(12)
    times = torch.full((12,), 30) if timed else None
    sampler = gm.pyg.NeighborSampler(
        ds, [2, 2], source_rows=True, subgraph_type=subgraph_type, disjoint=timed
    )
    theirs = NodeLoader(data, sampler, nodes, input_time=times, batch_size=5)
    ours = NeighborLoader(
        data,
        [2, 2],
        nodes,
        input_time=times,
        time_attr="edge_time" if timed else None,
        subgraph_type=subgraph_type,
        batch_size=5,
        progress=False,
    )
    for batch, wanted in zip(ours, theirs, strict=True):
        assert kinds_of(batch) == kinds_of(wanted)


@pytest.mark.parametrize("mode", [None, "binary", "triplet"])
@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("subgraph_type", SUBGRAPHS)
def test_batches_of_links_have_what_those_of_pyg_have(both, subgraph_type, disjoint, mode):
    data, ds = both
    links = torch.randint(0, NUM_NODES, (2, 9))
    links = (CITES, links) if isinstance(data, HeteroData) else links
    options = {"subgraph_type": subgraph_type, "disjoint": disjoint}
    sampler = gm.pyg.NeighborSampler(ds, [2, 2], source_rows=True, **options)
    negatives = None if mode is None else NegativeSampling(mode, 2)
    theirs = LinkLoader(data, sampler, links, neg_sampling=negatives, batch_size=5)
    ours = LinkNeighborLoader(
        data, [2, 2], links, neg_sampling=negatives, batch_size=5, progress=False, **options
    )
    for batch, wanted in zip(ours, theirs, strict=True):
        assert kinds_of(batch) == kinds_of(wanted)


DTYPES = [
    *(torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64),
    *(torch.uint16, torch.uint32, torch.uint64, torch.float16, torch.bfloat16, torch.float32),
    *(torch.float64, torch.complex64, torch.float8_e5m2),
]


@pytest.mark.parametrize("many", [False, True])
def test_tensors_of_any_dtype_and_shape_come_as_they_are(many):
    data = HeteroData() if many else Data()
    nodes, edges = (data["p"], data["p", "to", "p"]) if many else (data, data)
    nodes.num_nodes = NUM_NODES
    edges.edge_index = torch.randint(0, NUM_NODES, (2, NUM_EDGES))
    shapes = {"row": (), "cube": (2, 2)}
    own_names = [[], []]  # of nodes, and of edges
    for dtype, (shape, rest) in itertools.product(DTYPES, shapes.items()):
        name = f"{shape}_{str(dtype).removeprefix('torch.')}"
        nodes[name] = torch.randint(0, 5, (NUM_NODES, *rest)).to(dtype)
        edges[f"edge_{name}"] = torch.randint(0, 5, (NUM_EDGES, *rest)).to(dtype)
        own_names[0].append(name)
        own_names[1].append(f"edge_{name}")
    inputs = "p" if many else None
    for batch in NeighborLoader(data, [2, 2], inputs, batch_size=10, progress=False):
        part = batch["p"] if many else batch
        relation = batch["p", "to", "p"] if many else batch
        places = ((nodes, part, part.n_id), (edges, relation, relation.e_id))
        for (own, found, ids), names in zip(places, own_names, strict=True):
            for name in names:
                wanted = torch.stack([own[name][i] for i in ids.tolist()])
                assert found[name].dtype == wanted.dtype
                assert found[name].shape == wanted.shape
                assert found[name].tolist() == wanted.tolist()


class TestFanouts:
    def test_pairs_of_types_and_defaults_are_as_in_pyg(self):
        data = HeteroData()
        data["p"].num_nodes = data["a"].num_nodes = 4
        data["a", "p"].edge_index = torch.tensor([[0, 1, 2], [0, 0, 0]])
        data["p", "p"].edge_index = torch.tensor([[1, 2, 3], [0, 0, 0]])
        numbers = NumNeighbors({("a", "p"): [1]}, default=[2])
        (batch,) = NeighborLoader(data, numbers, ("p", torch.tensor([0])), progress=False)
        assert batch["a", "p"].num_edges == 1
        assert batch["p", "p"].num_edges == 2

    @pytest.mark.parametrize(
        ("fanouts", "message"),
        [
            ({CITES: [1], WRITES: [1, 1], BY: [1, 1]}, "hops must be the same across all"),
            ({CITES: [1], WRITES: [1]}, "no entry for"),
            ({("p", "likes", "p"): [1]}, "no relation"),
            (NumNeighbors({CITES: [1, 1]}, default=[1]), "hops must be the same across all"),
            (NumNeighbors({CITES: [1]}), "Missing number of neighbors"),
            (NumNeighbors({("p", "likes", "p"): [1]}, default=[1]), "Not all edge types"),
        ],
    )
    def test_wrong_ones_are_errors_of_values_as_in_pyg(self, fanouts, message):
        with pytest.raises(ValueError, match=message):
            NeighborLoader(make_object(many=True), fanouts, "p", progress=False)


class TestZipLoader:
    @pytest.mark.parametrize("filter_per_worker", [None, False, True])
    @pytest.mark.parametrize("many", [False, True])
    def test_it_takes_our_loaders(self, many, filter_per_worker):
        data = make_object(many=many)

        def loader_of(nodes):
            inputs = ("p", nodes) if many else nodes
            return NeighborLoader(
                data, [3], inputs, progress=False, transform=lambda batch: (batch, "seen")
            )

        first, second = torch.arange(10), torch.arange(10, 17)
        zipped = ZipLoader(
            [loader_of(first), loader_of(second)],
            batch_size=5,
            filter_per_worker=filter_per_worker,
        )
        assert zipped.dataset == range(7)
        found = [[], []]
        for pair in zipped:
            for own, (batch, seen) in zip(found, pair, strict=True):
                part = batch["p"] if many else batch
                assert seen == "seen"
                own.extend(part.n_id[: part.batch_size].tolist())
        assert found == [first[:7].tolist(), second.tolist()]
        (one, _), _ = zipped(torch.tensor([6]))
        assert (one["p"] if many else one).input_id.tolist() == [6]

    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_workers_draw_anew_in_each_epoch_and_by_torchs_seed(self):
        data = Data(edge_index=torch.stack([torch.arange(1, 201), torch.zeros(200).long()]))
        data.num_nodes = 201
        loader = NeighborLoader(data, [20], torch.tensor([0, 0]), seed=1, progress=False)

        def epochs():
            torch.manual_seed(4)
            zipped = ZipLoader([loader], batch_size=1, num_workers=1)
            return [[batch.n_id.tolist() for (batch,) in zipped] for _ in range(2)]

        first, second = epochs()
        assert len({*map(tuple, first), *map(tuple, second)}) == 4
        assert epochs() == [first, second]

    def test_no_such_input(self):
        loader = NeighborLoader(make_object(many=False), [1], progress=False)
        with pytest.raises(IndexError, match="index has 20; pass positions"):
            loader.collate_fn([20])


def test_what_is_for_workers_says_that_there_are_none():
    loader = NeighborLoader(make_object(many=False), [1], batch_size=20, progress=False)
    for name, argument in {"enable_cpu_affinity": [0, 1], "enable_multithreading": 2}.items():
        enable = getattr(loader, name)
        with pytest.warns(UserWarning, match=f"{name}: without") as caught, enable(argument):
            assert len(list(loader)) == 1
        assert caught[0].filename == __file__


class TestStores:
    """Stores of `to_pyg` stand for their dataset, as in PyG's own loaders."""

    def test_they_are_taken(self, both):
        _, ds = both
        inputs = "p" if hasattr(ds, "node_types") else None
        stores = NeighborLoader(ds.to_pyg(), [2, 2], inputs, batch_size=8, seed=1)
        wanted = NeighborLoader(ds, [2, 2], inputs, batch_size=8, seed=1)
        for batch, same in zip(stores, wanted, strict=True):
            assert kinds_of(batch) == kinds_of(same)
        again = pickle.loads(pickle.dumps(ds.to_pyg()))  # noqa: S301
        assert len(NeighborLoader(again, [2, 2], inputs, batch_size=8)) == len(stores)
        assert stores.data is wanted.data
        links = CITES if inputs else None
        assert len(LinkNeighborLoader(ds.to_pyg(), [2], links, batch_size=10)) == 6

    def test_those_that_change_batches_are_refused(self, both):
        _, ds = both
        for options in ({"attributes": ["x"]}, {"dtype": torch.float64}):
            with pytest.raises(ValueError, match="pass the dataset itself, with features="):
                NeighborLoader(ds.to_pyg(**options), [2])

    def test_those_of_others_are_for_pyg(self):
        from torch_geometric.testing import MyFeatureStore, MyGraphStore

        with pytest.raises(TypeError, match=r"only those of Dataset.to_pyg\(\) are taken"):
            NeighborLoader((MyFeatureStore(), MyGraphStore()), [2])
