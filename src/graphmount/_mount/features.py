"""Mounted feature matrices: rows as they lie in a `.gd` file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from graphmount import _core
from graphmount._mount.handle import Advice, Handle
from graphmount._mount.row_index import rows_at
from graphmount._support.arguments import as_native, require_choice
from graphmount._support.conversion import dtype_name

if TYPE_CHECKING:
    import os

    import torch
    from numpy.typing import ArrayLike, DTypeLike, NDArray


#: How `FeatureStore.gather` gets at rows.
Reader = Literal["auto", "mapped", "pread", "uring"]

_READERS: tuple[Reader, ...] = get_args(Reader)


class FeatureStore(Handle[_core.FeatureMatrix]):
    """A mounted `.gd` file: one matrix (or vector) of features or labels.

    Mounting maps the file and checks its header: it takes the same fraction of a millisecond for a
    file of any size, and no memory for the data. Pages come from the disk as they are touched.

    Args:
        path: The path of the file.
        advice: How the file will be used: "auto", "normal", "random", "sequential", "willneed" or
            "populate"; `advise` explains them. The default suits scattered reads of files that are
            large for the machine.

    Raises:
        FileNotFoundError, PermissionError, OSError: The file cannot be opened.
        FormatError: This is not a feature file, it is damaged, or it is of another version.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd", dtype="float32")
        >>> x = gm.FeatureStore("x.gd")
        >>> x.shape, x.numpy()[1]
        ((2, 2), array([3., 4.], dtype=float32))
    """

    _core_type = _core.FeatureMatrix
    _suffix = ".gd"
    _part = "tables by name: Dataset(path).features[name]"

    def __init__(self, path: str | os.PathLike[str], *, advice: Advice = "auto") -> None:
        self._mount(path, advice=advice)

    def __repr__(self) -> str:
        if self.closed:
            return f"<FeatureStore {self.path!r}, closed>"
        shape = " x ".join(f"{size:,}" for size in self.shape)
        return f"<FeatureStore {self.path!r}: {shape} {self.dtype}>"

    def _content_facts(self) -> dict[str, object]:
        return {
            "rows": f"{len(self):,}",
            "columns": f"{self.shape[1]:,}" if len(self.shape) == 2 else "none, it is a vector",
            "dtype": str(self.dtype),
            "quantized": self.scales is not None,
        }

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
        """The scale of each column of a quantized matrix: value = int8 * scale. Otherwise None."""
        return self._open().scales()

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401
        """Rows by their numbers, with the indexing of NumPy and the speed of `gather`.

        `x[7]` is one row, `x[ids]` are rows by their numbers, `x[mask]` those where a mask with a
        bool for each row is true: copies in memory, in the dtype of the file. `x[100:200]` is a
        read-only view of the file, as in `numpy`. A second index picks columns of these rows: one
        integer, or a slice.

        Row numbers are positions in the file. In a dataset these are internal ids, and a reordered
        dataset takes only ids and masks that are marked as its own (`NodeIds`). A negative number
        is an error and does not count from the end, because -1 often stands for a missing node.

        Args:
            index: The rows, and as a second part the columns of these rows.

        Raises:
            IdError: A row does not exist; or it is not known whose ids these are.
            TypeError, ValueError: It is no index of rows, or a mask of another length.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_features([[1, 2], [3, 4], [5, 6]], "x.gd", dtype="int8")
            >>> x = gm.FeatureStore("x.gd")
            >>> x[2], x[[2, 0], 1], x[x[:, 0] > 1].tolist()
            (array([5, 6], dtype=int8), array([6, 2], dtype=int8), [[3, 4], [5, 6]])
        """
        return rows_at(self, index)

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
        return self._mark_rows(as_native(self._open().shared_view()))

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

    def gather(
        self,
        ids: ArrayLike,
        out: NDArray[Any] | None = None,
        *,
        dtype: DTypeLike | Literal["bfloat16"] | None = None,
        reader: Reader = "auto",
    ) -> NDArray[Any]:
        """The rows `ids`, in this order, in memory: `numpy()[ids]`, but fast from disk as well.

        Rows that are in memory are copied. All others are read from disk in the order of the file:
        each once, hundreds at a time, and adjacent rows in one read. Besides the result, this takes
        at most 30 MiB, whatever the number of ids. Other Python threads run meanwhile.

        Args:
            ids: The rows to return, in any order. A row may appear several times.
            out: A C-contiguous array of the result's shape and dtype to put the rows into. It is
                also the result. Reusing an array saves the system from clearing new memory. A new
                array if None.
            dtype: What to convert to: float32 or float64 from anything (for a quantized matrix,
                integer times scale), or wider integers. By default the dtype of `out`, or else that
                of the file; bfloat16 comes as uint16 bits, like in `numpy`.
            reader: "auto" copies from the mapping while the whole file is in memory; otherwise it
                reads with io_uring, or with threads where the system forbids that. A file that is
                small for the machine is read through the page cache, so that it will be in memory
                next time. "mapped", "uring" and "pread" (threads) use that way and no other.

        Returns:
            An array of the shape of `ids` by that of a row.

        Raises:
            IdError: A row does not exist.
            ValueError: `out` or `dtype` does not fit.
            OSError: The disk failed, or the chosen reader is not available.
            FileChangedError: The file was truncated.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd", dtype="float16")
            >>> gm.FeatureStore("x.gd").gather([1, 0, 1], dtype="float32")
            array([[3., 4.],
                   [1., 2.],
                   [3., 4.]], dtype=float32)
        """
        return self._gather(self._as_nodes(ids, "ids"), out, dtype=dtype, reader=reader)

    def _gather(
        self,
        rows: NDArray[np.int64],
        out: NDArray[Any] | None = None,
        *,
        dtype: DTypeLike | Literal["bfloat16"] | None = None,
        reader: Reader = "auto",
    ) -> NDArray[Any]:
        """As `gather`, for rows that are known to be internal ids."""
        core = self._open()
        require_choice("reader", reader, _READERS)
        name = _gather_dtype(core.dtype, dtype, out)
        result = _gather_output(out, (len(rows), *self.shape[1:]), name, rows)
        core.gather(rows, name, result.reshape(-1).view(np.uint8), reader)
        return result

    @property
    def readers(self) -> tuple[Reader, ...]:
        """The values that `gather(reader=)` takes here: "auto", and what the system allows.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd")
            >>> gm.FeatureStore("x.gd").readers[:2]
            ('auto', 'mapped')
        """
        core = self._open()
        return tuple(name for name in _READERS if core.why_no_reader(name) is None)

    def prefetch(self, ids: ArrayLike) -> int:
        """Asks the system to read these rows, and returns without waiting for them.

        Args:
            ids: The rows to read.

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
        return self._open().prefetch(self._as_nodes(ids, "ids"))


def _gather_dtype(stored: str, dtype: object, out: NDArray[Any] | None) -> str:
    """The name of the dtype to gather: what is asked for, that of `out`, or that of the file.

    Raises:
        TypeError: `out` is no array.
        ValueError: There is no such dtype.
    """
    if out is not None and not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
    if dtype is not None:
        return dtype_name(dtype)
    if out is None or (stored == "bfloat16" and out.dtype == np.uint16):
        return stored
    return dtype_name(out.dtype)


def _gather_output(
    out: NDArray[Any] | None, shape: tuple[int, ...], name: str, ids: NDArray[np.int64]
) -> NDArray[Any]:
    """`out` if it will do, or a new array.

    Args:
        out: The caller's array.
        shape: What it must have.
        name: The dtype it must have; bfloat16 is uint16 to NumPy.
        ids: It must not share memory with these.

    Raises:
        ValueError: It does not fit.
    """
    dtype = np.dtype(np.uint16 if name == "bfloat16" else name)
    if out is None:
        return np.empty(shape, dtype)
    if out.shape != shape:
        raise ValueError(f"out has the shape {out.shape}; these rows need {shape}")
    if out.dtype != dtype and not (name == "bfloat16" and out.dtype.name == name):
        raise ValueError(f"out is of {out.dtype}; these rows need {dtype}")
    if not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
        raise ValueError("out must be C-contiguous, aligned and writeable; numpy.empty makes such")
    if np.may_share_memory(out, ids):
        raise ValueError("out shares memory with ids, which would change while they are read")
    return out
