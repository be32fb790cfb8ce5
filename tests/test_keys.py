"""Names of slots and columns: one for each thing, and none that a file cannot hold."""

import pytest

from diffnb import _keys
from diffnb._keys import DiscKeys, Keys, ScorecardKeys, SpardaKeys, by_group, unique

EVERY = [value for value in vars(_keys).values() if isinstance(value, type) and issubclass(value, Keys)]
HOSTILE = ["A", "A_vector_1", "CD4/CD8", "CD4∕CD8", "", "A_score"]


def test_repeated_names_are_numbered():
    assert unique(["a", "b", "a", "a"]) == ["a", "b", "a_2", "a_3"]


@pytest.mark.parametrize("keys", [k for k in EVERY if k is not Keys], ids=lambda k: k.__name__)
def test_every_result_says_how_it_is_made_and_what_it_holds(keys):
    assert keys().made_by.startswith("tl.")
    assert keys().entries
    assert keys("mine").uns == "mine"


def test_columns_of_conditions_are_told_apart():
    columns = by_group(HOSTILE, ["vector_1", "score"])
    stored = [name for of_group in columns.values() for name in of_group.values()]
    assert len(set(stored)) == len(stored) == 12
    assert not [name for name in stored if "/" in name]
    assert columns["A"] == {"vector_1": "A_vector_1", "score": "A_score"}


def test_disc_has_the_columns_that_were_computed():
    plain = DiscKeys().columns(["A"], 2, stability=False, spread=False)["A"]
    assert list(plain) == ["vector_1", "vector_2", "score"]
    full = DiscKeys().columns(["A"], 2, stability=True, spread=True)["A"]
    assert list(full) == ["vector_1", "vector_2", "score", "stability", "spread_1", "spread_2"]


def test_comparisons_that_get_one_name_are_told_apart():
    pairs = [("a_vs_b", "c"), ("a", "b_vs_c")]
    assert ScorecardKeys().prefixes(pairs) == ["a_vs_b_vs_c", "a_vs_b_vs_c_2"]
    assert SpardaKeys().columns(pairs, 1) == ["a_vs_b_vs_c_1", "a_vs_b_vs_c_1_2"]
