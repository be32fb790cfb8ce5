"""Counts in chunks of every shape, read in blocks of a few rows."""

import pytest
from streams import CHUNKINGS, KINDS

from diffnb.core.arrays.row_chunks import chunked


@pytest.fixture
def counts(rng):
    return rng.poisson(0.7, size=(90, 26)).astype(float)


@pytest.fixture(params=list(CHUNKINGS))
def chunks(request):
    return CHUNKINGS[request.param]


@pytest.fixture(params=list(KINDS))
def streamed(request, chunks, counts, set_memory):
    """The counts in chunks, read in blocks of a few rows."""
    set_memory(4 * 8 * 26 * 20)
    return chunked(KINDS[request.param](counts, *chunks))
