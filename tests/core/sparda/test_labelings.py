import numpy as np
import pytest
import scipy.sparse as sp
from reference import sparda as reference

from diffnb.core.sparda.ascent import normalised
from diffnb.core.sparda.divergence import DIVERGENCES, evaluate_divergence
from diffnb.core.sparda.labelings import labelings_of, pooled_mean_and_scale, within_mean_and_scale

W2 = DIVERGENCES["wasserstein2"]
STANDARDIZE = ["global", "within", None]


def value_and_gradient(labelings, beta):
    labeling = np.zeros(len(beta), dtype=int)
    found = evaluate_divergence(*labelings.project(beta, labeling), W2, labelings.coupling)
    slopes = found.slopes(np.arange(len(beta)), W2, labelings.coupling)
    return found.values, labelings.gradient(*slopes, labeling)


def standardized(x, y, standardize):
    """Both populations, standardised by the definition."""
    if standardize == "global":
        pooled = np.concatenate([x, y])
        return [(m - pooled.mean(axis=0)) / pooled.std(axis=0) for m in (x, y)]
    return [(m - m.mean(axis=0)) / m.std(axis=0) if standardize else m for m in (x, y)]


class TestProducts:
    def test_value_and_gradient_equal_those_of_the_best_coupling(self, populations, rng):
        x, y = populations[0][:12], populations[1][:17]
        beta = normalised(rng.normal(size=(3, 12)))
        values, gradients = value_and_gradient(labelings_of(x, y, standardize=None), beta)
        np.testing.assert_allclose(values, [reference.objective(x, y, b) for b in beta], atol=1e-12)
        np.testing.assert_allclose(gradients, [reference.gradient(x, y, b) for b in beta], atol=1e-9)

    @pytest.mark.parametrize("standardize", STANDARDIZE)
    def test_the_gradient_equals_finite_differences_and_twice_the_value_along_beta(self, populations, standardize, rng):
        labelings = labelings_of(*populations, standardize=standardize)
        beta = normalised(rng.normal(size=(1, 12)))
        values, gradients = value_and_gradient(labelings, beta)
        assert (gradients @ beta.T).item() == pytest.approx(2 * values[0], rel=1e-12)
        for j in range(12):
            step = 1e-6 * np.eye(12)[[j]]
            up, down = (value_and_gradient(labelings, beta + s)[0][0] for s in (step, -step))
            assert (up - down) / 2e-6 == pytest.approx(gradients[0, j], abs=1e-6)

    @pytest.mark.parametrize("standardize", STANDARDIZE)
    def test_every_kind_of_array_gives_the_same_products(self, array_type, standardize, counts, rng, stays_sparse):
        x, y = counts(30), counts(41, rate=1.5)
        x[:, 3], y[:, 7] = 0.0, 2.0
        beta = rng.normal(size=(4, 15))
        plain = value_and_gradient(labelings_of(x, y, standardize=standardize), beta)
        other = value_and_gradient(labelings_of(array_type(x), array_type(y), standardize=standardize), beta)
        for ours, theirs in zip(other, plain, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-11)


class TestRelabeled:
    @pytest.mark.parametrize("standardize", STANDARDIZE)
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_projections_are_those_of_the_populations_it_makes(
        self, standardize, kind, counts, rng, only, stays_sparse
    ):
        x, y = counts(20), counts(25, rate=1.5)
        order = np.stack([rng.permutation(45) for _ in range(3)])
        labelings = labelings_of(kind(x), kind(y), standardize=standardize)
        relabeled = labelings.relabeled(order[:, :20], order[:, 20:], standardize=standardize)
        beta = rng.normal(size=(3, 15))
        if standardize == "within":  # first within the observed populations, then within the new ones
            x, y = standardized(x, y, "within")
        z = np.concatenate([x, y])
        u, v = relabeled.project(beta, np.arange(3))
        for i in range(3):
            first, second = z[order[i, :20]], z[order[i, 20:]]
            expected = labelings_of(first, second, standardize=standardize).project(beta[[i]], only)
            for ours, theirs in zip((u[i], v[i]), expected, strict=True):
                np.testing.assert_allclose(ours, theirs[0], atol=1e-11)

    @pytest.mark.parametrize("standardize", STANDARDIZE)
    def test_a_single_labeling_is_that_of_several(self, populations, standardize, rng, only):
        order = np.stack([rng.permutation(95) for _ in range(3)])
        labelings = labelings_of(*populations, standardize=standardize)
        relabeled = labelings.relabeled(order[:, :40], order[:, 40:], standardize=standardize)
        beta = rng.normal(size=(1, 12))
        for ours, theirs in zip(
            relabeled.single(2).project(beta, only), relabeled.project(beta, np.array([2])), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)


class TestDeflation:
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_nothing_is_left_along_what_was_deflated(self, kind, counts, rng, only, stays_sparse):
        labelings = labelings_of(kind(counts(20)), kind(counts(25)))
        first, second = np.linalg.qr(rng.normal(size=(15, 2)))[0].T
        rest = labelings.deflated_by(first).deflated_by(second)
        for u in rest.project(np.stack([first, second]), np.zeros(2, dtype=int)):
            np.testing.assert_allclose(u, 0, atol=1e-12)
        x, y = rest.populations(0)
        np.testing.assert_allclose(x @ first, 0, atol=1e-12)
        np.testing.assert_allclose(rest.project(np.eye(15)[:1], only)[1][0], y[:, 0], atol=1e-12)

    def test_the_same_direction_is_deflated_once(self, populations, rng):
        labelings = labelings_of(*populations).deflated_by(rng.normal(size=12))
        assert labelings.deflated_by(labelings.deflated[0]) is labelings


class TestPopulations:
    @pytest.mark.parametrize("standardize", STANDARDIZE)
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_are_standardised_by_the_definition(self, standardize, kind, counts, stays_sparse):
        x, y = counts(20), counts(25, rate=1.5)
        found = labelings_of(kind(x), kind(y), standardize=standardize).populations(0)
        for ours, theirs in zip(found, standardized(x, y, standardize), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)

    def test_a_subsample_has_those_rows(self, populations):
        labelings = labelings_of(*populations)
        rows = np.array([3, 7]), slice(0, 5)
        whole, some = labelings.populations(0), labelings.populations(0, subsample=rows)
        for i in range(2):
            np.testing.assert_array_equal(some[i], whole[i][rows[i]])

    def test_a_feature_constant_in_one_population_is_zero_within_both(self, populations):
        x, y = populations
        x[:, 7] = 1.0
        for population in labelings_of(x, y, standardize="within").populations(0):
            assert (population[:, 7] == 0).all()

    def test_large_data_in_single_precision_stays_so(self, populations, monkeypatch, rng):
        x, y = (m.astype(np.float32) for m in populations)
        monkeypatch.setattr("diffnb.core.sparda.labelings.MAX_NUMBERS_IN_DOUBLE", 1000)
        labelings, double = labelings_of(x, y), labelings_of(*populations)
        assert labelings.parts[0].x.dtype == np.float32
        beta = rng.normal(size=(2, 12))
        for ours, theirs in zip(value_and_gradient(labelings, beta), value_and_gradient(double, beta), strict=True):
            assert ours.dtype == np.float64
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_moments_are_those_of_numpy(counts):
    x, y = counts(20), counts(25, rate=1.5)
    x[:, 3] = y[:, 3] = 2.0
    y[:, 5] = 1.0
    pooled = np.concatenate([x, y])
    mean, scale = pooled_mean_and_scale(x, y)
    varies = np.arange(15) != 3
    np.testing.assert_allclose(mean, pooled.mean(axis=0))
    np.testing.assert_allclose(scale[varies], 1 / pooled.std(axis=0)[varies])
    assert scale[3] == 0
    in_both = varies & (np.arange(15) != 5)
    for (mean, scale), m in zip(within_mean_and_scale(x, y), (x, y), strict=True):
        np.testing.assert_allclose(mean, m.mean(axis=0))
        np.testing.assert_allclose(scale[in_both], 1 / m.std(axis=0)[in_both])
        assert (scale[~in_both] == 0).all()


def test_some_features_give_the_same_as_all_with_the_others_at_zero(populations, rng, only, stays_sparse):
    labelings = labelings_of(*(sp.csr_array(m) for m in populations), standardize="within")
    deflated = np.zeros(12)
    deflated[[1, 4]] = 0.6, 0.8
    for whole in (labelings, labelings.deflated_by(deflated)):
        chosen = np.array([0, 1, 4, 9])
        beta = np.zeros((1, 12))
        beta[0, chosen] = rng.normal(size=4)
        for ours, theirs in zip(
            whole.restricted(chosen).project(beta[:, chosen], only), whole.project(beta, only), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)
