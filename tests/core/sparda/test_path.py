import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.sparda import path as path_module
from diffnb.core.sparda.divergence import DIVERGENCES, evaluate_divergence
from diffnb.core.sparda.labelings import labelings_of
from diffnb.core.sparda.path import Path, PathSettings, best_single_features, fit_path, k_grid, n_path_steps

W2 = DIVERGENCES["wasserstein2"]


def values(labelings, beta, divergence=W2):
    projected = labelings.project(beta, np.zeros(len(beta), dtype=int))
    return evaluate_divergence(*projected, divergence, labelings.coupling).values


@pytest.fixture
def working_sets(monkeypatch):
    """Let a few features count as many."""
    monkeypatch.setattr(path_module, "MAX_FEATURES_WITHOUT_WORKING_SET", 50)


class TestGrid:
    def test_runs_from_one_to_all(self):
        grid = k_grid(300, also=11)
        assert grid[0] == 1
        assert grid[-1] == 300
        assert 11 in grid
        assert (np.diff(grid) > 0).all()
        assert k_grid(1).tolist() == [1]

    def test_grows_by_no_less_than_asked_for(self):
        assert k_grid(40, min_growth=2.0).tolist() == [1, 2, 4, 8, 16, 32, 40]
        assert k_grid(40).tolist()[:6] == [1, 2, 3, 4, 5, 6]


class TestPath:
    @pytest.mark.parametrize("name", list(DIVERGENCES))
    def test_the_objective_never_falls_with_k_and_is_that_of_the_weights(self, populations, name):
        labelings, ks = labelings_of(*populations), k_grid(12)
        path = fit_path(labelings, ks, PathSettings(DIVERGENCES[name]))
        assert (np.diff(path.objective[0]) >= 0).all()
        assert ((path.weights[0] != 0).sum(axis=1) <= ks).all()
        again = values(labelings, path.weights[0], DIVERGENCES[name])
        np.testing.assert_allclose(again, path.objective[0], rtol=1e-9)

    def test_a_single_feature_is_the_best_of_all(self, populations):
        labelings = labelings_of(*populations)
        each = values(labelings, np.eye(12))
        path = fit_path(labelings, k_grid(12), PathSettings())
        assert path.objective[0, 0] == pytest.approx(each.max())
        assert path.weights[0, 0].argmax() == each.argmax()

    def test_two_features_are_the_best_of_all_pairs(self, populations):
        labelings = labelings_of(*populations)
        angles = np.linspace(0, np.pi, 180, endpoint=False)
        best = 0.0
        for i in range(12):
            for j in range(i):
                beta = np.zeros((180, 12))
                beta[:, i], beta[:, j] = np.cos(angles), np.sin(angles)
                best = max(best, values(labelings, beta).max())
        assert fit_path(labelings, k_grid(12), PathSettings()).objective[0, 1] >= 0.999 * best

    def test_every_labeling_has_the_path_it_has_alone(self, populations, rng):
        order = np.stack([rng.permutation(95) for _ in range(12)])
        labelings = labelings_of(*populations).relabeled(order[:, :40], order[:, 40:], standardize="global")
        paths = fit_path(labelings, k_grid(12), PathSettings())
        for i in range(12):
            alone = fit_path(labelings.single(i), k_grid(12), PathSettings())
            np.testing.assert_allclose(paths.objective[i], alone.objective[0], rtol=1e-10)

    def test_the_better_of_two_is_taken_for_every_k(self):
        weights = np.eye(2)[None]
        one, two = (
            Path(np.array([1, 2]), np.array([[1.0, 4.0]]), weights),
            Path(np.array([1, 2]), np.array([[2.0, 3.0]]), -weights),
        )
        better = one.better_of(two)
        assert better.objective.tolist() == [[2.0, 4.0]]
        assert better.weights.tolist() == [[[-1.0, 0.0], [0.0, 1.0]]]

    @pytest.mark.parametrize("divergence", ["wasserstein2", "kolmogorov"])
    @pytest.mark.parametrize("n_features", [12, 60])
    def test_the_number_of_steps_is_known_beforehand(self, rng, working_sets, divergence, n_features):
        x, y = rng.normal(size=(20, n_features)), rng.normal(size=(25, n_features))
        ks, settings, steps = k_grid(n_features), PathSettings(DIVERGENCES[divergence]), []
        fit_path(labelings_of(x, y), ks, settings, on_step=lambda: steps.append(1))
        assert len(steps) == n_path_steps(ks, settings)


class TestSingleFeatures:
    @pytest.mark.parametrize("standardize", ["global", "within", None])
    def test_are_the_best_of_all_in_their_order(self, populations, standardize):
        labelings = labelings_of(*populations, standardize=standardize)
        each = values(labelings, np.eye(12))
        weights, objectives = best_single_features(labelings, W2)
        best = np.argsort(-each)[:5]
        assert weights[0].argmax(axis=1).tolist() == best.tolist()
        np.testing.assert_allclose(objectives[0], each[best], rtol=1e-12)


class TestDistinct:
    def test_duplicates_up_to_sign_are_dropped_and_the_better_one_is_kept(self):
        beta = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
        kept = path_module._distinct(beta, np.array([1.0, 2.0, 1.5]), np.zeros(3, dtype=int))
        assert kept.tolist() == [1, 2]

    def test_directions_far_below_the_best_are_dropped(self):
        kept = path_module._distinct(np.eye(3), np.array([1.0, 0.6, 0.4]), np.zeros(3, dtype=int))
        assert kept.tolist() == [0, 1]

    def test_labelings_are_not_compared_with_each_other(self):
        beta, labeling = np.ones((4, 1)), np.array([0, 0, 1, 1])
        assert path_module._distinct(beta, np.array([1.0, 2.0, 9.0, 8.0]), labeling).tolist() == [1, 2]

    def test_no_more_are_kept_than_asked_for(self):
        kept = path_module._distinct(np.eye(4), np.array([1.0, 0.9, 0.8, 0.7]), np.zeros(4, dtype=int), 2)
        assert kept.tolist() == [0, 1]


class TestWorkingSets:
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_find_the_same_as_all_features(self, monkeypatch, kind, rng, stays_sparse):
        x, y = rng.normal(size=(150, 120)), rng.normal(size=(150, 120))
        y[:, :5] += 1.5 * rng.normal(size=(150, 1))
        labelings, ks = labelings_of(kind(x), kind(y)), k_grid(120)
        whole = fit_path(labelings, ks, PathSettings())
        monkeypatch.setattr(path_module, "MAX_FEATURES_WITHOUT_WORKING_SET", 50)
        narrow = fit_path(labelings, ks, PathSettings())
        at = ks.tolist().index(5)
        np.testing.assert_allclose(narrow.weights[0, at], whole.weights[0, at], atol=1e-3)
        np.testing.assert_allclose(narrow.objective, whole.objective, rtol=0.05)
        assert (np.diff(narrow.objective[0]) >= 0).all()
        # features of deflated directions stay in the working set
        rest = fit_path(labelings.deflated_by(narrow.weights[0, at]), ks, PathSettings())
        assert rest.objective[0, at] < narrow.objective[0, at]

    def test_hold_the_largest_of_directions_and_gradients_and_all_deflated_features(self, rng):
        x, y = rng.normal(size=(50, 30)), rng.normal(size=(60, 30))
        y[:, 20] += 3.0
        deflated = np.zeros(30)
        deflated[[7, 8]] = 1.0
        labelings = labelings_of(x, y).deflated_by(deflated)
        kept = path_module._working_set(labelings, np.eye(30)[[2]], 4, W2)
        assert {2, 7, 8, 20} == set(kept)

    def test_several_labelings_have_a_path_each(self, rng, working_sets):
        x, y = rng.normal(size=(30, 60)), rng.normal(size=(35, 60))
        order = np.stack([rng.permutation(65) for _ in range(2)])
        labelings = labelings_of(x, y).relabeled(order[:, :30], order[:, 30:], standardize="global")
        paths = fit_path(labelings, k_grid(60), PathSettings())
        for i in range(2):
            alone = fit_path(labelings.single(i), k_grid(60), PathSettings())
            np.testing.assert_allclose(paths.objective[i], alone.objective[0], rtol=1e-10)

    def test_sparse_data_is_never_made_dense_whole(self, monkeypatch, rng, stays_sparse):
        x = sp.random_array((60, 3000), density=0.05, rng=rng, format="csr")
        y = sp.random_array((60, 3000), density=0.05, rng=rng, format="csr")

        def refused(self, *args, **options):
            assert self.shape[1] <= 1000, "made dense whole"
            return original(self, *args, **options)

        original = sp.csr_array.toarray
        monkeypatch.setattr(sp.csr_array, "toarray", refused)
        ks, labelings = k_grid(3000, also=5), labelings_of(x, y)
        at = ks.tolist().index(5)
        first = fit_path(labelings, ks, PathSettings()).weights[0, at]
        second = fit_path(labelings.deflated_by(first), ks, PathSettings()).weights[0, at]
        assert [np.count_nonzero(first), np.count_nonzero(second)] == [5, 5]
