"""The command line calls the tools, with their names and defaults."""

import functools
import inspect
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest

import diffnb as dn
from diffnb.cli import main
from diffnb.cli._parser import make_parser, tools

ROOT = Path(__file__).resolve().parents[2]
QUICK = ["--n-components", "2", "--n-clusters", "2"]


@pytest.fixture
def cells(adata, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    adata.write_h5ad("cells.h5ad")
    Path("folder.zarr").mkdir()
    return adata


def options_of(name):
    (commands,) = (a for a in make_parser()._actions if a.dest == "tool")
    return {action.dest: action for action in commands.choices[name]._actions}


def run(*words):
    try:
        return main([str(word) for word in words])
    except SystemExit as stopped:
        return stopped.code


@pytest.mark.parametrize("name", list(tools()))
def test_a_command_has_the_arguments_of_its_tool(name):
    expected = set(inspect.signature(tools()[name]).parameters) - {"adata", "copy"}
    given = options_of(name)
    assert set(given) - {"help", "input", "out", "tables", "report", "json"} == expected
    assert all(given[argument].help for argument in expected)


def test_tools_of_two_data_sets_have_no_command():
    assert set(dn.tl.__all__) - set(tools()) == {"preservation", "project"}


def test_the_result_is_that_of_the_call(cells):
    assert run("disc", "cells.h5ad", "--groupby", "condition", *QUICK, "--out", "result.h5ad") == 0
    dn.tl.disc(cells, "condition", n_components=2, n_clusters=2)
    found = anndata.read_h5ad("result.h5ad")
    np.testing.assert_array_equal(found.uns["disc"]["sigma"], cells.uns["disc"]["sigma"])
    pd.testing.assert_frame_equal(dn.get.disc(found), dn.get.disc(cells))
    assert not list(Path().glob(".*partial"))


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
def test_every_kind_of_value_is_read(cells):
    words = shlex.split(
        "disc cells.h5ad --groupby condition --groups stim,ctrl --n-eigenvectors ctrl=3,stim=4 --no-density-normalize"
        " --standardize none --n-neighbors 5 --covariates age --mask-var chosen --key-added mine --out r.zarr"
    )
    assert run(*words, "--n-clusters", "2", "--question", "any difference") == 0
    params = dn.get.params(anndata.read_zarr("r.zarr"), key="mine")
    assert list(np.atleast_1d(params["covariates"])) == ["age"]
    expected = {
        "groups": ["stim", "ctrl"],
        "n_eigenvectors": {"ctrl": 3, "stim": 4},
        "density_normalize": False,
        "standardize": None,
        "n_neighbors": 5,
        "n_components": 10,
    }
    assert {name: params[name] for name in expected} == expected


def test_a_summary_tables_and_a_report_are_written(cells, capsys):
    words = ["disc", "cells.h5ad", "--groupby", "condition", *QUICK, "--json", "--tables", "t", "--report", "r.html"]
    assert run(*words) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["tool"] == summary["key"] == "disc"
    assert summary["arguments"] == {"groupby": "condition", "n_components": 2, "n_clusters": 2}
    assert {"t/disc.csv", "t/disc.disc_significance.csv", "r.html"} <= set(summary["written"])
    assert all(Path(path).stat().st_size for path in summary["written"])
    assert len(pd.read_csv("t/disc.csv")) == len(dn.get.disc(_called(cells)))


def _called(cells):
    dn.tl.disc(cells, "condition", n_components=2, n_clusters=2)
    return cells


def test_a_file_that_is_no_anndata_is_named(cells, capsys):
    Path("text.h5ad").write_text("no HDF5")
    assert run("scorecard", "text.h5ad", "--groupby", "condition", "--json") == 1
    assert "input 'text.h5ad' cannot be read as an AnnData" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["disc", "cells.h5ad", "--groupby", "conditions", "--json"], 1, "Did you mean 'condition'"),
        (["disc", "no.h5ad", "--groupby", "condition", "--json"], 1, "input 'no.h5ad' does not exist"),
        (["disc", "cells.h5ad", "--json"], 2, "--groupby"),
        (["disc", "cells.h5ad", "--groupby", "condition"], 2, "nothing would be kept"),
        (["disc", "cells.csv", "--groupby", "condition", "--json"], 2, r"ends neither in \.h5ad nor in \.zarr"),
        (["disc", "cells.h5ad", "--groupby", "condition", "--n-components", "few", "--json"], 2, "an integer"),
        (["disc", "cells.h5ad", "--groupby", "condition", "--out", "folder.zarr"], 2, "folder that exists"),
        (["hubs", "cells.h5ad"], 2, "invalid choice"),
        ([], 2, "required: tool"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_refused_has_a_message_and_an_exit_code(cells, capsys, words, code, message):
    assert run(*words) == code
    assert re.search(message, capsys.readouterr().err)


def test_an_interrupt_writes_nothing(cells, monkeypatch, capsys):
    @functools.wraps(dn.tl.scorecard)
    def interrupted(adata, **arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(dn.tl, "scorecard", interrupted)
    assert run("scorecard", "cells.h5ad", "--groupby", "condition", "--out", "r.h5ad") == 130
    assert not Path("r.h5ad").exists()
    assert "nothing was written" in capsys.readouterr().err


def test_an_interrupt_while_a_file_is_written_leaves_the_one_that_was_there(cells, monkeypatch):
    def interrupted(self, path, **options):
        Path(path).write_text("half")
        raise KeyboardInterrupt

    Path("r.h5ad").write_text("earlier")
    monkeypatch.setattr(type(cells), "write_h5ad", interrupted)
    assert run("scorecard", "cells.h5ad", "--groupby", "condition", "--out", "r.h5ad") == 130
    assert Path("r.h5ad").read_text() == "earlier"
    assert sorted(path.name for path in Path().iterdir()) == ["cells.h5ad", "folder.zarr", "r.h5ad"]


def test_no_spreadsheet_runs_the_name_of_a_feature(cells):
    cells.var_names = ["=1+1", *cells.var_names[1:]]
    cells.write_h5ad("cells.h5ad")
    run("scorecard", "cells.h5ad", "--groupby", "condition", "--tables", "t")
    read = pd.read_csv("t/scorecard.csv", index_col=0)
    assert "'=1+1" in read.index
    assert read["mean_stat"].dtype == float


def test_warnings_of_the_tool_are_printed_once(cells, capsys):
    cells.X[:, 3] = 1
    cells.write_h5ad("constant.h5ad")
    assert run("scorecard", "constant.h5ad", "--groupby", "condition", "--json") == 0
    printed = capsys.readouterr()
    assert printed.err.count("1 constant feature left out") == 1
    assert json.loads(printed.out)["warnings"]


@pytest.mark.slow
def test_the_rule_of_the_docs_runs_as_written(cells):
    page = (ROOT / "docs" / "howto" / "command_line.md").read_text(encoding="utf-8")
    (rule,) = re.findall(r"```python\n(rule .*?)```", page, re.S)
    (command,) = re.findall(r'shell:\s+"""\n(.*?)"""', rule, re.S)
    for name, value in re.findall(r'(input|output\.\w+|report|adata|table)="([^"]+)"', rule):
        command = command.replace(f"{{output.{name}}}", value)
    (source,) = re.findall(r'input:\s+"([^"]+)"', rule)
    words = shlex.split(command.replace("{input}", source).replace("\\\n", " "))
    assert words[0] == "diffnb"
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(Path(value).exists() for _, value in re.findall(r'(adata|report)="([^"]+)"', rule))
    assert "it/s" not in done.stderr
