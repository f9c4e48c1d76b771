"""GraphZero's interface over graphmount: `import graphmount.graphzero as gz`, and all else stays.

Every name, argument and attribute of graphzero 0.2 is here, with the same shapes and dtypes, so a
script that was written for it runs when its import line is changed. What the original gets wrong is
right here; `docs/graphzero.md` lists the differences. Where graphzero raises a `RuntimeError`, so
does this module, with graphmount's own error as its cause.

    import graphmount.graphzero as gz

    gz.convert_csv_to_gl("edges.csv", "graph.gl", directed=True)
    g = gz.Graph("graph.gl")
    walks = g.batch_random_walk(start_nodes=[0, 1], walk_length=10, p=1.0, q=0.5)
"""

from __future__ import annotations

from graphmount.graphzero.conversion import DataType, convert_csv_to_gd, convert_csv_to_gl
from graphmount.graphzero.features import FeatureStore
from graphmount.graphzero.graph import Graph

__all__ = ["DataType", "FeatureStore", "Graph", "convert_csv_to_gd", "convert_csv_to_gl"]

#: The version of graphzero whose interface this is, for scripts that ask.
__version__ = "0.2.0"
