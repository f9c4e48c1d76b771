"""The edges of a layer as the core's loops take them, from a sparse matrix or an `edge_index`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from graphmount import _core
from graphmount._support.shown import shown
from graphmount.errors import IdError
from graphmount.torch.batches.aggregated_hop import AggregatedHop
from graphmount.torch.batches.layer_matrices import TURNED_MARK
from graphmount.torch.batches.sparse import are_lists_sound
from graphmount.torch.nn.operators import calls_by_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What a layer takes for rows: those of all nodes, or those of sources and of targets.
Rows = torch.Tensor | tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True, eq=False)
class Edges:
    """For each target, the sources of its edges: `sources[starts[i]]` to `sources[starts[i + 1]]`.

    Attributes:
        starts: One for each target, and the end of the last.
        sources: One for each edge.
        num_sources: How many there are to number.
        turned: The same edges by source, if the loader has made that.
        order: Where each edge was in an `edge_index` that they were made of; None for a matrix.
    """

    starts: torch.Tensor
    sources: torch.Tensor
    num_sources: int
    turned: torch.Tensor | None = None
    order: torch.Tensor | None = None

    @property
    def num_targets(self) -> int:
        """How many rows the layer gives."""
        return len(self.starts) - 1

    def with_self_loops(self) -> Edges:
        """The same with one edge from each target to itself, and no other such."""
        if self.num_sources < self.num_targets:
            raise ValueError(
                f"there are {self.num_targets} rows of targets and only {self.num_sources} of "
                "sources, so not each target can have an edge from itself; pass "
                "add_self_loops=False where a layer has that"
            )
        starts = self.starts.new_empty(self.num_targets + 1)
        sources = self.sources.new_empty(len(self.sources) + self.num_targets)
        lists = lists_of(self.starts, self.sources, self.num_sources)
        count = _core.add_self_loops(lists, flat(starts), flat(sources))
        return Edges(starts, sources[:count], self.num_sources)

    def is_cheaper_first(self, inputs: int, outputs: int) -> bool:
        """Whether sums of rows as they are, and then a product, take less than the product first.

        Both give the same. Targets are fewer than sources, so a product is smaller after it; but if
        it makes rows much narrower, sums are. A product takes about a tenth of the time of a sum
        for each number.
        """
        saved = (self.num_sources - self.num_targets) * inputs * outputs / 10
        return saved > len(self.sources) * (inputs - outputs)


def divide_rows(x: Rows, adj: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows of sources and those of targets. Of rows for all nodes, targets are the first.

    Raises:
        TypeError: `x` or `adj` is something else.
        ValueError: They are no rows of floats, or not in the memory of the processor.
    """
    if isinstance(adj, AggregatedHop):
        raise ValueError(  # noqa: TRY004  (an adj of the right kind, in the wrong place)
            f"adj stands for edges that the loader has aggregated along, to a {adj.reduce}, and "
            "this needs the rows of neighbors themselves; make the loader without aggregate_last"
        )
    if not isinstance(adj, torch.Tensor):
        raise TypeError(
            f"adj must be a sparse CSR tensor, such as those of batch.adjs, or an edge_index, "
            f"not {shown(adj)}"
        )
    _require_rows(x)
    for rows in x if isinstance(x, tuple) else (x,):
        if rows.device.type != "cpu":
            raise ValueError(
                f"x is on {rows.device}, and this works on a processor; use PyG's layers there"
            )
    if isinstance(x, tuple):
        return x
    return x, x[: adj.size(0)] if adj.layout == torch.sparse_csr else x


def take_aggregated(x: Rows, hop: AggregatedHop, reduce: str) -> tuple[torch.Tensor, torch.Tensor]:
    """What the loader has made of the rows of neighbors, and the rows of targets, on any device.

    Raises:
        TypeError: `x` is no pair.
        ValueError: The layer needs something else than the loader has made; or these are not the
            rows of that hop.
    """
    if hop.reduce != reduce:
        raise ValueError(
            f"the loader has made the {hop.reduce} of the rows of neighbors, and this layer takes "
            f"their {reduce}; make the loader "
            + ("without aggregate_last" if reduce == "max" else f"with aggregate_last={reduce!r}")
        )
    _require_rows(x)
    if not isinstance(x, tuple):
        raise TypeError(
            "x must be a pair where the loader has aggregated: (batch.aggregated['x'], batch.x), "
            "or (batch.x_aggregated, batch.x) with PyG's batches"
        )
    if not len(x[0]) == len(x[1]) == hop.num_targets:
        raise ValueError(
            f"x has {len(x[0])} aggregated rows and {len(x[1])} of targets; there are "
            f"{hop.num_targets} targets"
        )
    return x


def _require_rows(x: Rows) -> None:
    """Raises unless these are rows of floats, or a pair of them."""
    if isinstance(x, tuple) and len(x) != 2:
        raise TypeError(f"x must be a tensor or a pair of tensors, not {len(x)} of them")
    for rows in x if isinstance(x, tuple) else (x,):
        if not isinstance(rows, torch.Tensor):
            raise TypeError(
                f"x must be a tensor, or one of sources and one of targets, not {shown(rows)}"
            )
        if _is_of_func(rows):
            raise RuntimeError(
                "this has first derivatives by autograd (backward, torch.autograd.grad), and not "
                "through torch.func; use autograd, or PyG's layers"
            )
        if rows.layout != torch.strided or rows.dim() != 2 or not rows.is_floating_point():
            raise ValueError(
                f"x must be rows of floats, not {rows.dtype} of the shape {tuple(rows.shape)}"
            )


def _is_of_func(rows: torch.Tensor) -> bool:
    """Whether a tensor stands for another one inside `torch.func.grad` and its like."""
    functorch = getattr(torch._C, "_functorch", None)  # noqa: SLF001  (there is no public call)
    asks = getattr(functorch, "is_gradtrackingtensor", None)
    return asks is not None and bool(asks(rows))


def edges_of(adj: torch.Tensor, num_sources: int, num_targets: int) -> Edges:
    """The edges of a CSR tensor whose rows are targets, or of an `edge_index`.

    Raises:
        ValueError: The matrix has another size, values other than 1, or offsets that cannot be; or
            `adj` is neither.
        IdError: An edge has an end that does not exist.
    """
    if adj.layout == torch.sparse_csr:
        if tuple(adj.shape) != (num_targets, num_sources):
            raise ValueError(
                f"adj has {adj.size(0)} rows and {adj.size(1)} columns; there are {num_targets} "
                f"rows of targets and {num_sources} of sources"
            )
        if not bool((adj.values() == 1).all()):
            raise ValueError(
                "adj has values other than 1; edge weights are not for these layers: use PyG's, "
                "or torch.sparse.mm"
            )
        turned = getattr(adj, TURNED_MARK, None)
        edges = Edges(adj.crow_indices().long(), adj.col_indices().long(), num_sources, turned)
        if not are_lists_sound(edges.starts, edges.sources, num_sources):
            _refuse(edges)
        return edges
    if adj.layout != torch.strided or adj.dim() != 2 or len(adj) != 2 or adj.dtype != torch.int64:
        raise ValueError(
            "adj must be a sparse CSR tensor whose rows are targets, such as those of batch.adjs, "
            f"or an edge_index of int64 and the shape (2, edges), not {adj.dtype} "
            f"{tuple(adj.shape)} {adj.layout}"
        )
    sources, targets = adj.contiguous()
    _require_ids("comes from row", sources, num_sources, "sources")
    _require_ids("leads to row", targets, num_targets, "targets")
    # Each edge is a list of one entry, its target: turned round, they lie by target.
    starts, order, _ = turn_round(torch.arange(len(targets) + 1), targets, num_targets)
    return Edges(starts, sources[order], num_sources, order=order)


def _refuse(edges: Edges) -> None:
    """Says what is wrong with edges."""
    _require_ids("comes from row", edges.sources, edges.num_sources, "sources")
    raise ValueError(
        "adj: crow_indices must ascend from 0 to the number of entries; make the matrix with "
        "torch.sparse_csr_tensor(..., check_invariants=True)"
    )


def _require_ids(what: str, ids: torch.Tensor, count: int, rows: str) -> None:
    if len(ids) == 0:
        return
    low, high = (int(end) for end in ids.aminmax())
    if low < 0 or high >= count:
        bad = low if low < 0 else high
        raise IdError(f"adj: an edge {what} {bad}, and there are {count} rows of {rows}")


def turn_round(
    starts: torch.Tensor,
    others: torch.Tensor,
    num_others: int,
    given: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Edges by their source: starts, for each edge its target, and its place before.

    What the loader has made of them is taken if it is `given`, and if they are still the same.
    """
    if given is not None and len(given) == num_others + 2 + 2 * len(others):
        mark, *_ = given[:1].tolist()
        if mark == _core.fingerprint_of_lists(lists_of(starts, others)):
            owners = given[num_others + 2 : num_others + 2 + len(others)]
            return given[1 : num_others + 2], owners, given[num_others + 2 + len(others) :]
    turned = starts.new_empty(num_others + 1)
    owners, places = (others.new_empty(len(others)) for _ in range(2))
    lists = lists_of(starts, others, num_others)
    _core.turn_edges_round(lists, flat(turned), flat(owners), flat(places))
    return turned, owners, places


def sum_rows(
    starts: torch.Tensor,
    others: torch.Tensor,
    rows: torch.Tensor,
    factors: torch.Tensor | None = None,
    *,
    mean: bool = False,
) -> torch.Tensor:
    """Sums or means of rows, by factors of entries.

    Args:
        starts: Where the entries of each list begin, and the last ones end.
        others: The row of each entry.
        rows: Of the shape (rows, columns), or (rows, heads, columns).
        factors: One for each entry, or for each entry and head.
        mean: Whether to divide by the number of entries.

    Returns:
        The same shape, with as many rows as there are lists.
    """
    heads = rows.size(1) if rows.dim() == 3 else 1
    out = rows.new_empty(len(starts) - 1, *rows.shape[1:])
    own = flat(_nothing(rows) if factors is None else factors)
    lists, shape = lists_of(starts, others, len(rows)), (heads, rows.size(-1))
    _SUM_ROWS[rows.dtype](lists, shape, flat(rows), own, mean, flat(out))
    return out


def return_sums(
    turned: tuple[torch.Tensor, torch.Tensor],
    gradient: torch.Tensor,
    *,
    factors: torch.Tensor | None = None,
    means: torch.Tensor | None = None,
    of_first: torch.Tensor | None = None,
) -> torch.Tensor:
    """The gradient of rows, by that of their sums or means.

    Args:
        turned: The edges by source: where those of each source begin, and the targets they lead to.
        gradient: A row for each target, of the shape (targets, columns).
        factors: One for each edge, in that order.
        means: Where the edges of each target begin, if means were made.
        of_first: What is added to the gradient of the first rows.
    """
    starts, others = turned
    out = gradient.new_empty(len(starts) - 1, gradient.size(1))
    nothing = _nothing(gradient)
    _RETURN_SUMS[gradient.dtype](
        lists_of(starts, others, len(gradient)),
        (1, gradient.size(1)),
        flat(gradient),
        flat(nothing if factors is None else factors),
        flat(starts.new_empty(0) if means is None else means),
        flat(gradient.new_empty(0) if of_first is None else of_first),
        flat(out),
    )
    return out


def _nothing(rows: torch.Tensor) -> torch.Tensor:
    """No factors, of the dtype that these rows are summed in."""
    exact = rows.dtype if rows.dtype in (torch.float32, torch.float64) else torch.float32
    return torch.empty(0, dtype=exact)


def lists_of(
    starts: torch.Tensor, others: torch.Tensor, num_others: int = 0
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Lists of entries as the core takes them: each is one of so many rows."""
    return flat(starts), flat(others), num_others


def flat(tensor: torch.Tensor) -> NDArray[Any]:
    """The values of a tensor in one dimension, for the core; a copy if they do not lie together.

    Floats of 16 bits are given as their bits.
    """
    values = tensor.detach().contiguous().view(-1)
    if values.dtype in (torch.float16, torch.bfloat16):
        return values.view(torch.int16).numpy().view(np.uint16)
    found: NDArray[Any] = values.numpy()
    return found


_SUM_ROWS = calls_by_dtype("sum_rows")
_RETURN_SUMS = calls_by_dtype("return_sums")
