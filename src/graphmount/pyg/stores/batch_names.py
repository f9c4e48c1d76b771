"""Which names tables may have in PyG's batches, where they are attributes among others.

Graphmount's own batches keep tables in `features` and `edge_features`, so there a table may have
any name. PyG's `Data` has only one space of names. So if a loader, or the class itself, uses a name
for something else, a table of that name is refused when the loader or store is made: otherwise one
of the two would replace the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_geometric.data import Data

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

#: What loaders, ours or PyG's, put into batches by themselves.
OF_LOADERS = frozenset(
    {
        "adjs",
        "batch",
        "batch_size",
        "dst_neg_index",
        "dst_pos_index",
        "e_id",
        "edge_index",
        "edge_label",
        "edge_label_index",
        "edge_label_time",
        "input_id",
        "n_id",
        "num_nodes",
        "num_sampled_edges",
        "num_sampled_nodes",
        "seed_time",
        "src_index",
    }
)
#: Properties of the class that give what a batch has under this name.
_FOR_TABLES = frozenset({"edge_attr", "edge_weight", "face", "pos", "time", "x", "y"})


def name_of_aggregated(table: str) -> str:
    """Where batches have what was made of the rows of neighbors."""
    return f"{table}_aggregated"


def require_free_aggregated(tables: Iterable[str], taken: Collection[str]) -> None:
    """Raises if batches have something else where what is made of a table should be.

    Args:
        tables: That are aggregated.
        taken: The names of all else.

    Raises:
        ValueError: A name is taken.
    """
    for table in tables:
        name = name_of_aggregated(table)
        if name in taken:
            raise ValueError(
                f"with aggregate_last, batches have what is made of {table!r} as {name!r}, and "
                "something else has that name; rename it, or leave one of them out"
            )


def require_free_names(names: Iterable[str], cls: type[Data] = Data, *, advice: str) -> None:
    """Raises if batches would have something else than a table under its name.

    Args:
        names: Of all that batches get by name.
        cls: The class of batches.
        advice: What to do about a table that should not be there.

    Raises:
        ValueError: A name is not free.
    """
    of_class = frozenset(dir(cls())) - _FOR_TABLES
    for name in names:
        if name in OF_LOADERS:
            what = "is what PyG's loaders put into batches themselves"
        elif name in of_class:
            what = f"is an attribute of the class of batches, {cls.__name__}"
        else:
            continue
        raise ValueError(
            f"a table is called {name!r}, which {what}; {advice}, compile it under another name, "
            "or use the loaders of graphmount.torch, whose batches have tables apart"
        )
