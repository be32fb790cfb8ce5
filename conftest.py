"""What holds for doctests too: no figure stays open after the test that drew it."""

import sys

import pytest


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    """Close them all."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
