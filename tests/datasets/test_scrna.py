from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from diffnb.datasets import scrna

SMALL = {"n_cells": 60, "n_genes": 800}


@pytest.fixture(scope="module")
def cells():
    return scrna(n_cells=600, n_genes=800, donor_effect=0.05)


def values(adata, condition, role):
    rows = (adata.obs["condition"] == condition).to_numpy()
    return adata.X[rows][:, (adata.var["truth"] == role).to_numpy()].toarray()


def mean_correlation(x):
    correlation = np.corrcoef(x.T)
    return (correlation.sum() - len(correlation)) / (correlation.size - len(correlation))


def test_same_seed_gives_the_same_counts():
    first, again = scrna(**SMALL, random_state=2), scrna(**SMALL, random_state=2)
    assert (first.layers["counts"] != again.layers["counts"]).nnz == 0
    np.testing.assert_array_equal(first.X.data, again.X.data)


def test_another_seed_gives_other_counts():
    first, other = scrna(**SMALL, random_state=2), scrna(**SMALL, random_state=3)
    assert (first.layers["counts"] != other.layers["counts"]).nnz > 1000


def test_counts_are_integers(cells):
    counts = cells.layers["counts"]
    assert sparse.issparse(counts)
    assert counts.format == "csr"
    assert counts.max() > 1
    np.testing.assert_array_equal(counts.data, np.round(counts.data))


def test_x_is_the_logarithm_of_counts_scaled_to_ten_thousand(cells):
    counts = cells.layers["counts"].toarray().astype(float)
    expected = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(cells.X.toarray(), expected, rtol=1e-5)
    assert cells.X.dtype == np.float32
    assert cells.X.format == "csr"


def test_one_module_is_correlated_in_stimulated_cells_only(cells):
    assert mean_correlation(values(cells, "stimulated", "module_stimulated")) > 0.3
    assert abs(mean_correlation(values(cells, "control", "module_stimulated"))) < 0.03


def test_the_other_module_is_correlated_in_both_conditions(cells):
    assert mean_correlation(values(cells, "stimulated", "module_shared")) > 0.3
    assert mean_correlation(values(cells, "control", "module_shared")) > 0.3


def test_genes_of_the_new_module_keep_their_mean_and_spread(cells):
    control, stimulated = (values(cells, c, "module_stimulated") for c in ("control", "stimulated"))
    assert np.abs(stimulated.mean(axis=0) - control.mean(axis=0)).mean() < 0.12
    assert np.median(stimulated.std(axis=0) / control.std(axis=0)) == pytest.approx(1, abs=0.1)


def test_mean_genes_shift_by_their_log_fold_change(cells):
    shift = values(cells, "stimulated", "mean").mean(axis=0) - values(cells, "control", "mean").mean(axis=0)
    planted = cells.var.loc[cells.var["truth"] == "mean", "log_fold_change"]
    assert np.corrcoef(shift, planted)[0, 1] > 0.9
    assert np.abs(shift).mean() > 0.5


def test_null_genes_have_no_fold_change(cells):
    assert (cells.var.loc[cells.var["truth"] == "null", "log_fold_change"] == 0).all()
    shift = values(cells, "stimulated", "null").mean(axis=0) - values(cells, "control", "null").mean(axis=0)
    assert np.abs(shift).mean() < 0.1


def test_spread_genes_spread_in_one_condition_and_hardly_move(cells):
    control, stimulated = (values(cells, c, "spread") for c in ("control", "stimulated"))
    wide = cells.var.loc[cells.var["truth"] == "spread", "spread_in"].to_numpy()
    ratio = stimulated.std(axis=0) / control.std(axis=0)
    assert np.median(ratio[wide == "stimulated"]) > 1.2
    assert np.median(ratio[wide == "control"]) < 1 / 1.2
    assert np.abs(stimulated.mean(axis=0) - control.mean(axis=0)).mean() < 0.12


@pytest.fixture(scope="module")
def shaped():
    return scrna(n_cells=600, n_genes=800, n_distribution=60, donor_effect=0.0)


def test_distribution_genes_keep_their_mean_and_mean_deviation(shaped):
    control, stimulated = (values(shaped, c, "distribution") for c in ("control", "stimulated"))
    deviation = [np.abs(x - np.median(x, axis=0)).mean(axis=0) for x in (control, stimulated)]
    shift = np.abs(stimulated.mean(axis=0) - control.mean(axis=0)) / control.std(axis=0)
    assert shift.mean() < 0.1
    assert np.median(deviation[1] / deviation[0]) == pytest.approx(1, abs=0.05)


def test_distribution_genes_have_lighter_tails_where_they_have_two_peaks(shaped):
    top = np.asarray(shaped.X.mean(axis=0)).ravel()[(shaped.var["truth"] == "distribution").to_numpy()]
    where = shaped.var.loc[shaped.var["truth"] == "distribution", "two_peaks_in"].to_numpy()
    tails = {c: stats.kurtosis(values(shaped, c, "distribution"), axis=0) for c in ("control", "stimulated")}
    strong = top > np.median(top)
    assert (tails["control"] < tails["stimulated"])[strong & (where == "control")].all()
    assert (tails["stimulated"] < tails["control"])[strong & (where == "stimulated")].all()
    assert (where == "control").sum() == 30


def test_distribution_genes_are_simulated_on_request_only(cells, shaped):
    assert "distribution" not in cells.var["truth"].cat.categories
    assert "two_peaks_in" not in cells.var
    assert (shaped.var["truth"] == "distribution").sum() == 60
    assert (shaped.var.loc[shaped.var["truth"] != "distribution", "two_peaks_in"] == "none").all()


def test_every_donor_has_one_condition_unless_paired(cells):
    assert (cells.obs.groupby("donor", observed=True)["condition"].nunique() == 1).all()
    assert cells.obs["donor"].nunique() == 6


def test_paired_donors_have_both_conditions():
    obs = scrna(**SMALL, n_donors=3, paired=True).obs
    assert (obs.groupby("donor", observed=True)["condition"].nunique() == 2).all()
    assert obs["donor"].nunique() == 3


def test_cells_are_distributed_evenly_over_donors():
    obs = scrna(**(SMALL | {"n_cells": 61}), n_donors=4).obs
    assert sorted(obs["donor"].value_counts()) == [30, 30, 31, 31]


def test_donors_differ_by_the_requested_effect():
    def spread_between_donors(effect):
        adata = scrna(n_cells=240, n_genes=800, n_donors=4, donor_effect=effect)
        control = adata[adata.obs["condition"] == "control"]
        means = [control.X[(control.obs["donor"] == d).to_numpy()].mean(axis=0) for d in ("donor_1", "donor_2")]
        return np.abs(np.asarray(means[0] - means[1])).mean()

    assert spread_between_donors(0.8) > 3 * spread_between_donors(0.0)


def test_cell_types_differ_in_their_markers_alone():
    adata = scrna(n_cells=300, n_genes=1200, n_cell_types=2)
    x, marks = adata.X.toarray(), adata.var["marker_of"].to_numpy()
    first = (adata.obs["cell_type"] == "type_1").to_numpy()
    difference = x[first].mean(axis=0) - x[~first].mean(axis=0)
    assert difference[marks == "type_1"].mean() > 0.2
    assert difference[marks == "type_2"].mean() < -0.2
    assert np.abs(difference[marks == "none"]).mean() < 0.1


def test_dropout_affects_weakly_expressed_genes_more_often():
    kept, lost = (scrna(**SMALL, n_mean=0, n_spread=0, dropout=d).layers["counts"] for d in (0.0, 2.0))
    before, after = (np.asarray(c.mean(axis=0)).ravel() for c in (kept, lost))
    strong = before > np.quantile(before, 0.9)
    weak = (before > 0.2) & (before < 1)
    assert np.median(after[strong] / before[strong]) > 0.8
    assert np.median(after[weak] / before[weak]) < 0.6


def test_without_dispersion_counts_vary_less():
    def excess(dispersion):
        counts = scrna(**SMALL, n_mean=0, n_spread=0, module_size=0, dispersion=dispersion).layers["counts"]
        dense = counts.toarray()
        top = np.argsort(dense.mean(axis=0))[-50:]
        return np.median(dense[:, top].var(axis=0) / dense[:, top].mean(axis=0))

    assert excess(1.0) > 2 * excess(0.0)


def test_roles_have_the_requested_numbers_of_genes():
    truth = scrna(**SMALL, n_mean=7, n_spread=11, module_size=13).var["truth"]
    assert truth.value_counts(sort=False).tolist() == [800 - 44, 7, 11, 13, 13]


def test_an_odd_number_of_unpaired_donors_is_refused_with_advice():
    with pytest.raises(ValueError, match=r"n_donors=5 .* even number, or paired=True"):
        scrna(**SMALL, n_donors=5)


def test_too_few_genes_for_the_roles_are_refused_with_the_number_needed():
    with pytest.raises(ValueError, match=r"n_genes=400 .* choose at least 600"):
        scrna(n_cells=20, n_genes=400)
