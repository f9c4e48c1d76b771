"""`graphmount bench`: what it runs, what it keeps, and how two runs compare."""

import json
import sys

import pytest
from bench_results import make_results
from graphmount.benchmarks import catalog, suite
from graphmount.benchmarks.report import compare, results

from graphmount.cli import main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the benchmarks ask /proc")


def write(path, document):
    path.write_text(json.dumps(document))
    return str(path)


def test_every_benchmark_is_in_the_catalog():
    import importlib.resources

    cases = importlib.resources.files("graphmount.benchmarks.cases")
    modules = {
        f"{room}{file.name[:-3]}"
        for room, folder in (
            ("", cases),
            ("kinds.", cases / "kinds"),
            ("training.", cases / "training"),
        )
        for file in folder.iterdir()
        if file.name.startswith("bench_")
    }
    assert modules == {entry.module for entry in catalog.entries_of(["all"])}


def test_names():
    assert catalog.entries_of(["walk", "walk"]) == catalog.entries_of(["walk"])
    assert len(catalog.entries_of(["compile"])) == 5
    with pytest.raises(ValueError, match=r"no benchmark 'speed'; there are all, compile, .*single"):
        catalog.entries_of(["speed"])


def test_a_run_and_its_files(tmp_path, capfd):
    out = tmp_path / "out"
    status = main(["bench", "ids", "--quick", "--out", str(out), "--folder", str(tmp_path)])
    said = capfd.readouterr().out
    assert status == 0
    assert "1 of 1: ids" in said
    assert "8 of 8" in said
    found = results.read_results(str(out / "results.json"))
    assert found["quick"]
    assert found["command"] == "graphmount bench ids --quick"
    (result,) = found["benchmarks"]
    assert result["command"].startswith("python -m graphmount.benchmarks.cases.bench_ids --quick")
    assert result["tables"].keys() == result["units"].keys()
    assert "bench_ids --quick" in (out / "report.html").read_text()
    assert main(["bench", "report", str(out / "results.json"), "--out", str(tmp_path / "2")]) == 0
    assert (tmp_path / "2" / "report.html").read_text() == (out / "report.html").read_text()
    assert main(["bench", "compare", *[str(out / "results.json")] * 2]) == 0


def test_folders_are_made(tmp_path, capfd):
    from graphmount.benchmarks.harness.scratch import scratch_folder

    out, folder = tmp_path / "new" / "out", tmp_path / "newer" / "files"
    skipped = [catalog.Entry("bench_ids", "nothing", ("a_package_that_nobody_has",))]
    status = suite.run_suite(skipped, str(out), quick=True, folder=str(folder), command="test")
    assert status == 0
    assert folder.is_dir()
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "results.json"]
    assert str(out / "report.html") in capfd.readouterr().out.replace("\n", "")
    parent = tmp_path / "newest" / "files"
    with scratch_folder(str(parent), 1) as place:
        assert place.startswith(str(parent))
    assert list(parent.iterdir()) == []


def test_a_benchmark_makes_the_folder_of_its_json(tmp_path):
    import argparse

    from graphmount.benchmarks.report.report import Report

    path = tmp_path / "new" / "folder" / "results.json"
    Report("test", argparse.Namespace(json=str(path), no_facts=True), str(tmp_path))
    assert path.parent.is_dir()


def test_what_fails_is_noted_and_the_rest_goes_on(tmp_path, capfd):
    entries = [
        catalog.Entry("bench_which_is_not_there", "nothing"),
        catalog.Entry("bench_ids", "nothing", ("a_package_that_nobody_has",)),
    ]
    status = suite.run_suite(entries, str(tmp_path), quick=True, folder=None, command="test")
    said = capfd.readouterr()
    assert status == 1
    assert "which_is_not_there ended with status 1" in said.out
    assert "No module named" in said.err
    failed, skipped = results.read_results(str(tmp_path / "results.json"))["benchmarks"]
    assert failed["status"] == 1
    assert skipped["status"] == 0
    assert "pip install a_package_that_nobody_has" in skipped["skipped"][0]["why"]


def test_compare(tmp_path, capsys):
    before = write(tmp_path / "a.json", make_results())
    slower = write(tmp_path / "b.json", make_results(factor=2.0))
    assert main(["bench", "compare", before, slower]) == 1
    said = capsys.readouterr().out
    assert "1 worse, 0 better, 1 as before" in said
    assert "0.50" in said
    assert main(["bench", "compare", slower, before]) == 0
    assert "0 worse, 1 better" in capsys.readouterr().out
    assert main(["bench", "compare", before, slower, "--share", "2"]) == 0


def test_compare_says_what_else_changed(tmp_path, capsys):
    other = make_results(quick=True)
    other["environment"]["cores"] = 64
    other["benchmarks"][0]["tables"]["new"] = other["benchmarks"][0]["tables"]["Uniform <walks>"]
    other["benchmarks"][0]["units"]["new"] = other["benchmarks"][0]["units"]["Uniform <walks>"]
    paths = write(tmp_path / "a.json", make_results()), write(tmp_path / "b.json", other)
    assert main(["bench", "compare", *paths]) == 0
    said = capsys.readouterr().out
    assert "cores: 2 before, 64 now" in said
    assert "one of these was a quick run" in said
    assert "2 in one run only" in said


def test_spreads_that_meet_are_no_change():
    before, after = make_results(), make_results(factor=1.15)
    (slower, same) = compare.changes(before, after)
    assert slower.gain == pytest.approx(1 / 1.15)
    assert not slower.is_clear(0.1)  # 0.9 to 1.1 meets 1.035 to 1.265
    assert same.gain == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "there is no benchmark 'nothing'"),
        (["compare", "one.json"], "usage: graphmount bench compare"),
        (["report"], "usage: graphmount bench report"),
        (["list", "more"], "usage: graphmount bench list"),
        (["report", "missing.json"], "missing.json"),
    ],
)
def test_refused(arguments, message, capsys):
    assert main(["bench", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("content", ["{", "[1]", '{"format": "other"}'])
def test_files_that_are_no_results(content, tmp_path, capsys):
    path = tmp_path / "x.json"
    path.write_text(content)
    assert main(["bench", "report", str(path)]) == 2
    assert "results.json" in capsys.readouterr().err


def test_peers(tmp_path, capsys):
    assert main(["bench", "peers", "--folder", str(tmp_path)]) == 0
    assert "graphbolt" in capsys.readouterr().out
    assert main(["bench", "peers", "nobody", "--folder", str(tmp_path)]) == 1
    assert "nobody" in capsys.readouterr().err


def test_list(capsys):
    assert main(["bench", "list"]) == 0
    assert "batches with little memory" in capsys.readouterr().out
