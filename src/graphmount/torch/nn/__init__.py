"""Layers for training on a processor: PyG's results and parameters, in less time.

They take the matrices of a batch (`batch.adjs`) or an `edge_index`, and load the state of PyG's
layers of the same names.
"""

from graphmount.torch.nn.aggregation import aggregate
from graphmount.torch.nn.gat_conv import GATConv
from graphmount.torch.nn.gcn_conv import GCNConv
from graphmount.torch.nn.gcn_norm import gcn_norm
from graphmount.torch.nn.gin_conv import GINConv
from graphmount.torch.nn.rgcn_conv import RGCNConv
from graphmount.torch.nn.sage_conv import SAGEConv

__all__ = ["GATConv", "GCNConv", "GINConv", "RGCNConv", "SAGEConv", "aggregate", "gcn_norm"]
