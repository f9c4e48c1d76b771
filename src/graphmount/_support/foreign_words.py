"""Names of arguments that people bring from other libraries, and what to write here instead.

A name stands for an argument of the call, a sentence for what to do where there is none. A wrong
advice would be worse than none: `tests/python/arguments/test_foreign_words.py` follows each of
them.
"""

from __future__ import annotations


def _each(names: str, advice: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), advice)


_BOTH_WAYS = "write directed=False, and every edge runs both ways"
_IN_BOTH = (
    "it belongs to a table: edges=gm.EdgeTable(source=…, {0}=…), and gm.Table(source=…, {0}=…) for "
    "features, labels and splits"
)
_IN_EDGES = "it belongs to the table of the edges: edges=gm.EdgeTable(source=…, {0}=…)"
_IN_TABLE = "it belongs to a table of features, labels or splits: gm.Table(source=…, {0}=…)"

#: Of `compile_dataset`.
DATASET_WORDS = (
    {name: _IN_BOTH.format(name) for name in ("header", "columns", "delimiter", "comments")}
    | {name: _IN_BOTH.format(name) for name in ("shape",)}
    | {name: _IN_EDGES.format(name) for name in ("weights", "timestamps")}
    | {name: _IN_TABLE.format(name) for name in ("key", "missing", "repeated", "nan", "quantize")}
    | {name: _IN_TABLE.format(name) for name in ("dtype", "source_dtype", "member")}
    | _each("sep separator", _IN_BOTH.format("delimiter"))
    | _each("weight edge_weight edge_weights", _IN_EDGES.format("weights"))
    | _each("keys index index_col", _IN_TABLE.format("key"))
    | _each("undirected", _BOTH_WAYS)
    | _each("source edge_index edge_list", "edges")
    | _each("path folder output root", "out")
    | _each("y targets", "labels")
    | _each("x node_features", "write features={'x': …}")
    | _each("edge_attr", "write edge_features={'edge_attr': …}")
    | _each("train_mask train_idx", "write splits={'train': …}")
    | _each("val_mask val_idx valid_idx", "write splits={'val': …}")
    | _each("test_mask test_idx", "write splits={'test': …}")
)

_DATASET_HAS = "a graph has no {0}; gm.compile_dataset(out, edges=…, {0}=…) takes them together"

#: Of `compile_graph`.
GRAPH_WORDS = (
    _each("undirected", _BOTH_WAYS)
    | _each("edges edge_index edge_list", "source")
    | _each("path output", "out")
    | _each("sep separator", "delimiter")
    | _each("weight edge_weight edge_weights", "weights")
    | _each("time times", "timestamps")
    | {name: _DATASET_HAS.format(name) for name in ("features", "labels", "splits")}
)

#: Of `compile_features`.
FEATURE_WORDS = (
    _each("path output", "out")
    | _each("sep separator", "delimiter")
    | _each("keys index index_col", "key")
    | _each("usecols", "columns")
    | _each("graph", "order")
)

#: Of `Table`.
TABLE_WORDS = (
    _each("path file filename data rows", "source")
    | _each("sep separator", "delimiter")
    | _each("keys index index_col", "key")
    | _each("usecols", "columns")
)

_OF_CALL = "it belongs to the call, such as gm.compile_dataset(out, edges=…, {0}=…)"

#: Of `EdgeTable`.
EDGE_WORDS = (
    _each("path file filename data edges edge_index", "source")
    | _each("sep separator", "delimiter")
    | _each("weight edge_weight edge_weights", "weights")
    | _each("time times", "timestamps")
    | _each("src dst source_column target_column", "write columns=('from', 'to'), with your names")
    | _each("undirected", "it belongs to the call: gm.compile_dataset(…, directed=False)")
    | {name: _OF_CALL.format(name) for name in ("directed", "ids", "node_ids", "num_nodes")}
    | {name: _OF_CALL.format(name) for name in ("dedup", "self_loops", "key_type")}
)

#: Of `Dataset`.
OPENING_WORDS = (
    _each("root folder", "path")
    | _each("mmap mmap_mode", "leave it out: files are always mapped")
    | _each("memory", "leave it out: opening reads no data. Loaders have memory=")
)

_INDUCED = "write subgraph_type='induced' for directed=False, and nothing for directed=True"
_WEIGHTED = "write weighted=True: the weights are those that the graph was compiled with"

#: Of `Graph.sample_neighbors`.
SAMPLING_WORDS = (
    _each("num_neighbors fanout sizes num_samples", "fanouts")
    | _each("nodes input_nodes seed_nodes node_ids", "seeds")
    | _each("random_state random_seed", "seed")
    | _each("edge_dir", "direction")
    | _each("with_replacement", "replace")
    | _each("times input_time timestamps", "time")
    | _each("weights prob", _WEIGHTED)
    | _each("directed", _INDUCED)
    | _each("num_workers num_threads", "leave it out: gm.set_num_threads(4) is for all calls")
)

#: Of `TypedDataset.sample_neighbors`.
TYPED_SAMPLING_WORDS = SAMPLING_WORDS | _each(
    "time_attr", "write time_of='nodes' or time_of='edges': both have the times of their compile"
)

_WORKERS = (
    "leave it out: threads of the core sample and read ahead, and window= and prefetch= say how far"
)
_LOADER_WORDS = (
    _each("fanout fanouts sizes num_samples", "num_neighbors")
    | _each("num_layers num_hops", "num_neighbors= has a number for each hop: [15, 10] for two")
    | _each("graph dataset", "data")
    | _each("random_state random_seed", "seed")
    | _each("generator", "write seed=1, or any other integer")
    | _each("num_workers persistent_workers prefetch_factor worker_init_fn", _WORKERS)
    | _each("multiprocessing_context timeout in_order filter_per_worker", _WORKERS)
    | _each("pin_memory", "leave it out: the loaders of graphmount.torch have it")
    | _each("device", "leave it out: batches of graphmount.torch have batch.to(device)")
    | _each("transform collate_fn", "leave it out, and call the function on each batch in the loop")
    | _each("is_sorted", "leave it out: neighbor lists are sorted")
    | _each("cache cache_size", "memory")
    | _each("edge_dir", "direction")
    | _each("with_replacement", "replace")
    | _each("weights weight_attr prob", _WEIGHTED)
    | _each("directed", _INDUCED)
)

#: Of `NeighborLoader`, in all its forms.
NODE_LOADER_WORDS = (
    _LOADER_WORDS
    | _each("nodes seeds seed_nodes node_ids indices train_idx", "input_nodes")
    | _each("split", "write input_nodes='train' for the split of that name")
    | _each("sampler batch_sampler", "give input_nodes= in the order that you want")
    | _each("time_attr", "leave it out, and give the time of each seed by input_time=")
    | _each("time times", "input_time")
    | _each("edge_label_index", "links are for LinkNeighborLoader; give seeds by input_nodes=")
)

#: Of `LinkNeighborLoader`, in all its forms.
LINK_LOADER_WORDS = (
    _LOADER_WORDS
    | _each("edges links edge_index pairs", "edge_label_index")
    | _each("labels edge_labels", "edge_label")
    | _each("time times input_time edge_time", "edge_label_time")
    | _each("num_negatives neg_ratio", "neg_sampling_ratio")
    | _each("negatives negative_sampler", "neg_sampling")
    | _each("sampler batch_sampler", "give edge_label_index= in the order that you want")
    | _each("time_attr", "leave it out, and give the time of each link by edge_label_time=")
    | _each("input_nodes", "seeds are for NeighborLoader; give links by edge_label_index=")
)
