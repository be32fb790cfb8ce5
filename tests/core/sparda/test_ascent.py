import numpy as np
import pytest
from reference import sparda as reference

from diffnb.core.sparda.ascent import MAX_STARTS, feasible, normalised, signed, starts, tighten, top_k
from diffnb.core.sparda.divergence import DIVERGENCES, evaluate_divergence
from diffnb.core.sparda.labelings import labelings_of
from diffnb.core.sparda.path import PathSettings, fit_path, k_grid

W2 = DIVERGENCES["wasserstein2"]


class TestTighten:
    def test_equals_the_plain_ascent_from_every_start(self, populations, rng):
        x, y = populations[0][:15], populations[1][:20]
        begin = normalised(rng.normal(size=(4, 12)))
        k = np.array([2, 3, 5, 12])
        beta, value = tighten(labelings_of(x, y, standardize=None), begin, k, np.zeros(4, dtype=int), W2)
        for i in range(4):
            expected, height = reference.tighten(x, y, begin[i], k[i])
            np.testing.assert_allclose(beta[i], expected, atol=1e-9)
            assert value[i] == pytest.approx(height, abs=1e-12)

    @pytest.mark.parametrize("name", list(DIVERGENCES))
    def test_never_falls_and_keeps_to_k(self, populations, name, rng):
        labelings, divergence = labelings_of(*populations), DIVERGENCES[name]
        begin, k, labeling = rng.normal(size=(5, 12)), np.array([1, 2, 4, 8, 12]), np.zeros(5, dtype=int)
        projected = labelings.project(feasible(begin, k), labeling)
        before = evaluate_divergence(*projected, divergence, labelings.coupling).values
        beta, value = tighten(labelings, begin, k, labeling, divergence)
        assert (value >= before).all()
        assert ((beta != 0).sum(axis=1) <= k).all()
        np.testing.assert_allclose(np.linalg.norm(beta, axis=1), 1)

    def test_rows_are_independent_of_each_other(self, rng, only):
        """Also where nothing differs and many directions are nearly as good: rounding must not lead elsewhere."""
        labelings, begin = labelings_of(*rng.normal(size=(2, 50, 12))), rng.normal(size=(40, 12))
        concurrently = tighten(labelings, begin, np.full(40, 8), np.zeros(40, dtype=int), W2)
        for i in range(40):
            alone = tighten(labelings, begin[[i]], np.array([8]), only, W2)
            np.testing.assert_allclose(concurrently[0][i], alone[0][0], atol=1e-12)
            np.testing.assert_allclose(concurrently[1][i], alone[1][0], rtol=1e-12)

    def test_a_start_of_zeros_stays(self, populations, only):
        beta, value = tighten(labelings_of(*populations), np.zeros((1, 12)), np.array([3]), only, W2)
        assert (beta == 0).all()
        assert value[0] == 0


def test_keeps_exactly_k_where_entries_are_equal():
    kept = top_k(np.ones((3, 6)), np.array([1, 4, 6]))
    assert (kept != 0).sum(axis=1).tolist() == [1, 4, 6]


def test_feasible_directions_are_of_unit_length_and_close_to_the_largest_entries(rng):
    beta, k = rng.normal(size=(4, 30)), np.array([1, 5, 12, 30])
    found = feasible(beta, k)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(found, normalised(top_k(beta, k)), atol=1e-7)
    np.testing.assert_array_equal(feasible(beta + 1e-14 * rng.normal(size=beta.shape), k), found)


def test_the_largest_weight_is_positive(rng):
    beta = signed(rng.normal(size=(6, 9)))
    assert (np.take_along_axis(beta, np.abs(beta).argmax(axis=1)[:, None], axis=1) > 0).all()


class TestStarts:
    def test_are_the_mean_difference_and_where_variances_differ_most(self, populations):
        x, y = populations
        found = starts(labelings_of(x, y, standardize=None))[0]
        shift = x.mean(axis=0) - y.mean(axis=0)
        assert abs(found[0] @ shift) == pytest.approx(np.linalg.norm(shift))
        _, vectors = np.linalg.eigh(np.cov(x.T, bias=True) - np.cov(y.T, bias=True))
        for row, expected in zip(found[1:5], vectors[:, [0, 1, -2, -1]].T, strict=True):
            assert abs(row @ expected) == pytest.approx(1, abs=1e-6)

    @pytest.mark.parametrize("relaxed", [False, True])
    def test_are_of_unit_length_and_no_more_than_memory_is_reserved_for(self, populations, relaxed):
        found = starts(labelings_of(*populations), relaxed=relaxed)
        assert found.shape[1] == (MAX_STARTS if relaxed else MAX_STARTS - 3)
        np.testing.assert_allclose(np.linalg.norm(found, axis=2), 1, atol=1e-10)

    def test_contain_no_constant_feature(self, populations):
        x, y = populations
        x[:, 7] = y[:, 7] = 3.0
        assert (starts(labelings_of(x, y))[..., 7] == 0).all()

    def test_are_not_led_by_the_rounding_of_equal_means(self, populations):
        x, y = populations
        found = starts(labelings_of(x + 1e3, y + 1e3, standardize="within"))[0]
        again = starts(labelings_of(x, y, standardize="within"))[0]
        np.testing.assert_allclose(np.abs(found[0] @ again[0]), 1, atol=1e-6)

    def test_where_variances_differ_most_have_nothing_along_a_deflated_direction(self, populations, rng):
        """With all eigenvectors among the starts, the deflated one would be led by rounding alone."""
        labelings = labelings_of(*(m[:, :4] for m in populations))
        deflated = normalised(rng.normal(size=(1, 4)))[0]
        found = starts(labelings.deflated_by(deflated))[0, 1:5]
        np.testing.assert_allclose(found @ deflated, 0, atol=1e-12)
        assert sorted(np.linalg.norm(found, axis=1).round(12)) == [0, 1, 1, 1]

    @pytest.mark.parametrize("solver", ["relaxed", "plain"])
    def test_every_labeling_has_those_it_has_alone(self, populations, solver, rng):
        order = np.stack([rng.permutation(95) for _ in range(3)])
        labelings = labelings_of(*populations).relabeled(order[:, :40], order[:, 40:], standardize="global")
        found = starts(labelings, relaxed=solver == "relaxed")
        for i in range(3):
            alone = starts(labelings.single(i), relaxed=solver == "relaxed")[0]
            np.testing.assert_allclose(np.abs(np.einsum("sp,sp->s", found[i], alone)), 1, atol=1e-6)

    def test_few_of_them_reach_the_best_of_many(self):
        short = 0
        for seed in range(8):
            rng = np.random.default_rng(seed)
            x, y = rng.normal(size=(40, 8)), rng.normal(size=(50, 8)) @ rng.normal(size=(8, 8)) / 3
            labelings = labelings_of(x, y, standardize=None)
            many = tighten(labelings, rng.normal(size=(100, 8)), np.full(100, 8), np.zeros(100, dtype=int), W2)[1]
            ours = fit_path(labelings, k_grid(8), PathSettings()).objective[0, -1]
            short += ours < 0.99 * many.max()
        assert short <= 1
