"""The comparison of two versions of the package notices what differs."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import tqdm.auto  # noqa: F401, see below

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def equality():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        # benchmarks switch progress bars off: not beyond their import, and not for tqdm, which reads this once
        patch.setenv("TQDM_DISABLE", "1")
        spec = importlib.util.spec_from_file_location("equality", BENCHMARKS / "equality.py")
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([0.0, 200.0], [0.0, 202.0], 0.01),
        ([0.0, 0.0], [0.0, 0.5], 0.5),
        ([np.nan, 1.0], [np.nan, 1.0], 0.0),
        ([np.nan, 1.0], [0.0, 1.0], np.inf),
        ([1.0, 2.0], [1.0, 2.0, 3.0], np.inf),
        (["A", "B"], ["A", "C"], 0.5),
    ],
)
def test_differences_are_relative_to_the_largest_value(equality, before, after, expected):
    assert equality.difference(np.array(before), np.array(after)) == pytest.approx(expected)


@pytest.mark.parametrize(("name", "equal"), [("toy | disc | sigma", False), ("random: toy | disc | pval", True)])
def test_only_results_without_random_numbers_must_be_equal(equality, capsys, name, equal):
    rows = equality.compare({name: np.ones(3)}, {name: np.full(3, 1.1)})
    assert equality.report(rows, 1e-12) is equal
    assert "0.100" in capsys.readouterr().out


def test_a_result_of_one_version_only_is_counted(equality, capsys):
    rows = equality.compare({}, {"toy | disc | sigma": np.ones(3)})
    assert equality.report(rows, 1e-12)
    assert "1 computed in one version only" in capsys.readouterr().out


def test_missing_data_is_skipped_and_reported(equality, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(equality, "DATA", tmp_path)
    monkeypatch.setattr(equality, "DATASETS", {"MADELON": equality.DATASETS["MADELON"]})
    assert dict(equality.compute()) == {}
    assert "MADELON skipped: madelon.mat is not in the folder" in capsys.readouterr().out
