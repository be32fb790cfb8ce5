"""`benchmarks/real.py` keeps what its parts find, skips parts without data, and writes the tables of the docs."""

import importlib.util
import sys
from types import SimpleNamespace

import pytest
import tqdm.auto  # noqa: F401, benchmarks switch it off, and it reads that once

from tests.test_equality import BENCHMARKS

AFTER = "<!-- /real -->\n\nBetween.\n\n<!-- real: never -->\nkept\n<!-- /real -->\n"
PAGE = f"Before.\n\n<!-- real: cells -->\nold\n{AFTER}"


@pytest.fixture(scope="module")
def real():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        patch.setenv("TQDM_DISABLE", "1")
        spec = importlib.util.spec_from_file_location("real", BENCHMARKS / "real.py")
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    del sys.modules[spec.name]


@pytest.fixture
def run(real, tmp_path, monkeypatch):
    """Run a part with this `report`, its results in a folder of its own."""
    # paths are told relative to the project
    monkeypatch.setattr(real._record, "RESULTS", tmp_path)
    monkeypatch.setattr(real._record, "DOCS", tmp_path / "docs")

    def run(report):
        monkeypatch.setitem(sys.modules, "_real_cells_part", SimpleNamespace(report=report))
        monkeypatch.setattr(real, "import_module", lambda name: sys.modules["_real_cells_part"])
        return real.run("cells", 3, quick=False)

    return run


def test_a_part_hands_over_the_tables_that_it_prints(real, run, tmp_path, capsys):
    outcome = run(lambda seeds: real._record._tools.table("Title", ["a", "b"], [[seeds, 0.12345], ["x", None]]))
    assert outcome.startswith("1 table")
    assert real._record.markdown("cells", 1, tmp_path).splitlines()[1:] == [
        "*Title* (`benchmarks/real.py cells --seeds 3`)",
        "",
        "| a | b |",
        "| --- | --- |",
        "| 3 | 0.123 |",
        "| x | None |",
        "",
    ]
    assert "## Title" in capsys.readouterr().out


def test_what_an_interrupted_part_has_measured_is_kept(real, run, tmp_path):
    def report(seeds):
        real._record._tools.table("first", ["a"], [[1]])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(report)
    assert "| 1 |" in real._record.markdown("cells", 1, tmp_path)
    assert real._record.markdown("cells", 2, tmp_path) is None


def test_tables_that_a_part_returns_are_kept_too_and_once(real, run):
    def report(seeds):
        real._record._tools.table("printed", ["a"], [[1]])
        tables = [{"title": name, "head": ["a"], "rows": [[1]]} for name in ("printed", "returned")]
        return {"both": tables}

    assert run(report).startswith("2 tables")


def test_a_part_without_its_data_is_skipped_and_says_what_is_missing(real, run, tmp_path, monkeypatch):
    tools = real._record._tools
    monkeypatch.setattr(tools, "MORE_DATA", tmp_path / "more")
    assert run(lambda seeds: tools.more_data_file("harmony", "cells.h5ad")) == (
        f"skipped: no {tmp_path / 'more' / 'harmony' / 'cells.h5ad'}; name the folder of the data in DIFFNB_MORE_DATA"
    )
    monkeypatch.setattr(tools, "DATA", tmp_path / "data")
    assert run(lambda seeds: (tmp_path / "data" / "kang.h5ad").read_bytes()).startswith("skipped: [Errno 2]")
    assert not list(tmp_path.glob("*.json"))


def test_a_part_that_fails_is_not_called_skipped(run, capsys):
    def report(seeds):
        raise FileNotFoundError("elsewhere")

    assert run(report) == "failed"
    assert "FileNotFoundError: elsewhere" in capsys.readouterr().err


def test_a_part_is_told_to_be_quick_only_if_it_asks(run):
    told = []
    run(lambda seeds: told.append(seeds))
    run(lambda seeds, quick: told.append((seeds, quick)))
    assert told == [3, (3, False)]


def test_tables_are_written_between_their_markers_and_nowhere_else(real, run, tmp_path):
    run(lambda seeds: real._record._tools.table("Title", ["a"], [["new"]]))
    text = real._record.filled(PAGE, tmp_path)
    assert "| new |" in text
    assert "old" not in text
    assert text.startswith("Before.\n")
    assert text.endswith(AFTER)
    assert real._record.filled(text, tmp_path) == text


def test_the_pages_show_the_results_that_are_kept(real):
    for page in real._record.marked_pages():
        text = page.read_text(encoding="utf-8")
        assert real._record.filled(text) == text, f"{page.name}: run `python benchmarks/real.py --show`"


def test_without_names_every_part_runs(real, monkeypatch, capsys):
    ran = []
    monkeypatch.setattr(real, "run", lambda part, seeds, *, quick: ran.append((part, seeds, quick)) or "done")
    monkeypatch.setattr(sys, "argv", ["real.py", "--quick"])
    real.main()
    assert ran == [(part, 1, True) for part in real.PARTS]
    assert "interferon: done" in capsys.readouterr().out


def test_the_command_fails_if_a_part_fails(real, monkeypatch):
    monkeypatch.setattr(real, "run", lambda part, seeds, *, quick: "failed")
    monkeypatch.setattr(sys, "argv", ["real.py", "depth"])
    with pytest.raises(SystemExit, match="1"):
        real.main()
