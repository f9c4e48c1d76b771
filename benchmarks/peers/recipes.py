"""What the peers are: which versions, what pip has to install, and what they do otherwise.

Versions are pinned, since a figure is one of a version. Data only: `environments` acts on it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Step:
    """One call of pip.

    Attributes:
        packages: What it installs.
        alone: Without what these depend on: the list is complete.
        cuda_only: Only if the torch that is there by then was built for CUDA.
    """

    packages: tuple[str, ...]
    alone: bool = False
    cuda_only: bool = False


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One peer.

    Attributes:
        name: What it is called on the command line.
        about: What it is, in a few words.
        modules: What must be importable for it to be there.
        steps: How pip makes it. None: pip cannot.
        by_hand: How to get it where pip cannot.
        pythons: The versions of Python there are wheels for, best first; empty: whichever runs.
        size: About what pip downloads, in MB.
        differs: What it is known to do otherwise than graphmount: printed next to its figures.
    """

    name: str
    about: str
    modules: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    by_hand: str = ""
    pythons: tuple[str, ...] = ()
    size: int = 0
    differs: tuple[str, ...] = ()


_FAULTS = (
    "GraphBolt 2.1.0 reads features of a file by page faults, with the system's read-ahead; its "
    "DiskBasedFeature (io_uring) and CPUCachedFeature came later, in versions that PyPI lacks"
)

# DGL 2.1.0 is the last one that is on PyPI. It has a library for each torch up to 2.2.1, and was
# built before NumPy 2.
_GRAPHBOLT = Recipe(
    name="graphbolt",
    about="GraphBolt of DGL 2.1.0 with torch 2.2.1, without a GPU",
    modules=("dgl", "torch", "pandas", "yaml", "pydantic", "torchdata"),
    steps=(
        Step(packages=("torch==2.2.1",), alone=True),
        # That torch is linked to CUDA's libraries, GPU or not. These are the ones without which it
        # does not start; it can do without triton, cuSOLVER and NVRTC. An index that has a
        # "2.2.1+cpu" (by pip's own settings) saves them.
        Step(
            packages=(
                "nvidia-cublas-cu12==12.1.3.1",
                "nvidia-cuda-cupti-cu12==12.1.105",
                "nvidia-cuda-runtime-cu12==12.1.105",
                "nvidia-cudnn-cu12==8.9.2.26",
                "nvidia-cufft-cu12==11.0.2.54",
                "nvidia-curand-cu12==10.3.2.106",
                "nvidia-cusparse-cu12==12.1.0.106",
                "nvidia-nccl-cu12==2.19.3",
                "nvidia-nvjitlink-cu12==12.1.105",
                "nvidia-nvtx-cu12==12.1.105",
            ),
            alone=True,
            cuda_only=True,
        ),
        Step(packages=("dgl==2.1.0", "torchdata==0.7.1"), alone=True),
        Step(
            packages=(
                "filelock",
                "fsspec",
                "jinja2",
                "networkx",
                "numpy==1.26.4",
                "pandas==2.2.3",
                "psutil",
                "pydantic>=2",
                "pyyaml",
                "requests",
                "scipy==1.13.1",
                "sympy",
                "tqdm",
                "typing-extensions",
            )
        ),
    ),
    pythons=("3.11", "3.10", "3.9"),
    size=2500,
    differs=(
        "GraphBolt samples the seeds again at hop 2, and at hop 3 all nodes it has met: more edges",
        _FAULTS,
    ),
)

_PYG_DIFFERS = (
    "PyG gives samples as they are drawn, by one thread; more threads need worker processes",
)

_PYG = Recipe(
    name="pyg",
    about="torch_geometric 2.8.1, which cannot sample without pyg-lib or torch-sparse",
    modules=("torch", "torch_geometric"),
    steps=(Step(packages=("torch==2.13.0", "torch_geometric==2.8.1")),),
    size=900,
    differs=_PYG_DIFFERS,
)

_PYG_LIB = Recipe(
    name="pyg-lib",
    about="torch_geometric with pyg-lib, its own sampler",
    modules=("torch", "torch_geometric", "pyg_lib"),
    by_hand="pyg-lib is not on PyPI; install it from PyG's own index into the environment that "
    "runs the benchmarks, then it is found",
    differs=_PYG_DIFFERS,
)

_GRAPHZERO = Recipe(
    name="graphzero",
    about="GraphZero 0.2.0",
    modules=("graphzero", "numpy"),
    steps=(Step(packages=("graphzero==0.2.0", "numpy")),),
    size=20,
    differs=("GraphZero fills short rows with node 0, which may be no neighbor",),
)

#: By name.
RECIPES = {recipe.name: recipe for recipe in (_GRAPHBOLT, _PYG, _PYG_LIB, _GRAPHZERO)}
