import numpy as np
import pytest


@pytest.fixture
def populations(rng):
    """Two small samples of unequal size: the second is wider along features 0 to 3, and shifted along 4."""
    x, y = rng.normal(size=(40, 12)), rng.normal(size=(55, 12))
    y[:, :4] += 1.2 * rng.normal(size=(55, 1))
    y[:, 4] += 0.8
    return x, y


@pytest.fixture
def counts(rng):
    """Draw counts: observations × features."""

    def draw(n, p=15, rate=1.0):
        return rng.poisson(rate, size=(n, p)).astype(float)

    return draw


@pytest.fixture
def stays_sparse(set_memory):
    """Let small sparse data be treated as large."""
    set_memory(1)


@pytest.fixture
def only():
    """The index of the single labeling of one row."""
    return np.zeros(1, dtype=int)
