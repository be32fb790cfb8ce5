import numpy as np
import pytest
from reference import sparda as reference

from diffnb.core.runtime.progress import progress_callback
from diffnb.core.sparda.fit import SpardaOptions, fit_sparda, project_others


def projections(x, y, *args, **options):
    return fit_sparda(x, y, SpardaOptions(*args, **options)).projections


def selected(projection):
    return set(np.flatnonzero(projection.weights))


class TestChoice:
    def test_a_number_or_all_need_no_folds(self, populations):
        for n_features, expected in ((3, 3), (None, 12)):
            (found,) = projections(*populations, n_features)
            assert found.n_features == found.k_chosen == expected
            assert np.isnan(found.held_out).all()

    def test_the_number_is_chosen_by_cross_validation_otherwise(self, populations):
        (found,) = projections(*populations)
        assert found.k_chosen in found.k
        assert found.held_out[found.k == found.k_chosen] >= 0.9 * found.held_out.max()
        assert (found.held_out_sd > 0).all()

    def test_pda_begins_with_a_part_of_all_features(self, rng):
        (found,) = projections(rng.normal(size=(20, 200)), rng.normal(size=(25, 200)), None)
        assert found.k.tolist() == [16, 64, 200]


class TestProjections:
    def test_each_has_less_than_the_one_before(self, populations):
        found = projections(*populations, 4, n_projections=3)
        heights = [f.objective for f in found]
        assert heights == sorted(heights, reverse=True)
        for i, one in enumerate(found):
            for other in found[:i]:
                assert abs(one.direction @ other.weights) < 1e-12

    def test_scores_are_the_projections_of_standardised_data(self, populations):
        x, y = populations
        pooled = np.concatenate(populations)
        z = (pooled - pooled.mean(axis=0)) / pooled.std(axis=0)
        for found in projections(x, y, 4, n_projections=2):
            np.testing.assert_allclose(np.concatenate(found.scores), z @ found.direction, atol=1e-12)
            assert found.objective == pytest.approx(reference.quantile_distance(*found.scores))

    def test_relations_alone_are_seen_within(self, rng):
        x, y = rng.normal(size=(300, 20)), rng.normal(size=(300, 20))
        x[:, 10:] += 2.0
        y[:, :4] += 2.0 * rng.normal(size=(300, 1))
        assert selected(projections(x, y, 4)[0]) <= set(range(10, 20))
        assert selected(projections(x, y, 4, standardize="within")[0]) == {0, 1, 2, 3}

    def test_a_feature_constant_in_one_population_has_no_relation_to_compare(self, populations):
        x, y = populations
        x[:, 7] = 1.0
        assert projections(x, y, None, standardize="within")[0].weights[7] == 0

    def test_the_relaxation_gives_more_starts_never_less(self, populations):
        plain, relaxed = (projections(*populations, None, solver=s)[0].objective for s in ("tighten", "relax"))
        assert relaxed >= plain * (1 - 1e-9)

    @pytest.mark.parametrize("n_features", ["auto", 3, None])
    def test_equal_populations_have_no_direction(self, n_features, rng):
        x = rng.normal(size=(30, 6))
        for found in projections(x, rng.permutation(x), n_features, n_projections=2, certificate=True):
            assert found.objective == 0
            assert found.n_features == 0
            assert not np.concatenate(found.scores).any()
            assert np.isnan(found.certificate)


class TestOthers:
    @pytest.mark.parametrize("standardize", ["global", None])
    def test_are_projected_as_observations_of_the_populations_are(self, populations, standardize):
        x, y = populations
        found = projections(x, y, 4, n_projections=2, standardize=standardize)
        scores = project_others(x, x, y, np.stack([f.direction for f in found]), standardize)
        np.testing.assert_allclose(scores, np.stack([f.scores[0] for f in found], axis=1), atol=1e-12)

    def test_have_no_moments_within_populations(self, populations):
        x, y = populations
        assert np.isnan(project_others(x[:5], x, y, np.ones((2, 12)), "within")).all()


def test_the_same_seed_gives_the_same_bits_and_another_the_same_features(populations):
    first, second, other = (projections(*populations, 4, seed=s)[0] for s in (3, 3, 4))
    np.testing.assert_array_equal(first.weights, second.weights)
    assert selected(first) == selected(other)


def test_jobs_change_nothing(populations):
    one, two = (fit_sparda(*populations, SpardaOptions(), n_jobs=jobs).projections[0] for jobs in (1, 2))
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.held_out, two.held_out)


def test_one_job_is_one_thread(populations, monkeypatch):
    """Folds are evaluated in a pool of threads, which must hold no more than were asked for."""
    from diffnb.core.sparda import cross_validation

    sizes, original = [], cross_validation.thread_pool

    def pool(workers):
        sizes.append(workers)
        return original(workers)

    monkeypatch.setattr(cross_validation, "thread_pool", pool)
    monkeypatch.setattr("diffnb.core.runtime.threads.os.cpu_count", lambda: 4)
    for jobs in (1, 2, None):
        fit_sparda(*(m[:, :5] for m in populations), SpardaOptions(), n_jobs=jobs)
    assert sizes[:2] == [1, 2]
    assert sizes[2] > 2


class TestProgress:
    @pytest.mark.parametrize("divergence", ["wasserstein2", "kolmogorov"])
    @pytest.mark.parametrize("wide", [False, True])
    def test_every_step_of_the_path_is_reported(self, populations, monkeypatch, divergence, wide):
        if wide:
            monkeypatch.setattr("diffnb.core.sparda.path.MAX_FEATURES_WITHOUT_WORKING_SET", 5)
        reported = []
        with progress_callback(lambda *report: reported.append(report)):
            fit_sparda(*populations, SpardaOptions(n_features=4, divergence=divergence), progress="SPARDA")
        names, done, total = zip(*reported, strict=True)
        assert set(names) == {"SPARDA, projection 1, path"}
        assert done == tuple(range(total[0] + 1))
        assert total[0] > 10

    def test_a_callback_can_interrupt(self, populations):
        class Interrupted(Exception):
            pass

        def callback(_, done, __):
            if done == 3:
                raise Interrupted

        with pytest.raises(Interrupted), progress_callback(callback):
            fit_sparda(*populations, SpardaOptions(n_features=4), progress="SPARDA")
