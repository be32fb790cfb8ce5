import numpy as np
import pytest
from scipy import stats

from diffnb.core.stats.pvalues import MIN_PVALUE
from diffnb.core.stats.tails import f_pvalues, null_sample_pvalues, shifted_gamma_pvalues, t_pvalues


def gamma_cumulants(shape, scale, shift):
    return np.array([shape * scale + shift, shape * scale**2, 2 * shape * scale**3])


def test_t_is_two_sided_as_that_of_scipy():
    t, df = np.array([-3.0, 0.0, 0.4, 7.0]), np.array([2.0, 5.0, 9.5, 30.0])
    np.testing.assert_allclose(t_pvalues(t, df), 2 * stats.t.sf(np.abs(t), df))


def test_an_infinite_t_has_the_smallest_p_value():
    np.testing.assert_array_equal(t_pvalues(np.array([np.inf, -np.inf]), 3.0), MIN_PVALUE)


def test_f_is_the_upper_tail_of_scipy():
    ratio, first, second = np.array([0.2, 1.0, 9.0]), np.array([1.0, 3.0, 4.5]), np.array([7.0, 8.0, 20.0])
    np.testing.assert_allclose(f_pvalues(ratio, first, second), stats.f.sf(ratio, first, second))


def test_a_shifted_gamma_is_found_by_its_cumulants():
    x = np.array([0.5, 3.0, 12.0])
    cumulants = np.tile(gamma_cumulants(2.5, 1.3, -1.0)[:, None], 3)
    np.testing.assert_allclose(shifted_gamma_pvalues(x, cumulants), stats.gamma.sf(x, 2.5, loc=-1.0, scale=1.3))


def test_below_the_shift_of_a_gamma_every_value_is_exceeded():
    assert shifted_gamma_pvalues(np.array([-2.0]), gamma_cumulants(2.5, 1.3, -1.0)[:, None])[0] == 1.0


def test_a_statistic_that_cannot_vary_is_never_significant():
    assert shifted_gamma_pvalues(np.array([5.0]), np.zeros((3, 1)))[0] == 1.0


def test_the_tail_of_a_null_sample_continues_its_ranks_without_a_jump(rng):
    null = rng.exponential(size=5000)
    threshold = np.quantile(null, 0.9)
    low, high = null_sample_pvalues(np.array([threshold - 1e-9, threshold + 1e-9]), null)
    assert high == pytest.approx(low, abs=0.002)


@pytest.mark.parametrize(("shape", "rtol"), [(0.0, 0.2), (0.3, 0.25)])
def test_the_tail_of_a_null_sample_is_that_of_its_distribution(shape, rtol, rng):
    null = stats.genpareto.rvs(shape, size=5000, random_state=rng)
    x = stats.genpareto.isf([0.05, 1e-3, 1e-5], shape)
    np.testing.assert_allclose(np.log(null_sample_pvalues(x, null)), np.log([0.05, 1e-3, 1e-5]), rtol=rtol)


def test_p_values_of_a_null_sample_fall_as_the_statistic_grows(rng):
    pvals = null_sample_pvalues(np.linspace(0, 50, 400), rng.exponential(size=1000))
    assert np.all(np.diff(pvals) <= 0)
    assert pvals[0] == 1.0


@pytest.mark.parametrize("null", [np.zeros(40), np.arange(20.0)])
def test_few_distinct_null_values_are_compared_by_rank_alone(null):
    low, high = null_sample_pvalues(np.array([-1.0, 1e9]), null)
    assert low == 1.0
    assert high == pytest.approx(2 / (null.size + 1))


@pytest.mark.parametrize("size", [8, 30, 1000])
def test_no_p_value_of_a_tail_is_zero(size, rng):
    pvals = np.concatenate(
        [
            null_sample_pvalues(np.array([1e300]), rng.uniform(size=size)),
            t_pvalues(np.array([1e200]), 1000.0),
            f_pvalues(np.array([1e300]), np.array([9.0]), np.array([9.0])),
            shifted_gamma_pvalues(np.array([1e9]), gamma_cumulants(1.0, 1.0, 0.0)[:, None]),
        ]
    )
    assert (pvals > 0).all()


def test_the_fitted_tail_begins_where_ranks_end(rng):
    null = rng.exponential(size=99)
    threshold = np.quantile(null, 0.9)
    n_above = int((null > threshold).sum())
    (pval,) = null_sample_pvalues(np.array([threshold * (1 + 1e-12)]), null)
    assert pval == pytest.approx((n_above + 1) / 100, rel=1e-6)
