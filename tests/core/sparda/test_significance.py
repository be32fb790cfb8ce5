import numpy as np
import pytest
import scipy.sparse as sp
from reference import sparda as reference

from diffnb.core.runtime.progress import progress_callback
from diffnb.core.runtime.seeds import draws
from diffnb.core.sparda import significance
from diffnb.core.sparda.fit import SpardaOptions, fit_sparda
from diffnb.core.sparda.labelings import labelings_of
from diffnb.core.sparda.path import PathSettings, fit_path, k_grid
from diffnb.core.sparda.significance import divergence_test


def pvals(x, y, n_permutations, *args, samples=(), **options):
    fit = fit_sparda(x, y, SpardaOptions(*args, **options), samples=samples)
    return [p.pval for p in divergence_test(fit, n_permutations=n_permutations).projections]


class TestPvalues:
    def test_never_fall_below_one_in_n_plus_one(self, populations):
        assert pvals(*populations, 19) == [0.05]

    def test_are_not_small_for_two_samples_of_one_population(self):
        rejected = 0
        for seed in range(20):
            x, y = np.random.default_rng(seed).normal(size=(2, 30, 4))
            rejected += pvals(x, y, 9, seed=seed)[0] <= 0.1
        assert rejected <= 6  # more would come up once in 400 times at a level of 0.1

    @pytest.mark.parametrize("standardize", ["global", "within"])
    def test_are_small_for_a_difference_in_correlation(self, standardize, rng):
        x, y = rng.normal(size=(2, 80, 20))
        y[:, :3] = np.sqrt(0.15) * y[:, :3] + np.sqrt(0.85) * rng.normal(size=(80, 1))
        assert pvals(x, y, 19, standardize=standardize) == [0.05]

    def test_a_shift_is_no_difference_within(self, rng):
        x, y = rng.normal(size=(2, 60, 6))
        y += 2.0
        everywhere, within = (pvals(x, y, 19, 3, standardize=s)[0] for s in ("global", "within"))
        assert everywhere == 0.05
        assert within > 0.05

    @pytest.mark.parametrize("n_features", ["auto", 3, None])
    def test_of_equal_populations_are_one(self, n_features, rng):
        x = rng.normal(size=(30, 6))
        assert pvals(x, rng.permutation(x), 19, n_features) == [1]

    @pytest.mark.parametrize("standardize", ["global", "within"])
    def test_of_sparse_data_are_the_same(self, standardize, counts, stays_sparse):
        x, y = counts(30, 8), counts(34, 8, rate=1.3)
        dense, sparse = (pvals(kind(x), kind(y), 9, standardize=standardize) for kind in (np.asarray, sp.csr_array))
        assert dense == sparse

    def test_later_projections_are_never_more_significant(self, populations):
        found = pvals(*populations, 9, 3, n_projections=3)
        assert found == sorted(found)

    @pytest.mark.parametrize("n_features", ["auto", 3])
    def test_are_those_of_the_plain_statistic(self, populations, n_features):
        """One permutation after the other, each relabeled and standardised by itself."""
        x, y = (m[:, :5] for m in populations)
        z = np.concatenate([x, y])
        ks = k_grid(5, also=3, min_growth=significance.PERMUTATION_GRID_GROWTH)
        objectives = [fit_path(labelings_of(x, y), ks, PathSettings(seed=7)).objective[0]]
        for seed in draws(7, "permutations", 12):
            order = np.random.default_rng(seed).permutation(95)
            labelings = labelings_of(z[np.sort(order[:40])], z[np.sort(order[40:])])
            objectives.append(fit_path(labelings, ks, PathSettings(seed=7)).objective[0])
        if n_features == "auto":
            statistics = reference.largest_deviations(objectives)
        else:
            statistics = [row[ks.tolist().index(3)] for row in objectives]
        expected = reference.pvalue(statistics[0], statistics[1:])
        assert pvals(x, y, 12, n_features, seed=7) == [pytest.approx(expected)]


class TestSamples:
    def test_are_permuted_whole(self, rng):
        """Samples differ from each other, not the populations: cells alone would give a small p-value."""
        level = np.repeat(rng.normal(size=(8, 1, 5)), 10, axis=1).reshape(80, 5)
        z = 2 * level + rng.normal(size=(80, 5))
        codes = np.repeat(np.arange(8), 10)
        (plain,) = pvals(z[:40], z[40:], 39)
        (whole,) = pvals(z[:40], z[40:], 39, samples=[codes[:40], codes[40:]])
        assert plain == pytest.approx(1 / 40)
        assert whole > plain

    def test_of_both_populations_are_exchanged_or_not(self, rng):
        level = np.repeat(3 * rng.normal(size=(8, 1, 4)), 6, axis=1).reshape(48, 4)
        x, y = level + rng.normal(size=(48, 4)), level + rng.normal(size=(48, 4))
        y[:, 0] += 1.0
        codes = np.repeat(np.arange(8), 6)
        (paired,) = pvals(x, y, 99, 1, samples=[codes, codes])
        (unpaired,) = pvals(x, y, 99, 1)
        assert paired <= 0.05 < unpaired + 0.05

    def test_that_are_exchanged_keep_their_rows_together(self, rng):
        samples = [np.repeat([0, 1, 2], [3, 8, 4]), np.repeat([0, 1, 2], 5)]
        codes = np.concatenate(samples)
        n_exchanged = 0
        for _ in range(40):
            x_rows, y_rows = significance._exchanged_within_samples(samples, rng)
            assert sorted([*x_rows, *y_rows]) == list(range(30))
            for name in range(3):
                rows = np.flatnonzero(codes == name)
                stays = set(rows[rows < 15]) <= set(x_rows)
                assert set(x_rows) & set(rows) == set(rows[(rows < 15) == stays])
                n_exchanged += not stays
        assert 40 < n_exchanged < 80


class TestPermutations:
    @pytest.fixture
    def fit(self, populations):
        return fit_sparda(*(m[:, :5] for m in populations), SpardaOptions(3))

    @pytest.fixture
    def permuted_rows(self, fit, monkeypatch):
        """Return the first population of every permutation instead of its objectives."""
        monkeypatch.setattr(significance, "_objectives", lambda _, rows, *__: np.array([x_rows for x_rows, _ in rows]))
        return lambda n: significance._null_objectives(fit.labelings, fit, k_grid(5), n, None, None)

    def test_have_one_seed_each_however_many_there_are(self, permuted_rows):
        rows = permuted_rows(70)
        assert rows.shape == (70, 40)
        assert len({tuple(row) for row in rows}) == 70
        np.testing.assert_array_equal(permuted_rows(4), rows[:4])

    def test_are_the_same_in_batches_of_any_size(self, fit, permuted_rows, set_memory):
        rows = permuted_rows(6)
        assert significance._batch_size(fit.labelings, 6) == 6
        set_memory(1)
        assert significance._batch_size(fit.labelings, 6) == 1
        np.testing.assert_array_equal(permuted_rows(6), rows)

    def test_have_the_same_objectives_in_batches_of_any_size(self, fit, set_memory):
        whole = significance._null_objectives(fit.labelings, fit, k_grid(5), 20, None, None)
        set_memory(1)
        single = significance._null_objectives(fit.labelings, fit, k_grid(5), 20, None, None)
        np.testing.assert_allclose(single, whole, rtol=1e-10)

    def test_batches_are_even_and_fit_in_memory(self, fit, set_memory):
        assert significance._batch_size(fit.labelings, 99) == 25
        n_bytes = 8 * significance.N_ARRAYS_PER_ASCENT * significance.MAX_STARTS * (95 + 5)
        set_memory(16 * 10 * n_bytes)
        assert significance._batch_size(fit.labelings, 99) == 10

    def test_are_computed_one_by_one_where_paths_use_working_sets(self, fit, monkeypatch):
        monkeypatch.setattr(significance, "MAX_FEATURES_WITHOUT_WORKING_SET", 4)
        assert significance._batch_size(fit.labelings, 100) == 1

    @pytest.mark.parametrize("solver", ["tighten", "relax"])
    def test_are_the_same_for_any_number_of_jobs(self, populations, solver):
        fit = fit_sparda(*(m[:, :5] for m in populations), SpardaOptions(3, solver=solver))
        one, two = (divergence_test(fit, n_permutations=4, n_jobs=jobs).projections[0] for jobs in (None, 2))
        assert one.pval == two.pval
        np.testing.assert_array_equal(one.weights, two.weights)

    def test_each_batch_is_reported(self, fit, set_memory):
        set_memory(1)
        reported = []
        with progress_callback(lambda *report: reported.append(report)):
            divergence_test(fit, n_permutations=3, progress="SPARDA")
        assert reported == [("SPARDA, projection 1, permutations", i, 3) for i in range(4)]

    def test_what_is_told_last_is_the_p_value(self, fit):
        notes = []
        with progress_callback(lambda *_: None, notes.append):
            tested = divergence_test(fit, n_permutations=3, progress="SPARDA")
        assert notes[-1] == f"p so far {tested.projections[0].pval:.2g}"


class TestObservedPath:
    def count_paths(self, monkeypatch):
        n_labelings, original = [], significance.fit_path

        def counted(labelings, *args, **options):
            n_labelings.append(labelings.n_labelings)
            return original(labelings, *args, **options)

        monkeypatch.setattr(significance, "fit_path", counted)
        return n_labelings

    def test_of_the_fit_is_used_where_the_grid_is_the_same(self, populations, monkeypatch):
        fit = fit_sparda(*(m[:, :4] for m in populations), SpardaOptions(2))
        n_labelings = self.count_paths(monkeypatch)
        divergence_test(fit, n_permutations=5)
        assert n_labelings == [5]

    def test_is_fitted_on_the_grid_of_the_permutations_otherwise(self, populations, monkeypatch):
        fit = fit_sparda(*populations, SpardaOptions(2))
        n_labelings = self.count_paths(monkeypatch)
        divergence_test(fit, n_permutations=5)
        assert n_labelings == [1, 5]


def test_the_fit_stays_as_it_is(populations):
    fit = fit_sparda(*populations, SpardaOptions(3))
    tested = divergence_test(fit, n_permutations=3)
    assert np.isnan(fit.projections[0].pval)
    assert tested.projections[0].pval >= 0.25
    np.testing.assert_array_equal(tested.projections[0].weights, fit.projections[0].weights)


def test_labels_are_permuted_within_strata(populations):
    """Where every stratum holds one population, every permutation is the data as it is, and nothing is unusual."""
    x, y = populations
    for strata, expected in (
        ([np.zeros(len(x), dtype=int), np.ones(len(y), dtype=int)], 1.0),
        ([np.arange(len(x)) % 2, np.arange(len(y)) % 2], 0.1),
    ):
        fit = fit_sparda(x, y, SpardaOptions(2), strata=strata)
        assert divergence_test(fit, n_permutations=9).projections[0].pval == pytest.approx(expected)
