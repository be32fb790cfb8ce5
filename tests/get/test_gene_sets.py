import numpy as np
import pandas as pd
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def done():
    adata = dn.datasets.newly_connected(n_obs=400)
    dn.tl.disc(adata, "condition")
    return adata


def test_every_feature_outside_the_background_is_in_the_set_of_its_group(done):
    sets = dn.get.gene_sets(done)
    assert list(sets) == ["A1", "A2", "B1", "B2"]
    for condition in "AB":
        column = done.var[f"disc_{condition}"]
        for name in (f"{condition}1", f"{condition}2"):
            assert set(sets[name]) == set(done.var_names[column == name])
            assert len(sets[name]) == (column == name).sum() > 0


def test_the_highest_score_comes_first(done):
    score = dn.get.disc(done, group="B")["score"]
    for features in dn.get.gene_sets(done, group="B").values():
        assert score[features].is_monotonic_decreasing


def test_one_condition_can_be_asked_for(done):
    assert list(dn.get.gene_sets(done, group="B")) == ["B1", "B2"]


def test_an_unknown_condition_is_refused(done):
    with pytest.raises(ValueError, match="group='C' was not compared"):
        dn.get.gene_sets(done, group="C")


def test_without_results_the_error_names_the_call_to_make():
    with pytest.raises(KeyError, match=r"run dn\.tl\.disc"):
        dn.get.gene_sets(dn.datasets.newly_connected(n_obs=10))


def test_no_groups_give_no_sets(done):
    adata = done.copy()
    for condition in "AB":
        adata.var[f"disc_{condition}"] = pd.Categorical(np.full(adata.n_vars, "background"))
    assert dn.get.gene_sets(adata) == {}
    assert dn.get.gmt(adata) == ""


def test_a_category_without_features_gives_no_set(done):
    adata = done.copy()
    adata.var["disc_A"] = adata.var["disc_A"].cat.add_categories(["A3"])
    assert list(dn.get.gene_sets(adata, group="A")) == ["A1", "A2"]


def test_groups_of_one_name_are_numbered(done):
    adata = done.copy()
    adata.var["disc_B"] = adata.var["disc_B"].cat.rename_categories({"B1": "A1"})
    sets = dn.get.gene_sets(adata)
    assert list(sets) == ["A1", "A2", "A1_2", "B2"]
    assert set(sets["A1_2"]) == set(dn.get.gene_sets(done)["B1"])


def test_a_line_of_the_gmt_is_name_description_features(done):
    lines = [line.split("\t") for line in dn.get.gmt(done).splitlines()]
    assert {name: features for name, _, *features in lines} == dn.get.gene_sets(done)
    assert [description for _, description, *_ in lines] == ["DiSC, condition A"] * 2 + ["DiSC, condition B"] * 2


@pytest.mark.filterwarnings("ignore::diffnb.StaleResultsWarning")
def test_tabs_in_names_do_not_part_a_field_of_the_gmt(done):
    adata = done.copy()
    first = dn.get.gene_sets(adata)["A1"][0]
    adata.var_names = ["an odd\tname" if name == first else name for name in adata.var_names]
    line = dn.get.gmt(adata).splitlines()[0].split("\t")
    assert line[2] == "an odd name"
    assert len(line) == 2 + len(dn.get.gene_sets(done)["A1"])


def test_the_text_ends_with_a_line_break_and_comes_back_from_a_file(done, tmp_path):
    path = tmp_path / "groups.gmt"
    path.write_text(dn.get.gmt(done), encoding="utf-8")
    assert path.read_text(encoding="utf-8").endswith("\n")
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4


def test_reading_sets_changes_nothing(done):
    before = done.copy()
    dn.get.gene_sets(done)["A1"].clear()
    dn.get.gmt(done)
    assert done.var.equals(before.var)
    assert done.varm["disc"].equals(before.varm["disc"])
