"""Mounted feature matrices: rows as they lie in a `.gd` file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphmount import _core
from graphmount._arguments import as_ids, as_native
from graphmount._handle import Advice, Handle

if TYPE_CHECKING:
    import torch
    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["FeatureStore"]


class FeatureStore(Handle[_core.FeatureMatrix]):
    """A mounted `.gd` file: one matrix (or vector) of features or labels.

    Mounting maps the file and checks its header: it takes the same fraction of a millisecond for a
    file of any size, and no memory for the data. Pages come from the disk as they are touched.

    Args:
        path: The file.
        advice: How the file will be used; see `advise`. The default suits scattered reads where the
            file is large for the machine.

    Raises:
        FileNotFoundError, PermissionError, OSError: The file cannot be opened.
        FormatError: It is not a feature file, is damaged, or of another version.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd", dtype="float32")
        >>> x = gm.FeatureStore("x.gd")
        >>> x.shape, x.numpy()[1]
        ((2, 2), array([3., 4.], dtype=float32))
    """

    def __init__(self, path: str | os.PathLike[str], *, advice: Advice = "auto") -> None:
        super().__init__(path, _core.FeatureMatrix(os.fsencode(path)), advice)

    def __repr__(self) -> str:
        if self.closed:
            return f"<FeatureStore {self.path!r}, closed>"
        shape = " x ".join(f"{size:,}" for size in self.shape)
        return f"<FeatureStore {self.path!r}: {shape} {self.dtype}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, columns), or (rows,) for a vector such as labels."""
        core = self._open()
        if core.is_one_dimensional:
            return (core.num_rows,)
        return (core.num_rows, core.num_columns)

    @property
    def dtype(self) -> np.dtype[Any] | Literal["bfloat16"]:
        """Element type: a NumPy dtype, or the string "bfloat16", for which NumPy has none."""
        name = self._open().dtype
        return "bfloat16" if name == "bfloat16" else np.dtype(name)

    @property
    def scales(self) -> NDArray[np.float32] | None:
        """Of a quantized matrix, one for each column: value = int8 * scale. None for others."""
        return self._open().scales()

    def __len__(self) -> int:
        return self.shape[0]

    def numpy(self) -> NDArray[Any]:
        """The whole matrix as a read-only array that *is* the file: no copy, pages on demand.

        A bfloat16 matrix comes as uint16 with the same bits, since NumPy has no such dtype;
        `x.numpy().view(ml_dtypes.bfloat16)` gives it a meaning, and `tensor()` needs no such help.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_features([[1, 2], [3, 4]], "x.gd", dtype="int8")
            >>> gm.FeatureStore("x.gd").numpy().flags.writeable
            False
        """
        return as_native(self._open().shared_view())

    def __array__(
        self,
        dtype: DTypeLike | None = None,
        copy: bool | None = None,
    ) -> NDArray[Any]:
        array = self.numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if self.dtype == "bfloat16":
                raise TypeError(
                    f"{self.path}: NumPy has no bfloat16, so it cannot convert it to {dtype}; use "
                    "tensor(), or numpy().view(ml_dtypes.bfloat16)"
                )
            if copy is False:
                raise ValueError(f"{self.path}: converting to {dtype} needs a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def tensor(self) -> torch.Tensor:
        """The whole matrix as a torch tensor that *is* the file: no copy, pages on demand.

        Writing to the tensor is safe and private: pages that are written become memory of this
        process, the file never changes, and the change is forgotten with the last tensor of this
        store. Where the system does not allow that for a file of this size (overcommit mode 2), the
        tensor is read-only memory and a `RuntimeWarning` says so.

        Raises:
            ImportError: torch is not installed.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd")
            >>> gm.FeatureStore("x.gd").tensor()[1].sum().item()
            7.0
        """
        from graphmount.torch import _tensor_over  # the base package needs no torch

        return _tensor_over(self)

    def _private_view(self) -> tuple[NDArray[Any], bool]:
        """For `graphmount.torch`: a copy-on-write view, and whether writing to it is safe."""
        array, is_writable = self._open().private_view()
        return as_native(array), is_writable

    def __dlpack__(self, **options: Any) -> Any:  # noqa: ANN401  (a capsule; the standard's names)
        """The matrix for any library that speaks DLPack, zero-copy, writes private as in `tensor`.

        Examples:
            >>> import graphmount as gm
            >>> import numpy as np
            >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd")
            >>> np.from_dlpack(gm.FeatureStore("x.gd")).shape
            (2, 2)
        """
        view: Any = self._open().dlpack_view()
        return view.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU

    def prefetch(self, ids: ArrayLike) -> int:
        """Asks the system to read these rows, and returns without waiting for them.

        Args:
            ids: The rows.

        Returns:
            How many bytes were asked for, in whole pages.

        Raises:
            IdError: A row does not exist.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd")
            >>> gm.FeatureStore("x.gd").prefetch([0, 1])
            4096
        """
        return self._open().prefetch(as_ids(ids, "ids"))
