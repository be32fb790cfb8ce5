"""For doctests and notebooks, too: close all figures, and leave out notebooks whose data is not installed."""

import sys
from importlib.util import find_spec

import pytest

# its data comes with scikit-survival, which the extra leaves out where it would have to be compiled
collect_ignore = [] if find_spec("sksurv") else ["notebooks/05_patients.ipynb"]


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    """Close them all."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
