"""Points of all tests of graphs: the columns of a small matrix, of different spread and mean."""

import pytest


@pytest.fixture
def x(rng):
    return rng.normal(size=(25, 12)) * rng.uniform(0.5, 3, 12) + rng.normal(size=12)
