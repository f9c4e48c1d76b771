"""Hundreds of damaged files: each gives an error of ours or verifies; no crash, no hang.

The files are opened and used in child processes, so that a crash is seen as what it is. Mutations
are systematic (every field of the header and the table set to telling values, every section cut,
zeroed and filled with noise) and random; half of them with checksums repaired, so that what lies
behind the checksums is reached as well.
"""

from __future__ import annotations

import random
import struct
import subprocess
import sys
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

import forge
import numpy as np
import pytest

import graphmount as gm

TELLING = (0, 1, 2, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1)

# Run by a child: opens each file named on standard input, uses everything, prints the outcome.
EXERCISE = """
import sys
import numpy as np
import graphmount as gm

def use_graph(path):
    graph = gm.Graph(path)
    nodes = range(min(graph.num_nodes, 60))
    for direction in graph.directions:
        lists = graph.neighbor_lists(direction)
        for array in vars(lists).values():
            if array is not None and len(array):
                array[0], array[-1], array.sum()
        for call in (
            lambda: graph.degree(nodes, direction=direction),
            lambda: graph.degree(direction=direction),
            lambda: graph.degree_summary(direction=direction),
            lambda: graph.prefetch(nodes, direction=direction),
            lambda: [graph.neighbors(node, direction=direction) for node in nodes],
        ):
            attempt(call)
    attempt(lambda: graph.has_edge(nodes, nodes))
    for options in ({"strict": True}, {"weighting": "degree", "strict": True}):
        attempt(lambda: graph.sample_negatives(nodes, pad=-1, **options))
        attempt(lambda: graph.sample_negative_pairs(9, pad=-1, **options))
    if graph.node_id_type is not None:
        attempt(lambda: graph.to_external(nodes))
        attempt(lambda: graph.to_internal(["node-3"] if graph.node_id_type is str else [3]))

def use_features(path):
    store = gm.FeatureStore(path)
    array = store.numpy()
    array.ravel()[:1000].tobytes(), array.ravel()[-1000:].tobytes()
    attempt(lambda: store.prefetch(range(min(len(store), 100))))
    store.resident_bytes()

def attempt(call):
    try:
        call()
    except gm.errors.GraphmountError:
        pass

for line in sys.stdin:
    path = line.strip()
    try:
        (use_graph if path.endswith(".gl") else use_features)(path)
        opened = "opens"
    except gm.errors.GraphmountError:
        opened = "refused"
    try:
        result = "verifies" if gm.verify(path).ok else "damaged"
    except gm.errors.FormatError:
        result = "refused"
    print(path, opened, result, flush=True)
"""


def systematic(path, seed):
    """Mutations of one file, as (label, bytes)."""
    generator = random.Random(seed)
    original = forge.Forgery(path)
    for name in forge.HEADER:
        if name == "magic":
            continue
        for value in TELLING:
            mutant = forge.Forgery(path)
            width = {"I": 32, "H": 16, "Q": 64}[forge.HEADER[name][1]]
            mutant.set_header(**{name: value % 2**width})
            mutant.repair_header()
            yield f"header {name}={value:#x}", mutant.data
    for number in range(original.header("num_sections")):
        for name, (_, code) in forge.SECTION.items():
            for value in generator.sample(TELLING, 3):
                mutant = forge.Forgery(path)
                mutant.set_section(number, **{name: value % 2 ** {"H": 16, "Q": 64}[code]})
                mutant.repair_header()
                yield f"section {number} {name}={value:#x}", mutant.data
        begin = original.section(number, "offset")
        end = begin + original.section(number, "bytes")
        for label, piece in (
            ("zeroed", bytes(end - begin)),
            ("all ones", b"\xff" * (end - begin)),
            ("noise", generator.randbytes(end - begin)),
            ("reversed", bytes(original.data[begin:end])[::-1]),
        ):
            for repair in (False, True):
                mutant = forge.Forgery(path)
                mutant.data[begin:end] = piece
                if repair and forge.reference.KINDS[mutant.section(number, "kind")] != "checksums":
                    mutant.repair_chunks()
                mutant.repair_header()
                yield f"section {number} {label}{' repaired' * repair}", mutant.data
        yield f"cut in section {number}", original.data[: (begin + end) // 2]


def randomly(path, seed, count):
    generator = random.Random(seed)
    sizes = forge.Forgery(path)
    spans = [(0, 4096)]
    for number in range(sizes.header("num_sections")):
        begin = sizes.section(number, "offset")
        spans.append((begin, begin + max(1, sizes.section(number, "bytes"))))
    for number in range(count):
        mutant = forge.Forgery(path)
        for _ in range(generator.randint(1, 6)):
            at = generator.randrange(*generator.choice(spans))
            mutant.data[at] = generator.choice([0, 0xFF, 0x7F, 0x80, generator.randrange(256)])
        if number % 2:
            with suppress(LookupError, struct.error):  # the table itself may be nonsense now
                mutant.repair_chunks()
            mutant.repair_header()
        yield f"random {number}", mutant.data


def write_sparsely(path, data):
    """Most of a small file is padding: leave it as a hole, or the disk sets the pace."""
    with path.open("wb") as file:
        file.truncate(len(data))
        for at in range(0, len(data), 4096):
            block = bytes(data[at : at + 4096])
            if block.strip(b"\0"):
                file.seek(at)
                file.write(block)


@pytest.fixture
def originals(tmp_path, graph_path, features_path):
    """Files of different make: with everything, plain, undirected, integer ids, int64 indices."""
    generator = np.random.default_rng(8)
    edges = generator.integers(0, 40, (2, 200))
    plain, undirected = tmp_path / "plain.gl", tmp_path / "undirected.gl"
    gm.compile_graph(edges, plain, neighbors="out", index_dtype="int64", node_ids=range(5, 45))
    gm.compile_graph(edges, undirected, directed=False, weights=np.zeros(200))
    gm.compile_features(generator.random(50) > 0.5, tmp_path / "mask.gd")
    return [graph_path, plain, undirected, features_path, tmp_path / "mask.gd"]


def test_no_corruption_crashes(originals, tmp_path, campaign):
    folder = tmp_path / "mutants"
    folder.mkdir()
    total, outcomes = 0, {}
    for number, path in enumerate(originals):
        mutants = chain(systematic(path, number), randomly(path, number, campaign(100, 5000)))
        # In portions, so that neither memory nor the disk fills up.
        while portion := list(islice(mutants, 200)):
            names = []
            for index, (_, data) in enumerate(portion):
                name = folder / f"{index}{path.suffix}"
                write_sparsely(name, data)
                names.append(str(name))
            result = subprocess.run(
                [sys.executable, "-c", EXERCISE],
                input="\n".join(names),
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            lines = result.stdout.splitlines()
            done = len(lines)
            what = portion[done][0] if done < len(portion) else "the end"
            assert result.returncode == 0, f"{path.name}: {what}\n{result.stderr[-3000:]}"
            assert done == len(portion)
            for line in lines:
                outcome = tuple(line.split()[-2:])
                outcomes[outcome] = outcomes.get(outcome, 0) + 1
            total += done
    assert total >= 500
    # What is refused at opening must not verify, and mutants of each outcome must have occurred.
    assert ("refused", "verifies") not in outcomes
    assert outcomes["refused", "damaged"] > 50
    assert outcomes["opens", "damaged"] > 50


def test_repaired_noise_in_each_section_is_found(originals):
    """Noise behind right checksums breaks a rule of the format, and verify says which section."""
    for path in originals[:3]:
        names = [section.name for section in gm.Graph(path).sections]
        for number, name in enumerate(names):
            mutant = forge.Forgery(path)
            begin, size = mutant.section(number, "offset"), mutant.section(number, "bytes")
            if name in ("checksums", "source rows (in)", "node name bytes") or size == 0:
                continue  # any bytes of the right kind would do here
            mutant.data[begin : begin + size] = random.Random(number).randbytes(size)
            mutant.repair_chunks()
            mutant.repair_header()
            target = Path(path).with_name("noise.gl")
            target.write_bytes(mutant.data)
            assert not gm.verify(target).ok, (path, name)
