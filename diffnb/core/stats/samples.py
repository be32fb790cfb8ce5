"""How samples (donors, subjects) relate to conditions, the same for every method."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..typing import Ints


def sample_counts(samples: Sequence[Ints], /) -> Ints:
    """Count observations, conditions × samples; `samples` holds the code of each observation, per condition."""
    n_samples = 1 + int(max(codes.max() for codes in samples))
    return np.stack([np.bincount(codes, minlength=n_samples) for codes in samples])


def nested(samples: Sequence[Ints], /) -> bool:
    """Return whether every sample belongs to a single condition."""
    return bool((np.count_nonzero(sample_counts(samples), axis=0) <= 1).all())
