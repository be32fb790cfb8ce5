"""How many features: by the held-out divergence above that of permuted labels, and how decided the choice is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..stats.choices import Choice, chosen, describe
from ..stats.pvalues import permutation_pvalues
from ..typing import Floats, Ints
from .cross_validation import CrossValidation
from .path import max_standardized_log

#: fewer features may fall short of the best by the larger of these: a share of the standard error, or of the best
MAX_SHORTFALL_IN_STANDARD_ERRORS, MAX_SHORTFALL_SHARE = 0.25, 0.01
#: a best number beyond this share of the features is no selection: the criterion rises with almost every feature
MAX_SELECTED_SHARE = 0.5
#: share of the largest criterion that features have to reach then
MIN_SHARE_OF_RISING_CRITERION = 0.95
#: level of the test that held-out observations differ at all
ALPHA_HELD_OUT = 0.05


@dataclass(frozen=True, slots=True)
class FeatureCount:
    """The number of features chosen, and how decided the choice is."""

    #: place among the numbers of the path
    index: int
    choice: Choice
    #: whether the criterion rises up to most of the features, so that the number reaches a share of it only
    rising: bool
    #: whether held-out observations differ at all: p-value of the criterion, over all numbers of features
    pval: float

    @property
    def by_chance(self) -> bool:
        """Whether held-out observations differ no more than with permuted labels; `False` where not tested."""
        return self.pval > ALPHA_HELD_OUT

    @property
    def misleading(self) -> bool:
        """Whether a user would take the number for more than it is: a selection, or a finding."""
        return self.rising or self.by_chance or self.choice.at_edge == "high"

    def describe(self) -> str:
        """Say what is undecided about the number of features; an empty string where nothing is."""
        sentences = []
        if self.by_chance:
            sentences.append(
                "Held-out observations differ no more than with permuted labels, whatever the number of features"
                f" (p = {self.pval:.2g}): the features selected may be chance alone."
            )
        if self.rising:
            share, p = 100 * MIN_SHARE_OF_RISING_CRITERION, int(self.choice.candidates[-1])
            sentences.append(
                f"n_features={self.choice.value:,} reaches {share:.0f} % of the largest held-out divergence, which"
                f" rises with most of the {p:,} features: almost all of them differ, and no number is singled out."
            )
        else:
            sentences.append(describe(self.choice, "n_features", "held-out divergence"))
        return " ".join(filter(None, sentences))


def choose_n_features(ks: Ints, validated: CrossValidation, /, *, tested: bool = True) -> FeatureCount:
    """Choose the fewest features that separate held-out observations about as well as any number does.

    The criterion is the held-out objective minus its mean for permuted labels. It may fall short of the largest by a
    quarter of the standard error of the shortfall within folds, or by 1 %. If most features are needed for that,
    almost all of them differ, and no number is singled out: the fewest that reach 95 % are taken.

    `tested=False` where held-out observations are not exchangeable, as cells of different samples: p is NaN.
    """
    excess = validated.objective - validated.chance
    mean = excess.mean(axis=0)
    best = int(mean.argmax())
    shortfall = mean[best] - mean
    error = validated.standard_error(excess[:, [best]] - excess)
    index = _first(shortfall <= np.maximum(MAX_SHORTFALL_IN_STANDARD_ERRORS * error, MAX_SHORTFALL_SHARE * mean[best]))
    rising = len(ks) > 1 and mean[best] > 0 and bool(ks[index] > MAX_SELECTED_SHARE * ks[-1])
    if rising:
        index = _first(mean >= MIN_SHARE_OF_RISING_CRITERION * mean[best])
    error = validated.standard_error(excess[:, [index]] - excess)
    pval = _pval(validated) if tested else np.nan
    return FeatureCount(index, chosen(ks, mean, index, error=error), rising, pval)


def _first(fulfilled: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    return int(np.flatnonzero(fulfilled)[0])


def _pval(validated: CrossValidation) -> float:
    """Return the p-value of held-out objectives over all k; of one repeat, since others use the same observations."""
    observed, null = validated.objective[: validated.n_folds], validated.null[:, : validated.n_folds]
    means: Floats = np.concatenate([observed.mean(axis=0)[None], null.mean(axis=1)])
    statistics = max_standardized_log(means)
    return float(permutation_pvalues(statistics[:1], statistics[1:, None])[0])
