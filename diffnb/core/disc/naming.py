"""Whether a condition has a leading vector at all: its first σ against a few permutations of the labels.

Naming a group is a claim, so it needs evidence. A condition is accepted where its σ₁ exceeds that of every permutation
and lies outside what a further permutation would give by a t distribution of log σ₁. Permutations are added in rounds:
few where the answer is clear, `MAX_PERMUTATIONS` where it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from ..stats.pvalues import floored, permutation_pvalues
from ..typing import Bools, Floats
from .algorithm import SIGMA_TIE_TOLERANCE

#: chance that an analysis without any difference names a group
ALPHA = 0.01
#: evidence at which no more permutations are drawn
CLEAR_PVALUE = 0.001
#: number of permutations after which the evidence is judged
ROUNDS = (3, 7, 13, 19)
MAX_PERMUTATIONS = ROUNDS[-1]
#: permutations from which on evidence can be clear
MIN_PERMUTATIONS_TO_ACCEPT = 7
#: with fewer different assignments of the labels nothing can be tested
MIN_PERMUTATIONS = 3
#: the same, and the largest p-value, where a test is by rank: with few subjects no p-value is as small as `ALPHA`
RANK_ROUNDS = (19, 99)
MAX_RANK_PVALUE = 0.05
#: a smaller standard deviation of log σ over permutations is not believed
MIN_LOG_SD = 0.02
#: an observed σ below this share of the lowest permuted one is not chance
MAX_SHARE_BELOW = 0.5

#: σ₁ of every condition for the permutations with these numbers
DrawSigma = Callable[[range], Sequence[Floats]]


@dataclass(frozen=True, slots=True)
class Naming:
    """Evidence of every condition for a leading vector."""

    #: per condition
    sigma: Floats
    #: permutations × conditions
    null_sigma: Floats
    #: per condition, by the t distribution of log σ₁ over permutations, adjusted for the number of conditions
    pvals: Floats
    #: which conditions may name groups
    accepted: Bools

    @property
    def n_permutations(self) -> int:
        """How many permutations were drawn."""
        return len(self.null_sigma)

    @property
    def above(self) -> Bools:
        """Which conditions have a σ₁ above that of every permutation."""
        if self.n_permutations < MIN_PERMUTATIONS:
            return np.zeros(len(self.sigma), dtype=bool)
        return np.asarray(self.sigma > self.null_sigma.max(axis=0) * (1 + SIGMA_TIE_TOLERANCE))

    @property
    def doubtful(self) -> Bools:
        """Which conditions are above every permutation, but not outside their distribution."""
        return self.above & ~self.accepted

    def supported_by(self, other: Naming, /) -> Naming:
        """Accept what is doubtful here where another test accepts it."""
        supported = self.doubtful & other.accepted
        pvals = np.where(supported, other.pvals, self.pvals)
        return replace(self, pvals=pvals, accepted=self.accepted | supported)

    @property
    def chance(self) -> Floats:
        """Per condition, the largest σ₁ of the permutations; infinite where nothing is accepted."""
        largest = self.null_sigma.max(axis=0, initial=0.0)
        return np.where(self.accepted, largest, np.inf)

    @property
    def below(self) -> Bools:
        """Which conditions have a σ₁ far below every permutation."""
        if not self.n_permutations:
            return np.zeros(len(self.sigma), dtype=bool)
        return np.asarray(self.sigma < MAX_SHARE_BELOW * self.null_sigma.min(axis=0))


def judge(sigma: Floats, draw: DrawSigma, /, *, n_available: int = MAX_PERMUTATIONS) -> Naming:
    """Compare σ₁ of every condition with permutations until the answer is clear.

    `n_available` is the number of different permutations, where samples are so few that it is small.
    """
    found: list[Floats] = []
    naming = _judged(sigma, found)
    for number in _rounds(n_available):
        found.extend(draw(range(len(found), number)))
        naming = _judged(sigma, found)
        if _is_clear(naming):
            break
    return naming


def judge_by_rank(sigma: Floats, draw: DrawSigma, /, *, n_available: int) -> Naming:
    """Compare σ₁ of every condition with the largest of all conditions in each permutation, by rank.

    For a statistic that all conditions share and that has an upper end, where log σ is not normal, and permutations
    that cost little. Up to 99 are drawn; fewer where no condition can be accepted any more.
    """
    found: list[Floats] = []
    pvals: Floats = np.ones(len(sigma))
    for number in (min(n, n_available) for n in RANK_ROUNDS):
        found.extend(draw(range(len(found), number)))
        largest = np.max(found, axis=1)[:, None] if found else np.empty((0, 1))
        pvals = permutation_pvalues(sigma, largest, tolerance=SIGMA_TIE_TOLERANCE)
        if (pvals > MAX_RANK_PVALUE).all():
            break
    null = np.stack(found) if found else np.empty((0, len(sigma)))
    accepted = (pvals <= MAX_RANK_PVALUE) & (pvals <= max(ALPHA, 1 / (1 + len(null))))
    return Naming(sigma, null, pvals, accepted)


def _rounds(n_available: int) -> Iterator[int]:
    for number in ROUNDS:
        yield min(number, n_available)
        if number >= n_available:
            return


def _judged(sigma: Floats, found: Sequence[Floats]) -> Naming:
    null = np.stack(list(found)) if found else np.empty((0, len(sigma)))
    if len(null) < MIN_PERMUTATIONS:
        return Naming(sigma, null, np.ones(len(sigma)), np.zeros(len(sigma), dtype=bool))
    pvals = np.minimum(1.0, len(sigma) * prediction_pvalues(np.log(_positive(sigma)), np.log(_positive(null))))
    naming = Naming(sigma, null, pvals, pvals <= ALPHA)
    return replace(naming, accepted=naming.above & naming.accepted)


def _is_clear(naming: Naming) -> bool:
    """Return whether further permutations are not worth their time."""
    if naming.n_permutations < MIN_PERMUTATIONS:
        return False
    if not naming.above.any():
        return True
    accepted = naming.pvals[naming.above] <= CLEAR_PVALUE
    return naming.n_permutations >= MIN_PERMUTATIONS_TO_ACCEPT and bool(accepted.all())


def _positive(values: Floats) -> Floats:
    return np.maximum(values, np.finfo(float).tiny)


def prediction_pvalues(observed: Floats, null: Floats, /) -> Floats:
    """Upper tail of a further draw, if draws (the first axis of `null`) are normal with unknown mean and spread."""
    n = len(null)
    spread = np.maximum(null.std(axis=0, ddof=1), MIN_LOG_SD)
    t = (observed - null.mean(axis=0)) / (spread * np.sqrt(1 + 1 / n))
    return floored(special.stdtr(n - 1, -t))
