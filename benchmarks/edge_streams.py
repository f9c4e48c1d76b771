"""Edges made block by block, so that there may be more of them than memory holds.

A block is an int64 array of shape (edges, 2). `KnownLists` looks at the blocks on their way to a
file and keeps the neighbor lists of some nodes: what a compiled graph is checked against.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

_BLOCK_EDGES = 1 << 20
_KNOWN_NODES = 1024
_SCRAMBLER = 0x9E3779B1  # odd, so multiplying by it is one to one modulo a power of two


def node_count(edges: int, degree: int) -> int:
    """The power of two that makes the average degree at most `degree`."""
    return 1 << max(1, (-(-edges // degree) - 1).bit_length())


def _block_sizes(count: int) -> Iterator[int]:
    for first in range(0, count, _BLOCK_EDGES):
        yield min(_BLOCK_EDGES, count - first)


def rmat_blocks(count: int, num_nodes: int) -> Iterator[NDArray[np.int64]]:
    """R-MAT (0.57, 0.19, 0.19, 0.05), ids shuffled; node 0 stays, which has the most edges."""
    generator = np.random.default_rng(1)
    shuffled = np.append(0, 1 + generator.permutation(num_nodes - 1))
    for size in _block_sizes(count):
        block = np.zeros((size, 2), np.int64)
        for _ in range(num_nodes.bit_length() - 1):
            quarter = generator.random(size, np.float32)
            block <<= 1
            block[:, 0] |= quarter >= 0.76
            block[:, 1] |= ((quarter >= 0.57) & (quarter < 0.76)) | (quarter >= 0.95)
        yield shuffled[block]


def skewed_blocks(count: int, num_nodes: int) -> Iterator[NDArray[np.int64]]:
    """Both ends (num_nodes * u**3) scrambled, for u even in [0, 1); node 0 has the most edges."""
    generator = np.random.default_rng(2)
    for size in _block_sizes(count):
        even = generator.random((size, 2))
        ranks = (num_nodes * (even * even * even)).astype(np.int64)
        yield (ranks * _SCRAMBLER) & (num_nodes - 1)


def write_edges_npy(blocks: Iterable[NDArray[np.int64]], count: int, path: str) -> None:
    """An `.npy` of shape (count, 2), on the disk when this returns."""
    with open(path, "wb") as file:
        header = {"descr": "<i8", "fortran_order": False, "shape": (count, 2)}
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            block.tofile(file)
        file.flush()
        os.fsync(file.fileno())


def write_edges_csv(blocks: Iterable[NDArray[np.int64]], path: str) -> None:
    """Plain "source,destination" lines, on the disk when this returns."""
    polars = importlib.import_module("polars")  # a fast writer; it is a peer in any case
    with open(path, "wb") as file:
        for block in blocks:
            frame = polars.DataFrame({"src": block[:, 0], "dst": block[:, 1]})
            frame.write_csv(file, include_header=False)
        file.flush()
        os.fsync(file.fileno())


def digest_of_lists(nodes: Iterable[int], neighbors: Callable[[int], NDArray[np.int64]]) -> str:
    """A hash of the degrees and neighbors of these nodes, whatever order neighbors come in."""
    digest = hashlib.blake2b(digest_size=16)
    for node in nodes:
        sorted_list = np.sort(neighbors(node).astype(np.int64))
        digest.update(np.array([node, len(sorted_list)]).tobytes() + sorted_list.tobytes())
    return digest.hexdigest()


class KnownLists:
    """True neighbor lists of about a thousand nodes, the one with the most edges among them."""

    def __init__(self, num_nodes: int, directions: Iterable[str]) -> None:
        self.step = max(1, num_nodes // _KNOWN_NODES)
        self.num_edges = 0
        self.num_nodes = 0
        self._edges: dict[str, list[NDArray[np.int64]]] = {name: [] for name in directions}

    def watch(self, blocks: Iterable[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
        """Passes the blocks on."""
        for block in blocks:
            self.num_edges += len(block)
            self.num_nodes = max(self.num_nodes, int(block.max()) + 1)
            for direction, kept in self._edges.items():
                owners = block[:, 1 if direction == "in" else 0]
                kept.append(block[owners & (self.step - 1) == 0])
            yield block

    def facts(self) -> dict[str, object]:
        """What `compiled_lists` should say about a graph of these edges."""
        facts: dict[str, object] = {"num_nodes": self.num_nodes, "num_edges": self.num_edges}
        for direction, kept in self._edges.items():
            place = 1 if direction == "in" else 0
            edges = np.concatenate(kept)
            edges = edges[np.argsort(edges[:, place], kind="stable")]
            nodes = range(0, self.num_nodes, self.step)
            bounds = np.searchsorted(edges[:, place], [*nodes, self.num_nodes])
            lists = dict(zip(nodes, np.split(edges[:, 1 - place], bounds[1:-1]), strict=True))
            facts[direction] = digest_of_lists(nodes, lists.__getitem__)
        return facts
