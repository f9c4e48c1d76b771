"""Options and batches of `graphmount.pyg` are typed: a misspelt option is found before it runs."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric.data import Data  # noqa: E402

import graphmount as gm  # noqa: E402
import graphmount.pyg  # noqa: E402
import graphmount.torch  # noqa: E402
from graphmount._loading.options import LinkOptions, NodeOptions  # noqa: E402
from graphmount.pyg.loader_options import LoaderOptions  # noqa: E402

SOURCE = Path(__file__).parents[3] / "src"

SCRIPT = """
import graphmount.pyg
import graphmount.torch
from graphmount import Dataset, LinkNeighborLoader, NeighborLoader, TypedDataset

ds = Dataset("d")
nodes = graphmount.pyg.NeighborLoader(ds, [2], shuffle=True, num_workers=4, memory="1GiB")
links = graphmount.pyg.LinkNeighborLoader(ds, [2], neg_sampling="binary", batch_size=8)
tensors = graphmount.torch.NeighborLoader(ds, [2], batch_size=8, input_nodes="train")
for batch in nodes:
    reveal_type(batch.batch_size)
reveal_type(nodes([0]).num_sampled_nodes)
for link_batch in links:
    reveal_type(link_batch)
for kept in tensors.replay(8):
    reveal_type(kept)
many = TypedDataset("m")
fanouts = {("user", "likes", "item"): [2]}
reveal_type(next(iter(NeighborLoader(ds, [2]))))
reveal_type(next(iter(NeighborLoader(many, fanouts, input_nodes="user"))))
reveal_type(next(iter(LinkNeighborLoader("d", [2]))))
reveal_type(next(iter(LinkNeighborLoader(many, [2], neg_sampling="binary"))))
reveal_type(next(iter(graphmount.torch.NeighborLoader(many, [2], pin_memory=False))))
reveal_type(next(iter(graphmount.torch.LinkNeighborLoader(many, fanouts))))
for typed_kept in graphmount.torch.NeighborLoader(many, [2]).replay(8):
    reveal_type(typed_kept)


def first(loader: NeighborLoader) -> object:  # of one kind, if it does not say
    return reveal_type(next(iter(loader)))


graphmount.pyg.NeighborLoader(ds, [2], shuffling=True)
graphmount.pyg.LinkNeighborLoader(ds, [2], batchsize=8)
graphmount.torch.NeighborLoader(ds, [2], input_node="train")
graphmount.torch.LinkNeighborLoader(ds, [2], neg_sampling_ration=1.0)
graphmount.pyg.NeighborLoader(ds, [2], batch_size="8")
"""

# What takes mypy long to read is not what this is about.
SETTINGS = """
[mypy]
strict = true
cache_dir = /dev/null
[mypy-torch.*,torch_geometric.*,pytorch_lightning.*]
follow_imports = skip
ignore_missing_imports = true
[mypy-graphmount.*]
ignore_errors = true
"""


def test_mypy_finds_what_is_misspelt(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "mypy.ini").write_text(SETTINGS)
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "script.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(SOURCE), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    notes = [line for line in found.stdout.splitlines() if "Revealed type" in line]
    kinds = ["int", "list[", "LinkData", ".TensorBatch", ".Batch", ".TypedBatch", ".LinkBatch"]
    kinds += [".TypedLinkBatch", ".TypedTensorBatch", ".TypedLinkTensorBatch", ".TypedTensorBatch"]
    kinds += [".Batch"]
    assert len(notes) == len(kinds), found.stdout + found.stderr
    for note, kind in zip(notes, kinds, strict=True):
        assert kind in note
    errors: dict[str, str] = {}  # the first of each line: an overloaded call has one more
    for line in found.stdout.splitlines():
        if ": error:" in line:
            errors.setdefault(line.split(":")[1], line)
    words = ['"shuffling"', '"batchsize"', '"input_node"', '"neg_sampling_ration"', '"batch_size"']
    assert len(errors) == len(words), found.stdout
    for error, word in zip(errors.values(), words, strict=True):
        assert word in error


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("shuffling", "has no option 'shuffling'; did you mean 'shuffle'?"),
        ("input_node", "did you mean 'input_nodes'?"),
        ("num_worker", "did you mean 'num_workers'?"),
        ("qqq", "has no option 'qqq'; the others are aggregate_last, batch_size, cache"),
    ],
)
def test_a_misspelt_option_is_an_error(dataset, wrong, message, cache):
    data = Data(x=torch.ones(3, 2), edge_index=torch.tensor([[0, 1], [1, 2]]))
    for given in (dataset, data):
        with pytest.raises(TypeError) as caught:
            graphmount.pyg.NeighborLoader(given, [2], **{wrong: True})
        assert message in str(caught.value)
    assert not cache.exists()  # nothing was compiled for it
    with pytest.raises(TypeError, match="LinkNeighborLoader has no option"):
        graphmount.pyg.LinkNeighborLoader(dataset, [2], **{wrong: True})
    with pytest.raises(TypeError, match=f"NeighborLoader has no option '{wrong}'; "):
        graphmount.torch.NeighborLoader(dataset, [2], **{wrong: True})


def test_types_name_the_options_that_there_are():
    """Of graphmount's own loaders; those of torch hand all of these on."""
    for loader, options in ((gm.NeighborLoader, NodeOptions), (gm.LinkNeighborLoader, LinkOptions)):
        own = set(inspect.signature(loader).parameters) - {"data", "num_neighbors"}
        assert options.__optional_keys__ == own


def test_every_option_that_is_typed_is_taken(dataset):
    values = {
        "batch_size": 2,
        "temporal_strategy": "uniform",
        "subgraph_type": "induced",
        "direction": "in",
        "memory": "1MiB",
        "prefetch": 1,
        "window": 2,
        "reader": "auto",
        "seed": 1,
        "rank": 0,
        "world_size": 1,
        "pin_memory": False,
        "num_workers": 0,
        "timeout": 0,
        "pin_memory_device": "",
        "in_order": True,
    }
    nothing = {"generator", "prefetch_factor", "filter_per_worker", "worker_init_fn"}
    nothing |= {"multiprocessing_context", "time_of"}
    for name in LoaderOptions.__optional_keys__:
        values.setdefault(name, None if name in nothing else False)
    loader = graphmount.pyg.NeighborLoader(dataset, [2], **values)
    assert next(iter(loader)).batch_size == 2
