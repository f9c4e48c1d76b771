"""How the command line ends: when it cannot write, when Ctrl-C comes, when it is told nonsense."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import sysconfig

import numpy as np
import pytest
from interrupting import CAN_BE_INTERRUPTED

import graphmount as gm
from graphmount.cli import main
from graphmount.cli.interruption import INTERRUPTED
from graphmount.cli.output import CLOSED_PIPE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals of POSIX")

COMMANDS = {
    "info": ["info", "g.gl"],
    "verify": ["verify", "g.gl"],
    "compile": ["compile", "graph", "e.csv", "out.gl"],
    "help": ["--help"],
    "bench": ["bench", "list"],
}
#: Whether a line is written at once or at the end changes who notices that it cannot be.
WAYS = [*((command, False) for command in COMMANDS), ("info", True), ("help", True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    nodes = np.arange(100)
    gm.compile_graph((nodes, nodes[::-1].copy()), folder / "g.gl")
    gm.compile_features(np.zeros((100, 2)), folder / "x.gd")
    (folder / "e.csv").write_text("0,1\n1,2\n")
    np.save(folder / "x.npy", np.zeros((3, 2)))
    return folder


def run(arguments, folder, **options):
    """A command in a process of its own: its status, and what it said on standard error."""
    command = [sys.executable, "-m", "graphmount", *arguments]
    options = {"stderr": subprocess.PIPE, **options}
    done = subprocess.run(command, cwd=folder, check=False, timeout=120, **options)
    return done.returncode, (done.stderr or b"").decode()


def without_buffers(is_unbuffered):
    return {**os.environ, "PYTHONUNBUFFERED": "1" if is_unbuffered else ""}


@pytest.mark.parametrize(("command", "unbuffered"), WAYS)
def test_a_closed_pipe(command, unbuffered, folder):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as closed:
        env = without_buffers(unbuffered)
        assert run(COMMANDS[command], folder, stdout=closed, env=env) == (CLOSED_PIPE, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(("command", "unbuffered"), WAYS)
def test_a_full_disk(command, unbuffered, folder):
    with open("/dev/full", "wb") as full:
        env = without_buffers(unbuffered)
        status, said = run(COMMANDS[command], folder, stdout=full, env=env)
        assert status == 2
        assert said == "graphmount: cannot write the output: No space left on device\n"
        if unbuffered:  # there is nobody to tell, and nothing else goes wrong
            assert run(COMMANDS[command], folder, stdout=full, stderr=full, env=env)[0] == 2


@pytest.mark.parametrize("command", ["info", "compile"])
def test_streams_that_are_closed(command, folder):
    for options in ({"stdout": None}, {"stderr": None}):
        number = 1 if "stdout" in options else 2
        status, said = run(
            COMMANDS[command], folder, preexec_fn=lambda number=number: os.close(number), **options
        )
        assert (status, said) == (0, "")


def test_a_closed_pipe_for_errors(folder):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as closed:
        assert run(["info", "nowhere.gl"], folder, stderr=closed) == (2, "")


@pytest.mark.parametrize("arguments", [["info", "g.gl", "bob.gl"], ["bench", "list"], ["verify"]])
def test_a_terminal_that_knows_ascii_only(arguments, folder, tmp_path):
    name = "Knödel-\udcff.gl"
    (tmp_path / name).write_bytes((folder / "g.gl").read_bytes())
    (tmp_path / "g.gl").write_bytes((folder / "g.gl").read_bytes())
    arguments = [name if argument == "bob.gl" else argument for argument in arguments]
    arguments += [name] if arguments == ["verify"] else []
    env = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "graphmount", *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    if name in arguments:
        assert rb"Kn\xf6del-\udcff.gl" in done.stdout.replace(b"\n", b"")


# In short steps: a signal that comes right before a long sleep is noticed after it.
SLOW_NUMPY = """
import time
print("importing", flush=True)
for _ in range(6000):
    time.sleep(0.01)
"""


def starts(script):
    """Both ways to start the command line."""
    return [sys.executable, script] if script else [sys.executable, "-m", "graphmount"]


@pytest.mark.parametrize("way", ["-m", "script"])
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_while_it_starts(way, times, tmp_path):
    (tmp_path / "numpy.py").write_text(SLOW_NUMPY)
    script = tmp_path / "graphmount"
    script.write_text("import sys\nfrom graphmount.cli import main\nsys.exit(main())\n")
    # Python, not the package, decides that Ctrl-C is ignored by who is started in the background.
    prelude = CAN_BE_INTERRUPTED + f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    (tmp_path / "sitecustomize.py").write_text(prelude)
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = starts(str(script) if way == "script" else None)
    child = subprocess.Popen(
        [*command, "info", "x.gl"],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "importing\n"
        for _ in range(times):
            child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
    finally:
        child.kill()
    assert said == "graphmount: interrupted\n"
    assert child.returncode == INTERRUPTED


def test_who_only_imports_keeps_ctrl_c(tmp_path):
    script = tmp_path / "graphmount"  # a name is not enough
    script.write_text(
        CAN_BE_INTERRUPTED
        + "import graphmount\n"
        + "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "True\n"


TIDYING_UP = f"""{CAN_BE_INTERRUPTED}
import sys, time
import graphmount as gm
from graphmount.cli import main

def rest(seconds):
    for _ in range(int(100 * seconds)):
        time.sleep(0.01)

def verify(*_, **__):
    try:
        print("working", flush=True)
        rest(60)
    finally:
        print("tidying up", flush=True)
        rest(float(sys.argv[1]))
        print("tidy", flush=True)

gm.verify = verify
sys.exit(main(["verify", "g.gl"]))
"""


@pytest.mark.parametrize("presses", [1, 2, 3])
def test_ctrl_c_again_and_again(presses, folder):
    # The second comes while the first is tidied up after, which is not disturbed; who presses a
    # third time does not want to wait.
    child = subprocess.Popen(
        [sys.executable, "-c", TIDYING_UP, "1" if presses < 3 else "60"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "working\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "tidying up\n"
        for _ in range(presses - 1):
            child.send_signal(signal.SIGINT)
            signal.sigtimedwait([], 0.2)  # so that they are not taken for one
        out, said = child.communicate(timeout=50)
    finally:
        child.kill()
    assert said == "graphmount: interrupted\n"
    assert out == ("tidy\n" if presses < 3 else "")
    assert child.returncode == INTERRUPTED


NINES = "9" * 5000
READING = [
    *(["--memory", size] for size in (NINES + "TiB", "-1", "nan", "")),
    *(["--shape", shape] for shape in (NINES, "1,", "x", "0x0")),
    *(["--columns", columns] for columns in ("0-99999999999", NINES, "", "5")),
    *(["--num-nodes", count] for count in (NINES, str(10**30), "-1")),
    *(["--delimiter", delimiter] for delimiter in ("ab", "ö")),
    ["--on-error", "x"],
]
FILES = ["", "nowhere", "\udcff", "a\0b", "a" * 5000, "empty", "/dev/null", "broken"]
HOSTILE = [
    *([command, file] for command in ("info", "verify") for file in [*FILES, "e.csv"]),
    *(["compile", "graph", file, "out.gl"] for file in [*FILES, "*", "["]),
    *(["compile", "features", file, "out.gd"] for file in [*FILES, "*", "[", "g.gl"]),
    *(["compile", "ogb", file, "out"] for file in FILES),
    *(["compile", "graph", *flags, "x.npy", "out.gl"] for flags in READING),
    *(["compile", "features", *flags, "x.npy", "out.gd"] for flags in READING),
    *(["compile", "graph", "e.csv", f"{path}.gl"] for path in ("no/o", "a\0b", "a" * 300)),
    *(["doctor", folder] for folder in ("nowhere", "e.csv", "a\0b")),
    *(["doctor", "--dataset", folder] for folder in ("nowhere", "e.csv", "empty", "broken")),
    *(["doctor", "--seconds", seconds] for seconds in ("nan", NINES, "-1")),
    ["doctor", "--json", "no/facts.json"],
    *(["bench", name] for name in ("nonsense", "", NINES)),
    *(["bench", "compare", file, "e.csv"] for file in [*FILES, "deep.json"]),
    *(["bench", "report", file] for file in FILES),
    [],
    ["nonsense"],
    ["--nonsense"],
]


@pytest.mark.parametrize("arguments", HOSTILE, ids=lambda words: " ".join(words)[:40] or "none")
def test_nonsense_is_refused_in_a_few_words(arguments, folder, tmp_path, monkeypatch, capsys):
    for path in folder.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "dataset.json").write_text("[" * 100_000)
    (tmp_path / "deep.json").write_text("[" * 100_000)
    monkeypatch.chdir(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    try:
        status = main(arguments)
    except SystemExit as end:  # argparse
        status = end.code
    said = capsys.readouterr().err
    assert status == 2
    assert re.search(r"^graphmount\b.*: \S", said, re.MULTILINE)
    assert "Traceback" not in said
    assert len(said) < 3000  # with the usage
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_the_installed_script_is_known():
    # What `_interruption` looks for is what installers write.
    script = os.path.join(sysconfig.get_path("scripts"), "graphmount")
    if not os.path.exists(script):
        pytest.skip("graphmount is not installed as a script here")
    with open(script, encoding="utf-8") as file:
        assert "from graphmount.cli import main" in file.read()
