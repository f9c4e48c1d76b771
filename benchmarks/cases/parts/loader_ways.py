"""What the benchmarks of loaders run: datasets with known rows, and the ways to take batches.

A way is a process under a memory limit: what it may use for rows, and on top the topology, the
interpreter and the batches under way.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import graphmount as gm

from ...data.edge_streams import community_blocks, rmat_blocks
from ...data.synthetic_dataset import COLUMNS, compile_edges, make_edges, write_features
from ...harness.interleaved import Participant
from ...harness.page_cache import evict
from ...jobs import job_command
from ...jobs.load_once import BATCH_SIZE, FANOUTS
from ...peers import why_not_here

SHARES = (5, 10, 25, 100)  # of the features, in percent
MAPPED = "mapped tensor, 10 %"
CALL_MEMORY = 64 << 20  # for threads, and what calls keep for the next ones
FAMILIES = {"R-MAT": rmat_blocks, "communities": community_blocks}
_LEAST_MAPPED_LIMIT = 448 << 20  # torch with batches, however small
_MAPPED_MEMORY = 190 << 20  # for the interpreter and torch; batches come on top
_TRAINING_MEMORY = 300 << 20  # for torch and the model
_WINDOWS = (1, 4, 16, 32)
_WINDOW, _PREFETCH = 16, 2  # of the loader


def make_datasets(path: str, family: str, num_nodes: int) -> str:
    """The same data twice: hot-first, and in the order of the source. Returns its features."""
    source = f"{path}.npy"
    write_features(source, num_nodes)
    edges = make_edges(num_nodes, FAMILIES[family])
    compile_edges(f"{path}-hot", edges, num_nodes, source)
    compile_edges(f"{path}-given", edges, num_nodes, source, order="given")
    return source


@dataclass(frozen=True)
class Way:
    """How batches are taken: from which files, what the process is told, and its memory limit.

    The limit is without topology, which comes on top.
    """

    folder: str
    arguments: list[str]
    limit: int

    @property
    def memory(self) -> int | None:
        """What the loader may use, if it is one."""
        if "--memory" not in self.arguments:
            return None
        return int(self.arguments[self.arguments.index("--memory") + 1])


def loader_way(path: str, memory: int, own_memory: int, *arguments: str) -> Way:
    # Past the page cache where that can be had: a generous limit must not serve rows from there.
    readers = gm.Dataset(f"{path}-hot").features["x"].readers
    reader = "uring" if "uring" in readers else "auto"
    told = ["--memory", str(memory), "--reader", reader, *arguments]
    return Way(f"{path}-hot", told, memory + own_memory)


def sample_memory(num_rows: float, num_edges: float) -> float:
    """What a sample of this size takes."""
    return num_rows * 20 + num_edges * 24


def speed_ways(path: str, size: int, num_rows: int, num_edges: int) -> dict[str, Way]:
    """The loops over mapped files, where torch is installed, and the loader with more memory."""
    mapped = ["--way", "mapped tensor"]
    batches = 2 * (num_rows * COLUMNS * 4 + int(sample_memory(num_rows, num_edges)))
    limit = max(size // 10 + _MAPPED_MEMORY + batches, _LEAST_MAPPED_LIMIT)
    own_memory = loader_memory(num_rows, num_edges)
    ways = {}
    if not why_not_here("torch"):
        ways[MAPPED] = Way(f"{path}-given", mapped, limit)
        ways["mapped tensor, hot first, 10 %"] = Way(f"{path}-hot", mapped, limit)
    for share in SHARES:
        ways[f"loader, {share} %"] = loader_way(path, size * share // 100, own_memory)
    return ways


def window_ways(path: str, size: int, own_memory: int) -> dict[str, Way]:
    return {
        f"loader, 10 %, window {window}": loader_way(
            path, size // 10, own_memory, "--window", str(window)
        )
        for window in _WINDOWS
    }


def training_ways(path: str, size: int, own_memory: int) -> dict[str, Way]:
    own_memory += _TRAINING_MEMORY
    return {
        f"trained on, {share} %": loader_way(path, size * share // 100, own_memory, "--train")
        for share in (25, 100)
    }


def cold_participants(ways: dict[str, Way]) -> dict[str, Participant]:
    """The processes that take turns, with files that are not in the page cache."""
    participants = {}
    for name, way in ways.items():
        for file in Path(way.folder).rglob("*.g[ld]"):
            evict(str(file))
        command = job_command("load_once", way.folder, *way.arguments)
        topology = (Path(way.folder) / "graph.gl").stat().st_size
        participants[name] = Participant(command, way.limit + topology)
    return participants


def batch_memory(num_rows: float, num_edges: float) -> float:
    """What docs/loading.md says of batches of this size: all that are under way together."""
    row_bytes = num_rows * COLUMNS * 4
    sample_bytes = sample_memory(num_rows, num_edges)
    return 1.3 * ((_PREFETCH + 3) * row_bytes + (_WINDOW + _PREFETCH + 2) * sample_bytes)


def try_batch(path: str) -> tuple[int, int, int]:
    """Rows and edges of a batch, and the size of the table."""
    ds = gm.Dataset(path)
    sample = ds.graph.sample_neighbors(ds.splits["train"][:BATCH_SIZE], FANOUTS, seed=0)
    return sample.num_nodes, sample.num_edges, ds.features["x"].file_bytes


def loader_memory(num_rows: int, num_edges: int) -> int:
    """What a loader's process needs besides topology and `memory=`."""
    # The last part is for what is no memory of the process: pages that it maps.
    return int(batch_memory(num_rows, num_edges)) + 3 * CALL_MEMORY
