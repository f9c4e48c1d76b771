"""Folders of well-known datasets with several node types, in small."""

from __future__ import annotations

import gzip

import numpy as np
import pytest


def save(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)


def write_gz(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.write(text)


def edges_of(ds, relation):
    """The edges of a relation by the ids of the source."""
    graph = ds.edges[relation].graph
    lists = graph.neighbor_lists("in")
    owners = np.repeat(np.arange(graph.num_destinations), np.diff(lists.indptr))
    source, destination = ds.nodes[relation[0]], ds.nodes[relation[2]]
    src = source.to_external(source.as_internal(np.asarray(lists.indices, np.int64)))
    dst = destination.to_external(destination.as_internal(owners))
    return sorted(zip(src.tolist(), dst.tolist(), strict=True))


WRITES, CITES = ("author", "writes", "paper"), ("paper", "cites", "paper")
AT = ("author", "affiliated_with", "institution")


def as_mag240m(folder):
    """What `ogb.lsc.MAG240MDataset` unpacks: [2, edges], float16 rows, float labels, int years."""
    papers = folder / "processed" / "paper"
    save(papers / "node_feat.npy", np.arange(10, dtype=np.float16).reshape(5, 2))
    save(papers / "node_label.npy", np.array([0, 1, np.nan, 1, np.nan], np.float32))
    save(papers / "node_year.npy", np.array([2018, 2019, 2020, 2021, 2017]))
    for relation, edges in (
        (WRITES, [[0, 2, 2], [0, 0, 4]]),
        (CITES, [[3, 3, 1], [0, 1, 2]]),
        (AT, [[0, 1], [1, 0]]),
    ):
        save(folder / "processed" / "___".join(relation) / "edge_index.npy", np.array(edges))
    return folder


def add_torch_files(folder):
    torch = pytest.importorskip("torch")
    torch.save({"paper": 5, "author": 7, "institution": 3, "num_classes": 2}, folder / "meta.pt")
    splits = {"train": np.array([0, 1]), "valid": np.array([3]), "test-dev": np.array([4])}
    torch.save(splits, folder / "split_dict.pt")


IGB = {
    ("paper", "cites", "paper"): [[3, 0], [3, 1], [1, 2]],
    ("paper", "written_by", "author"): [[0, 0], [1, 2], [2, 1], [3, 1]],
    ("author", "affiliated_to", "institute"): [[0, 0], [1, 1], [2, 0]],
    ("paper", "topic", "fos"): [[0, 0], [2, 2], [2, 1]],
}


def as_igb(folder, counts, *, raw=()):
    """What IGB's loader reads: [edges, 2]; in large sizes, rows and labels without a header."""
    for name, count in counts.items():
        x = np.zeros((count, 1024), np.float32)
        x[:, 0] = np.arange(count)
        path = folder / "processed" / name / "node_feat.npy"
        path.parent.mkdir(parents=True)
        if name in raw:
            x.tofile(path)
        else:
            np.save(path, x)
    labels = np.arange(counts["paper"], dtype=np.float32) % 19
    file = folder / "processed" / "paper" / "node_label_19.npy"
    labels.tofile(file) if "paper" in raw else np.save(file, labels)
    save(folder / "processed" / "paper" / "node_label_2K.npy", labels)
    for relation, edges in IGB.items():
        save(folder / "processed" / "__".join(relation) / "edge_index.npy", np.array(edges))
    return folder


COUNTS = {"paper": 4, "author": 3, "institute": 2, "fos": 3}


MAG = {
    ("author", "affiliated_with", "institution"): [(0, 0), (1, 1)],
    ("author", "writes", "paper"): [(0, 0), (1, 0), (1, 3)],
    ("paper", "cites", "paper"): [(3, 0), (3, 1), (1, 2)],
    ("paper", "has_topic", "field_of_study"): [(0, 2), (1, 0)],
}


def as_ogbn_mag(folder):
    """What OGB's package unpacks: compressed text; three files have a line of names."""
    raw = folder / "raw"
    write_gz(raw / "num-node-dict.csv.gz", "author,field_of_study,institution,paper\n2,3,2,4\n")
    write_gz(raw / "nodetype-has-label.csv.gz", "author,paper\nFalse,True\n")
    write_gz(raw / "triplet-type-list.csv.gz", "".join(f"{','.join(one)}\n" for one in MAG))
    for number, (relation, edges) in enumerate(MAG.items()):
        own = raw / "relations" / "___".join(relation)
        write_gz(own / "edge.csv.gz", "".join(f"{src},{dst}\n" for src, dst in edges))
        write_gz(own / "num-edge-list.csv.gz", f"{len(edges)}\n")
        write_gz(own / "edge_reltype.csv.gz", f"{number}\n" * len(edges))
    papers = raw / "node-feat" / "paper"
    write_gz(papers / "node-feat.csv.gz", "".join(f"{i}.5,{-i}\n" for i in range(4)))
    write_gz(papers / "node_year.csv.gz", "2015\n2016\n2017\n2018\n")
    write_gz(raw / "node-label" / "paper" / "node-label.csv.gz", "7\n8\n7\n9\n")
    split = folder / "split" / "time"
    write_gz(split / "nodetype-has-split.csv.gz", "author,paper\nFalse,True\n")
    for name, nodes in (("train", "0\n1\n"), ("valid", "2\n"), ("test", "3\n")):
        write_gz(split / "paper" / f"{name}.csv.gz", nodes)
    return folder
