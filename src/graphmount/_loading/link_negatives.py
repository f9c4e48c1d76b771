"""Which negatives a loader of links draws: PyG's two modes, and what graphmount adds to them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphmount import _core
from graphmount._loading.epochs.state import checksum_of
from graphmount._support.arguments import as_number, as_plain, require_choice
from graphmount._support.display import Displayed
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from graphmount._mount.negative_sampling import NegativeWeighting

#: Pairs of nodes, or destinations for the source of each link.
NegativeMode = Literal["binary", "triplet"]


@dataclass(frozen=True, repr=False)
class LinkNegatives(Displayed):
    """Negatives for each batch of a `LinkNeighborLoader`: PyG's `NegativeSampling`, and more.

    Attributes:
        mode: "binary" draws pairs of nodes and gives them the label 0. "triplet" keeps the source
            of each link and draws destinations for it.
        amount: How many negatives to draw for each link. In binary mode it need not be a whole
            number: the total for a batch is rounded up.
        weighting: "uniform" draws all nodes alike; "degree" draws a destination in proportion to
            its incoming edges, a source in proportion to its outgoing ones.
        strict: Whether to draw only pairs that are no edge of the graph, whatever the time of the
            edge. If every node is the destination of an edge from the source, any node may be
            drawn. With weights or times of nodes, a pair may also be an edge after 64 draws in a
            row that may not stay.
        self_loops: Whether a negative may pair a node with itself. If None, only if not strict.
        src_weight: A weight for each node: sources are drawn in proportion to it. If only one of
            the two ends has weights, the other is drawn uniformly.
        dst_weight: A weight for each node: destinations are drawn in proportion to it.

    Raises:
        ValueError: There is no such mode or weighting; the amount is not above 0, or not a whole
            number for triplets; or both weights and a weighting are given.

    Examples:
        >>> import graphmount as gm
        >>> gm.LinkNegatives("triplet", 5, weighting="degree").amount
        5
    """

    mode: NegativeMode
    amount: float = 1
    _: KW_ONLY
    weighting: NegativeWeighting = "uniform"
    strict: bool = True
    self_loops: bool | None = None
    src_weight: ArrayLike | None = field(default=None, repr=False, compare=False)
    dst_weight: ArrayLike | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_choice("mode", self.mode, ("binary", "triplet"))
        require_choice("weighting", self.weighting, ("uniform", "degree"))
        require_choice("strict", self.strict, (False, True))
        require_choice("self_loops", self.self_loops, (None, False, True))
        amount = as_number(self.amount)
        if amount is None or not amount > 0 or not math.isfinite(amount):
            raise ValueError(f"amount must be a number above 0, not {self.amount!r}")
        if self.mode == "triplet" and amount != math.floor(amount):
            raise ValueError(f"amount must be whole for triplets, not {self.amount!r}")
        has_weights = self.src_weight is not None or self.dst_weight is not None
        if has_weights and self.weighting != "uniform":
            raise ValueError(
                f"weighting={self.weighting!r} and weights of nodes are two ways to draw; give one"
            )


def as_negatives(neg_sampling: Any, ratio: float | None = None) -> LinkNegatives | None:  # noqa: ANN401
    """Negatives as users give them: ours, PyG's, the name of a mode, or what makes one of these.

    Args:
        neg_sampling: The `neg_sampling` of `LinkNeighborLoader`.
        ratio: `neg_sampling_ratio`, PyG's older way to ask for binary ones.

    Raises:
        TypeError: It is none of these.
        ValueError: An option of `LinkNegatives` is wrong, or both arguments are given.
    """
    number = 0 if ratio is None else as_number(ratio)
    if number is None or not 0 <= number < math.inf:
        raise ValueError(f"neg_sampling_ratio must be a number of at least 0, not {shown(ratio)}")
    if number > 0:
        if neg_sampling is not None:
            raise ValueError("neg_sampling_ratio is another way to say neg_sampling; give one")
        return LinkNegatives("binary", number)
    if neg_sampling is None or isinstance(neg_sampling, LinkNegatives):
        return neg_sampling
    if isinstance(neg_sampling, str):
        return LinkNegatives(neg_sampling)  # type: ignore[arg-type]  # it is checked there
    if isinstance(neg_sampling, Mapping | tuple | list):
        return _made_of(neg_sampling)
    mode = getattr(neg_sampling, "mode", None)  # PyG's has an enum there
    if mode is None or not hasattr(neg_sampling, "amount"):
        raise TypeError(
            "neg_sampling must be graphmount.LinkNegatives, PyG's NegativeSampling, 'binary' or "
            f"'triplet', not {neg_sampling!r}"
        )
    return LinkNegatives(
        getattr(mode, "value", mode),
        neg_sampling.amount,
        src_weight=getattr(neg_sampling, "src_weight", None),
        dst_weight=getattr(neg_sampling, "dst_weight", None),
    )


def _made_of(options: Mapping[str, Any] | Sequence[Any]) -> LinkNegatives:
    """Negatives of their options, as PyG takes them: by name, or mode and amount."""
    if isinstance(options, Mapping):
        known = {each.name for each in fields(LinkNegatives) if each.name != "_"}
        if "mode" in options and set(options) <= known:
            return LinkNegatives(**options)
    elif 1 <= len(options) <= 2:
        return LinkNegatives(*options)
    raise ValueError(
        "neg_sampling must be (mode, amount), or the options of a LinkNegatives with its mode, not "
        f"{shown(options)}"
    )


def to_core(
    negatives: LinkNegatives | None,
    source_times: NDArray[np.int64] | None = None,
    destination_times: NDArray[np.int64] | None = None,
) -> _core.LinkNegatives:
    """As the core takes them.

    Args:
        negatives: What a user wants.
        source_times: The time of each node that can be a source, if those count that are not later
            than the link.
        destination_times: The same of destinations.
    """
    none = np.empty(0, np.int64)
    if negatives is None:
        negatives = LinkNegatives("binary", strict=False)
        mode = "none"
    else:
        mode = negatives.mode
    return _core.LinkNegatives(
        mode=mode,
        amount=negatives.amount,
        weighting=negatives.weighting,
        strict=negatives.strict,
        self_loops=_may_loop(negatives),
        source_weights=_as_weights(negatives.src_weight, "src_weight"),
        destination_weights=_as_weights(negatives.dst_weight, "dst_weight"),
        source_times=none if source_times is None else source_times,
        destination_times=none if destination_times is None else destination_times,
    )


def _may_loop(negatives: LinkNegatives) -> bool:
    return not negatives.strict if negatives.self_loops is None else negatives.self_loops


def negative_facts(negatives: LinkNegatives | None) -> dict[str, Any]:
    """What decides which negatives a batch has, but for its links: see `order_facts`."""
    if negatives is None:
        return {"neg_sampling": None}
    weights = {"src_weight": negatives.src_weight, "dst_weight": negatives.dst_weight}
    return {
        "neg_sampling": negatives.mode,
        "amount": float(negatives.amount),
        "weighting": negatives.weighting,
        "strict": negatives.strict,
        "self_loops": _may_loop(negatives),
    } | {
        name: None if given is None else checksum_of(_as_weights(given, name))
        for name, given in weights.items()
    }


def _as_weights(weights: ArrayLike | None, name: str) -> NDArray[np.float64]:
    """Weights as the core takes them, which checks them; none, if there are none."""
    if weights is None:
        return np.empty(0)
    array = as_plain(weights, name)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(f"{name} has the shape {array.shape}; give one weight for each node")
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be numbers, not {array.dtype}")
    return np.ascontiguousarray(array, np.float64)
