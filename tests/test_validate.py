"""Checks of arguments: what was given, and what to give instead."""

import numpy as np
import pandas as pd
import pytest

from diffnb import _validate as validate


@pytest.mark.parametrize("value", [3, np.int64(3)])
def test_integers_are_read(value):
    assert validate.count("n", value) == 3
    assert validate.auto_count("n", value) == 3


def test_auto_is_left_to_the_tool():
    assert validate.auto_count("n", "auto") is None
    with pytest.raises(ValueError, match=r"n='atuo' is not an option; use one of 'auto'\. Did you mean 'auto'"):
        validate.auto_count("n", "atuo")


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (2.0, TypeError, r"n=2\.0 must be an integer, got float"),
        (True, TypeError, "n=True must be an integer"),
        (None, TypeError, "n=None must be an integer"),
        (0, ValueError, r"n=0 must be between 1 and 5 \(why\)"),
        (6, ValueError, "n=6 must be between 1 and 5"),
    ],
)
def test_other_values_are_refused(value, error, words):
    with pytest.raises(error, match=words):
        validate.auto_count("n", value, at_most=5, why="why")


def test_what_once_meant_choose_is_read_as_the_word():
    assert validate.not_none("n", 5, "auto") == 5
    with pytest.warns(DeprecationWarning, match="n=None is deprecated; use n='auto'"):
        assert validate.not_none("n", None, "auto") == "auto"


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf])
def test_numbers_that_are_not_positive_are_refused(value):
    with pytest.raises(ValueError, match="scale="):
        validate.positive("scale", value)


def test_zero_is_taken_where_it_has_a_meaning():
    assert validate.positive("penalty", 0, zero=True) == 0


def test_conditions_are_categories_in_use_with_readable_names(adata):
    assert list(validate.conditions(adata, "condition").categories) == ["ctrl", "stim"]
    adata.obs["code"] = np.repeat([0.0, 1.0, np.nan], 40)
    found = validate.conditions(adata, "code")
    assert list(found.categories) == ["0", "1"]
    assert pd.isna(found[-1])


def test_measurements_are_refused_with_columns_that_would_do(adata):
    with pytest.raises(ValueError, match=r"age.*120 different decimal numbers.*pandas\.cut.*'condition' \(2 levels\)"):
        validate.conditions(adata, "age")
    adata.obs["counts"] = np.arange(120)
    with pytest.raises(ValueError, match=r"counts.*120 different numbers for 120 observations.*could be conditions"):
        validate.conditions(adata, "counts")
