"""compile_features: sources, conversions that keep every value or refuse, options."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
import reference
from feature_data import DTYPES
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm

NUMPY = {name: np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name) for name in DTYPES}


def stored(path):
    store = gm.FeatureStore(path)
    array = store.numpy()
    return array.view(ml_dtypes.bfloat16) if store.dtype == "bfloat16" else array


@pytest.mark.parametrize("dtype", DTYPES)
def test_torch_source(dtype, tmp_path):
    torch = pytest.importorskip("torch")
    tensor = (
        torch.tensor([[0, 1], [1, 0]])
        .to(getattr(torch, dtype))
        .requires_grad_(dtype in ("float32", "bfloat16"))
    )
    report = gm.compile_features(tensor, tmp_path / "x.gd")
    assert report.dtype == dtype
    assert torch.equal(gm.FeatureStore(tmp_path / "x.gd").tensor(), tensor)
    gm.compile_features(tensor.t(), tmp_path / "t.gd", dtype=torch.float32)
    assert gm.FeatureStore(tmp_path / "t.gd").tensor().dtype == torch.float32


def test_memory_mapped_source(tmp_path):
    matrix = np.random.default_rng(6).random((1000, 7))
    np.save(tmp_path / "x.npy", matrix)
    source = np.load(tmp_path / "x.npy", mmap_mode="r")
    gm.compile_features(source, tmp_path / "x.gd", dtype="float32", memory="64KiB")
    assert np.array_equal(stored(tmp_path / "x.gd"), matrix.astype(np.float32))


@pytest.mark.parametrize(
    "source", [np.arange(12.0).reshape(3, 4).T, np.arange(24)[::2].reshape(4, 3), [[1, 2], [3, 4]]]
)
def test_any_layout(source, tmp_path):
    gm.compile_features(source, tmp_path / "x.gd")
    assert np.array_equal(stored(tmp_path / "x.gd"), source)


def test_big_endian_source(tmp_path):
    gm.compile_features(np.array([[1, 2]], ">i4"), tmp_path / "x.gd")
    assert stored(tmp_path / "x.gd").tolist() == [[1, 2]]


def survives(value, target):
    """Whether a number can be stored: the plain-Python twin of the range check."""
    if target == "bool":
        return value in (0, 1)
    if target.startswith(("int", "uint")):
        limits = np.iinfo(target)
        return (
            not (isinstance(value, float) and not np.isfinite(value))
            and value == int(value)
            and limits.min <= int(value) <= limits.max
        )
    if isinstance(value, float) and not np.isfinite(value):
        return True
    with np.errstate(over="ignore"):
        if target == "bfloat16":
            return bool(np.isfinite(np.float32(value).astype(ml_dtypes.bfloat16)))
        return bool(np.isfinite(np.array(value).astype(target)))


numbers = {
    "float64": st.floats() | st.sampled_from([0.0, 1.0, 127.0, 128.0, 65504.0, 65520.0, 2.0**63]),
    "float32": st.floats(width=32) | st.sampled_from([3.3895313892515355e38, 3.4e38]),
    "int64": st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300) | st.integers(0, 1),
    "uint8": st.integers(0, 255),
}


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", list(numbers))
@given(data=st.data())
def test_conversions(source, target, data, tmp_path):
    values = data.draw(st.lists(numbers[source], min_size=1, max_size=6))
    array = np.array(values, NUMPY[source])
    path = tmp_path / "x.gd"
    bad = [place for place, value in enumerate(array.tolist()) if not survives(value, target)]
    if bad:
        with pytest.raises(gm.errors.SourceError, match=f"^the ndarray, row {bad[0]}: .*{target}"):
            gm.compile_features(array, path, dtype=target)
        return
    gm.compile_features(array, path, dtype=target)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = (
            array.astype(np.float32).astype(ml_dtypes.bfloat16)
            if target == "bfloat16"
            else array.astype(target)
        )
    result = stored(path)
    assert result.dtype == expected.dtype
    assert np.array_equal(result, expected, equal_nan=target.startswith(("float", "bfloat")))


def test_from_bfloat16(tmp_path):
    source = np.array([1.5, -2.0, 3e38], ml_dtypes.bfloat16)
    gm.compile_features(source, tmp_path / "x.gd", dtype="float32")
    assert np.array_equal(stored(tmp_path / "x.gd"), source.astype(np.float32))
    with pytest.raises(gm.errors.SourceError, match=r"row 2: .* cannot be stored as float16"):
        gm.compile_features(source, tmp_path / "x.gd", dtype="float16")


def test_from_a_mounted_file(tmp_path):
    """Also of bfloat16, whose bits NumPy would take for numbers."""
    for dtype in DTYPES:
        gm.compile_features([[1, 0], [0, 1]], tmp_path / "a.gd", dtype=dtype)
        gm.compile_features(gm.FeatureStore(tmp_path / "a.gd"), tmp_path / "b.gd")
        assert gm.FeatureStore(tmp_path / "b.gd").dtype == dtype
        assert (tmp_path / "a.gd").read_bytes() == (tmp_path / "b.gd").read_bytes()
        gm.compile_features(gm.FeatureStore(tmp_path / "a.gd"), tmp_path / "c.gd", dtype="float64")
        assert stored(tmp_path / "c.gd").tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_from_float16_to_integers(tmp_path):
    source = np.array([1.0, -2.0, 60000.0], np.float16)
    gm.compile_features(source, tmp_path / "x.gd", dtype="int64")
    assert stored(tmp_path / "x.gd").tolist() == [1, -2, 60000]
    with pytest.raises(gm.errors.SourceError, match="row 2"):
        gm.compile_features(source, tmp_path / "x.gd", dtype="int16")


@pytest.mark.parametrize("dtype", ["float16", np.float16, np.dtype("float16")])
def test_ways_to_name_a_dtype(dtype, tmp_path):
    assert gm.compile_features([1.0], tmp_path / "x.gd", dtype=dtype).dtype == "float16"


@pytest.mark.parametrize(
    ("source", "options", "error", "message"),
    [
        ([[1.0, 70000.0]], {"dtype": "float16"}, gm.errors.SourceError, "row 0, column 1: 70000"),
        ([0.5], {"dtype": "int32"}, gm.errors.SourceError, "row 0: 0.5 cannot be stored as int32"),
        ([np.nan], {"dtype": "int64"}, gm.errors.SourceError, "row 0: nan"),
        (np.zeros((2, 2, 2)), {}, ValueError, "not shape (2, 2, 2)"),
        (3.0, {}, TypeError, "cannot be taken from a float"),
        (np.array(3.0), {}, ValueError, "one or two dimensions"),
        (np.array(["a"]), {}, TypeError, "features must be numbers"),
        ([1j], {}, TypeError, "features must be numbers"),
        ([None], {}, TypeError, "features must be numbers"),
        ([1.0], {"dtype": "complex64"}, ValueError, "'complex64' cannot be stored"),
        ([1.0], {"dtype": object()}, ValueError, "cannot be stored"),
        (np.array([1], np.uint32), {}, ValueError, "'uint32' cannot be stored; choose one of"),
        ([1.0], {"num_nodes": 2}, ValueError, "1 rows, but num_nodes=2"),
        ([1.0], {"memory": -1}, ValueError, "memory=-1 is not a size"),
        ("no such x.npy", {}, FileNotFoundError, "no such x.npy"),
        (["no such x.npy"], {}, FileNotFoundError, "no such x.npy"),
    ],
)
def test_refusals(source, options, error, message, tmp_path):
    with pytest.raises(error, match=re.escape(message)):
        gm.compile_features(source, tmp_path / "x.gd", **options)
    assert list(tmp_path.iterdir()) == []


def test_error_names_the_row_in_later_pieces(tmp_path):
    matrix = np.zeros((100_000, 3))
    matrix[98_765, 2] = 1e300
    with pytest.raises(gm.errors.SourceError, match=r"row 98765, column 2: 1e\+300"):
        gm.compile_features(matrix, tmp_path / "x.gd", dtype="float32", memory="1MiB")


def test_progress(tmp_path):
    calls = []
    gm.compile_features(
        np.zeros((1000, 100)), tmp_path / "x.gd", memory="1MiB", progress=lambda *c: calls.append(c)
    )
    assert calls[-1] == (800_000, 800_000)
    assert len(calls) > 3
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def expected_scales(matrix):
    """The twin of quantizing: the scales, by plain NumPy in float64."""
    return (np.abs(matrix.astype(np.float64)).max(axis=0, initial=0) / 127).astype(np.float32)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int8", "int64"])
@pytest.mark.parametrize("memory", ["64KiB", "2GiB"])
def test_quantize(dtype, memory, tmp_path):
    generator = np.random.default_rng(3)
    matrix = generator.normal(size=(3000, 5)) * [1, 100, 0, 1e-3, 7]
    matrix = (matrix.round() if dtype.startswith("int") else matrix).clip(-128, 127)
    matrix = matrix.astype(NUMPY[dtype])
    report = gm.compile_features(matrix, tmp_path / "x.gd", quantize="column", memory=memory)
    assert report.dtype == "int8"
    store = gm.FeatureStore(tmp_path / "x.gd")
    assert store.scales.dtype == np.float32
    assert np.array_equal(store.scales, expected_scales(matrix))
    errors = np.abs(store.numpy() * store.scales.astype(np.float64) - matrix.astype(np.float64))
    assert (errors <= store.scales * 0.5001).all()
    assert store.numpy().min() >= -127
    assert gm.verify(tmp_path / "x.gd").ok
    assert reference.parse(tmp_path / "x.gd").sections["scales", 0].shape == (5, 1)
    # A quantized store means its values, not the integers.
    gm.compile_features(store, tmp_path / "y.gd")
    assert np.array_equal(stored(tmp_path / "y.gd"), store.numpy() * store.scales)


def test_quantize_odd_shapes(tmp_path):
    path = tmp_path / "x.gd"
    gm.compile_features([1.0, -4.0, 2.0], path, quantize="column")
    assert stored(path).tolist() == [32, -127, 64]
    assert gm.FeatureStore(path).scales.tolist() == [np.float32(4 / 127)]
    gm.compile_features(np.zeros((0, 3)), path, quantize="column")
    assert gm.FeatureStore(path).scales.tolist() == [0, 0, 0]
    gm.compile_features(np.full((2, 1), 1e-60), path, quantize="column")  # no float32 is so small
    assert stored(path).tolist() == [[0], [0]]
    gm.compile_features([[1.0], [2.0]], path, quantize="column", key=[3, 0], missing=-8)
    assert stored(path).tolist() == [[32], [-127], [-127], [16]]
    gm.compile_features([[1.0]], path)
    assert gm.FeatureStore(path).scales is None


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
@pytest.mark.parametrize("shape", [(6,), (3, 2)])
def test_nan(dtype, shape, tmp_path):
    source = np.array([0, 1, np.nan, np.inf, -np.nan, 5]).astype(NUMPY[dtype]).reshape(shape)
    path = tmp_path / "x.gd"
    gm.compile_features(source, path)
    assert np.array_equal(stored(path), source, equal_nan=True)
    where = "row 2: NaN" if len(shape) == 1 else "row 1, column 0: NaN"
    with pytest.raises(gm.errors.SourceError, match=f"^the ndarray, {where}; pass nan="):
        gm.compile_features(source, path, nan="error")
    gm.compile_features(source, path, nan=-7)
    assert stored(path).astype(float).reshape(-1).tolist() == [0, 1, -7, np.inf, -7, 5]
    with pytest.raises(gm.errors.SourceError, match="inf cannot be quantized"):
        gm.compile_features(source, path, nan=0, quantize="column")
    with pytest.raises(gm.errors.SourceError, match="cannot be quantized"):
        gm.compile_features(source, path, quantize="column")
    gm.compile_features(np.array([np.nan, 3.0]), path, nan=np.int64(9), dtype="int8")
    assert stored(path).tolist() == [9, 3]


def test_columns(tmp_path):
    matrix = np.arange(12).reshape(3, 4)
    gm.compile_features(matrix, tmp_path / "x.gd", columns=[3, 1])
    assert np.array_equal(stored(tmp_path / "x.gd"), matrix[:, [3, 1]])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"nan": "zero"}, ValueError, "nan='zero'; choose 'keep', 'error' or a finite number"),
        ({"nan": np.inf}, ValueError, "nan=inf; choose"),
        ({"nan": 1e300}, ValueError, "nan=1e+300 is out of the range of the source, float32"),
        ({"missing": "zero"}, ValueError, "missing='zero'; choose 'error' or a number"),
        ({"missing": True}, ValueError, "missing=True; choose"),
        ({"missing": 300, "dtype": "int8", "key": [0, 1]}, ValueError, "missing=300 cannot be"),
        ({"missing": np.inf, "quantize": "column"}, ValueError, "missing=inf cannot be quantized"),
        ({"repeated": "sum"}, ValueError, "repeated='sum'; choose one of 'error', 'first', 'last'"),
        ({"quantize": "row"}, ValueError, "quantize='row'; choose one of"),
        ({"quantize": "column", "dtype": "int16"}, ValueError, "stores int8, not dtype='int16'"),
        ({"on_error": "ignore"}, ValueError, "on_error='ignore'; choose one of"),
        ({"delimiter": ","}, ValueError, "delimiter= is for files, and the source is in memory"),
        ({"shape": (2, 1)}, ValueError, "shape= is for files"),
        ({"key": [1]}, ValueError, "there are 1 keys for 2 rows"),
        ({"key": [0.5, 1]}, TypeError, "key must be integers"),
        ({"key": 7}, ValueError, "key must be at least 0 and at most 1"),
        ({"columns": [2]}, ValueError, "columns must be at least 0 and at most 1"),
    ],
)
def test_more_refusals(options, error, message, tmp_path):
    with pytest.raises(error, match=re.escape(message)):
        gm.compile_features(np.ones((2, 2), np.float32), tmp_path / "x.gd", **options)
    assert list(tmp_path.iterdir()) == []


def test_options_of_opening_do_not_go_with_an_open_source(tmp_path):
    from graphmount._sources.objects.memory_rows import MemoryRows

    with pytest.raises(
        ValueError, match="columns= and shape= do not go with a source that is open"
    ):
        gm.compile_features(MemoryRows([[1.0]]), tmp_path / "x.gd", columns=[0])


def test_progress_of_every_phase(tmp_path):
    calls = []
    gm.compile_features(
        np.ones((1000, 100), np.float32),
        tmp_path / "x.gd",
        key=np.arange(1000)[::-1],
        quantize="column",
        memory="1MiB",
        progress=lambda *c: calls.append(c),
    )
    assert calls[-1] == (1_200_000, 1_200_000)
    assert {total for _, total in calls} == {1_200_000}
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
