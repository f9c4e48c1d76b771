"""Small graphs of all kinds, for samples that are compared with a twin."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


@st.composite
def graphs(draw):
    num_nodes = draw(st.integers(1, 12))
    node = st.integers(0, num_nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=60))
    options = {"num_nodes": num_nodes, "directed": draw(st.booleans())}
    if draw(st.booleans()):
        weight = st.sampled_from([0.0, 0.5, 1.0, 100.0])
        options["weights"] = draw(st.lists(weight, min_size=len(edges), max_size=len(edges)))
    if draw(st.booleans()):
        time = st.integers(-3, 3)
        options["timestamps"] = draw(st.lists(time, min_size=len(edges), max_size=len(edges)))
    if draw(st.booleans()):
        options["index_dtype"] = "int64"
    src, dst = ([edge[i] for edge in edges] for i in range(2))
    return (np.array(src, np.int64), np.array(dst, np.int64)), options
