"""The two converters: CSV to `.gl`, CSV to `.gd`. The files are graphmount's.

What cannot be read is an error that names the line and the column, not a number made up.
"""

from __future__ import annotations

import os
from enum import Enum

from graphmount._compile.feature_compiler import compile_features
from graphmount._compile.graph_compiler import compile_graph
from graphmount._sources.contract.tables import EdgeRequest
from graphmount._sources.text.table import TextTable
from graphmount._support.arguments import require_choice
from graphmount.graphzero.original_files import as_runtime_errors


class DataType(Enum):
    """How the values of a `.gd` file are stored.

    Examples:
        >>> import graphmount.graphzero as gz
        >>> gz.DataType.FLOAT32.name, gz.DataType.FLOAT32.value
        ('FLOAT32', 2)
    """

    INT32 = 0
    INT64 = 1
    FLOAT32 = 2
    FLOAT64 = 3


def convert_csv_to_gl(
    csv_path: str | os.PathLike[str], out_path: str | os.PathLike[str], directed: bool = False
) -> None:
    r"""Compiles a table of edges: source, destination and, if there is a third column, weight.

    A first line with names is skipped. All of graphmount can use the file as well: it has neighbor
    lists of both directions.

    Args:
        csv_path: The path of the table.
        out_path: The path of the file to write.
        directed: Whether edges run one way only.

    Raises:
        RuntimeError: A file cannot be read or written, or a line is wrong; the message says where.

    Examples:
        >>> import pathlib
        >>> import graphmount.graphzero as gz
        >>> _ = pathlib.Path("edges.csv").write_text("src,dst,weight\n0,1,0.5\n1,2,1.0\n")
        >>> gz.convert_csv_to_gl("edges.csv", "graph.gl", directed=True)
        >>> gz.Graph("graph.gl").get_weights(1)
        array([1.], dtype=float32)
    """
    require_choice("directed", directed, (False, True))
    with as_runtime_errors():
        table = TextTable(os.fsdecode(csv_path), EdgeRequest(source=csv_path))
        table.settle_header([(0, "id"), (1, "id")])
        compile_graph(
            csv_path,
            out_path,
            directed=directed,
            weights=2 if table.num_columns > 2 else None,
            header=table.header,
        )


def convert_csv_to_gd(
    csv_path: str | os.PathLike[str], out_path: str | os.PathLike[str], dtype: DataType
) -> None:
    r"""Compiles a table of features: the first column names the node, the others are its row.

    A first line with names is skipped. Rows may come in any order. Nodes without a row get zeros.
    If a node has several rows, the last one counts.

    Args:
        csv_path: The path of the table.
        out_path: The path of the file to write.
        dtype: How to store the values.

    Raises:
        RuntimeError: A file cannot be read or written, or a value is no number or cannot be stored
            in this dtype; the message says where.

    Examples:
        >>> import pathlib
        >>> import graphmount.graphzero as gz
        >>> _ = pathlib.Path("x.csv").write_text("node,height,weight\n2,1.5,60\n0,1.75,80\n")
        >>> gz.convert_csv_to_gd("x.csv", "x.gd", dtype=gz.DataType.FLOAT32)
        >>> gz.FeatureStore("x.gd").get_tensor()
        array([[ 1.75, 80.  ],
               [ 0.  ,  0.  ],
               [ 1.5 , 60.  ]], dtype=float32)
    """
    if not isinstance(dtype, DataType):
        raise TypeError(f"dtype must be one of {', '.join(map(str, DataType))}, not {dtype!r}")
    with as_runtime_errors():
        compile_features(
            csv_path, out_path, dtype=dtype.name.lower(), key=0, missing=0, repeated="last"
        )
