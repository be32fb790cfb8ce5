import numpy as np
import pytest

from diffnb.core.stats.depth import compare_depths


def test_equal_depths_do_not_matter(rng):
    found = compare_depths([rng.lognormal(7, 0.5, 400), rng.lognormal(7, 0.5, 500)])
    assert not found.matters
    assert found.ratio < 1.2


def test_one_condition_twice_as_deep_does(rng):
    found = compare_depths([rng.lognormal(7, 0.5, 400), 2 * rng.lognormal(7, 0.5, 500)])
    assert found.matters
    assert found.ratio == pytest.approx(2, rel=0.2)


def test_cells_of_one_deep_sample_are_not_evidence_about_the_condition(rng):
    codes = np.repeat(np.arange(4), 100)
    depth = rng.lognormal(7, 0.1, 400)
    totals = [depth * np.where(codes == 0, 3.0, 1.0), depth]
    samples = [codes, codes + 10]
    assert compare_depths(totals).matters
    assert not compare_depths(totals, samples=samples).matters


def test_totals_that_are_all_the_same_are_equal():
    assert compare_depths([np.full(5, 1e4), np.full(6, 1e4)]).pval == 1.0


def test_a_condition_without_counts_has_no_depth_to_match():
    found = compare_depths([np.arange(1.0, 41.0), np.zeros(40)])
    assert found.ratio == np.inf
    assert not found.matters
