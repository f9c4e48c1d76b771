"""Edges made block by block, so that there may be more of them than memory holds.

A block is an int64 array of shape (edges, 2). `KnownLists` looks at the blocks on their way to a
file and keeps the neighbor lists of some nodes: what a compiled graph is checked against.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import numpy as np

from .text_writer import write_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

_BLOCK_EDGES = 1 << 20
_KNOWN_NODES = 1024
_MIXING = 0.2  # of the ends of edges, outside of their node's community
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


def _bounded_powers(
    generator: np.random.Generator, count: int, exponent: float, least: float, most: float
) -> NDArray[np.int64]:
    """Integers in [least, most] whose density falls with this power."""
    power = 1 - exponent
    even = generator.random(count)
    drawn = (least**power + even * (most**power - least**power)) ** (1 / power)
    return np.asarray(drawn, np.int64)


def _least_degree(mean: float, most: float) -> float:
    """Where degrees must begin so that they have this mean, up to rounding."""
    low, high = 1.0, mean
    for _ in range(50):
        least = (low + high) / 2
        ratio = least / most
        # Integers are half a unit below what they are rounded from.
        is_below = 3 * least * (1 - ratio**0.5) / (1 - ratio**1.5) < mean + 0.5
        low, high = (least, high) if is_below else (low, least)
    return low


class Communities:
    """What `community_blocks` plants: degrees, communities, and the ids that nodes get.

    `degrees` and `homes` (the community of each node, ascending) are by planted node; `ids` says
    what the node is called. It is the LFR benchmark (Lancichinetti, Fortunato and Radicchi, 2008):
    degrees fall with the power of 2.5 up to 1,000, sizes of communities with 1.5 from 50 to 5,000,
    and a fifth of the ends of edges goes elsewhere. A node has no more neighbors inside than its
    community has other members, if that can be had.
    """

    def __init__(self, count: int, num_nodes: int) -> None:
        generator = np.random.default_rng(3)
        most = max(2, min(1000, num_nodes // 8))
        degrees = _bounded_powers(
            generator, num_nodes, 2.5, _least_degree(count / num_nodes, most), most
        )
        # The mean is met by chance only nearly; a few ends more or less make it exact.
        while (excess := int(degrees.sum()) - count) != 0:
            some = generator.permutation(num_nodes)[: abs(excess)]
            degrees[some if excess < 0 else some[degrees[some] > 1]] -= np.sign(excess)
        sizes = _bounded_powers(
            generator, num_nodes // 50 + 1, 1.5, 50, max(51, min(5000, num_nodes // 4))
        )
        ends = np.cumsum(sizes)
        self.homes = np.searchsorted(ends, np.arange(num_nodes), side="right").astype(np.int32)
        room = np.bincount(self.homes)[self.homes] - 1
        # Who has no room is exchanged with somebody, again and again.
        for _ in range(100):
            homeless = np.flatnonzero((1 - _MIXING) * degrees > room)
            others = generator.integers(0, num_nodes, len(homeless))
            others, first = np.unique(others, return_index=True)
            homeless = homeless[first]
            apart = ~np.isin(others, homeless)
            homeless, others = homeless[apart], others[apart]
            degrees[homeless], degrees[others] = degrees[others], degrees[homeless]
        self.degrees = degrees
        self.ids = generator.permutation(num_nodes)
        self.generator = generator

    def by_id(self) -> NDArray[np.int32]:
        """The community of each node, by its id."""
        homes = np.empty_like(self.homes)
        homes[self.ids] = self.homes
        return homes


def community_blocks(count: int, num_nodes: int) -> Iterator[NDArray[np.int64]]:
    """Communities with moderate skew, and no node without edges; every edge runs both ways.

    Ends of edges are paired by chance, as in the configuration model: those inside a community
    within it, all others at the end. There may be repeated edges and loops, as in other families.
    """
    if count % 2 != 0 or count < num_nodes:
        raise ValueError(f"edges must be even, and at least as many as nodes, not {count}")
    planted = Communities(count, num_nodes)
    generator, ids = planted.generator, planted.ids
    bounds = np.append(np.flatnonzero(np.diff(planted.homes, prepend=-1)), num_nodes)
    elsewhere: list[NDArray[np.int32]] = []

    def paired(ends: NDArray[np.int64]) -> NDArray[np.int64]:
        pairs = ids[ends.reshape(-1, 2)]
        return np.concatenate((pairs, pairs[:, ::-1]))

    first = 0
    ends_before = np.append(0, np.cumsum(planted.degrees))
    while first < num_nodes:
        # As many whole communities as have the edges of a block.
        last = np.searchsorted(ends_before[bounds], ends_before[first] + _BLOCK_EDGES)
        end = int(bounds[min(last, len(bounds) - 1)])
        ends = np.repeat(np.arange(first, end), planted.degrees[first:end])
        stays = generator.random(len(ends)) >= _MIXING
        # Sorted by community, and by chance within; one that is left over goes elsewhere.
        ends = ends[np.argsort(planted.homes[ends] + generator.random(len(ends)))]
        ends, left = ends[stays], ends[~stays]
        homes = planted.homes[ends]
        is_last = np.diff(homes, append=-1) != 0
        is_odd = np.bincount(homes)[homes] % 2 == 1
        alone = is_last & is_odd
        elsewhere.append(np.concatenate((left, ends[alone])).astype(np.int32))
        yield paired(ends[~alone])
        first = end
    others = generator.permutation(np.concatenate(elsewhere))
    for begin in range(0, len(others), _BLOCK_EDGES):
        yield paired(others[begin : begin + _BLOCK_EDGES].astype(np.int64))


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
    with open(path, "wb") as file:
        for block in blocks:
            write_lines(file, [block[:, 0], block[:, 1]])
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
