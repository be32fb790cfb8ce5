import itertools

import numpy as np
import pytest

from diffnb.core.runtime.seeds import PURPOSES, draws, generator, stream


def first_number(seed_sequence):
    return int(np.random.default_rng(seed_sequence).integers(2**63))


def test_no_two_seeds_share_a_stream_for_any_two_purposes():
    """With `seed + 1` for a second purpose, seed 0 and seed 1 would."""
    pairs = itertools.product(range(5), PURPOSES)
    numbers = [first_number(stream(seed, purpose)) for seed, purpose in pairs]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_same_seed_and_purpose_give_the_same_stream(purpose):
    assert generator(3, purpose).normal() == generator(3, purpose).normal()
    assert generator(3, purpose, 7).normal() != generator(3, purpose).normal()


def test_draws_are_independent_and_do_not_depend_on_how_many_there_are():
    few, many = draws(1, "permutations", 3), draws(1, "permutations", 9)
    assert [first_number(s) for s in few] == [first_number(s) for s in many[:3]]
    assert len({first_number(s) for s in many}) == 9
