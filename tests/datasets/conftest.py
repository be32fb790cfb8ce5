from __future__ import annotations

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Matrices are small here: on a busy machine threads only wait for one another."""
    with threadpool_limits(1):
        yield
