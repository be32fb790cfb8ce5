import numpy as np
import pytest

from diffnb import datasets


def test_moons_are_half_circles_and_the_rest_is_noise():
    adata = datasets.two_moons(5, n_obs=400, noise=0.0)
    upper = (adata.obs["moon"] == "upper").to_numpy()
    np.testing.assert_allclose((adata.X[upper, :2] ** 2).sum(axis=1), 1)
    np.testing.assert_allclose(((adata.X[~upper, :2] - [1, 0.5]) ** 2).sum(axis=1), 1)
    assert (adata.X[upper, 1] >= 0).all()
    assert (adata.X[~upper, 1] <= 0.5).all()
    np.testing.assert_allclose(adata.X[:, 2:].std(axis=0), 1, atol=0.15)
    assert adata.var["truth"].tolist() == [True] * 2 + [False] * 5


def test_noise_surrounds_the_moons():
    clean, noisy = (datasets.two_moons(0, n_obs=2001, noise=s).X for s in (0.0, 0.2))
    assert noisy.shape == (2001, 2)
    assert (noisy - clean).std() == pytest.approx(0.2, rel=0.05)


def test_the_seed_determines_the_noise_only():
    first, again, other = (datasets.two_moons(3, random_state=s).X for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="n_nuisance=-1 must be at least 0"):
        datasets.two_moons(-1)
    with pytest.raises(ValueError, match="n_obs=3 must be at least 4"):
        datasets.two_moons(n_obs=3)
    with pytest.raises(ValueError, match=r"noise=-0.1 must be 0 or larger"):
        datasets.two_moons(noise=-0.1)
