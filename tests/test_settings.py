"""`dn.settings`: one memory budget, checked, that the numerics follow."""

import subprocess
import sys

import numpy as np
import pytest

import diffnb as dn
from diffnb.core.runtime import budget


@pytest.fixture(autouse=True)
def restored():
    with budget.limited(budget.memory()):
        yield


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (4096, 4096),
        (np.int64(2**20), 2**20),
        (2e9, 2_000_000_000),
        ("2 GB", 2_000_000_000),
        ("2GiB", 2**31),
        (" 1.5 mib ", 3 * 2**19),
        ("500 kB", 500_000),
        ("2048 B", 2048),
    ],
)
def test_memory_is_what_the_budget_of_the_numerics_is(given, expected):
    dn.settings.memory = given
    assert dn.settings.memory == budget.memory() == expected


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (0, ValueError, "memory=0 must be at least 1024 bytes"),
        (-5, ValueError, "memory=-5 must be at least"),
        ("1 B", ValueError, "must be at least 1024 bytes"),
        (1.5, TypeError, r"memory=1\.5 must be a number of bytes or a text such as '2 GB'"),
        (True, TypeError, "memory=True must be a number of bytes"),
        (None, TypeError, "memory=None must be a number of bytes"),
        ("plenty", ValueError, "memory='plenty' must be a number with a unit"),
        ("2 GX", ValueError, "memory='2 GX' must be a number with a unit"),
        ("2", ValueError, "memory='2' must be a number with a unit"),
    ],
)
def test_a_bad_value_is_refused_and_changes_nothing(given, error, words):
    before = dn.settings.memory
    with pytest.raises(error, match=words):
        dn.settings.memory = given
    assert dn.settings.memory == before


def test_a_misspelt_setting_is_an_error():
    with pytest.raises(AttributeError, match="memroy"):
        dn.settings.memroy = 1


def test_it_shows_its_values():
    dn.settings.memory = 3 * 2**29
    assert repr(dn.settings) == "Settings: memory = 1610612736 bytes (1.5 GiB)"
    dn.settings.memory = 1024
    assert repr(dn.settings) == "Settings: memory = 1024 bytes (1 KiB)"


def test_it_is_listed_and_light():
    assert "settings" in dir(dn)
    code = "import diffnb as dn; dn.settings.memory = '1 GB'; import sys; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"numpy", "pandas", "anndata", "scipy"}
