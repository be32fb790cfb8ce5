"""What the estimators share: validation, excluded features, seeds and tags."""

from __future__ import annotations

from numbers import Integral
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ..core.arrays.ops import column_summaries, take_columns, take_rows
from ..core.typing import Bools, Floats, Matrix

MIN_OBS, MIN_FEATURES = 3, 2
FORMATS = ("csr", "csc")
MAX_SEED = 2**31 - 1


class Estimator(BaseEstimator):
    """Validation and tags that all estimators have in common."""

    def __sklearn_tags__(self) -> Any:
        """Describe what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _given(self) -> SimpleNamespace:
        """Return the parameters as the options are made of them."""
        given = self.get_params(deep=False)
        if not isinstance(given["random_state"], Integral):
            given["random_state"] = int(check_random_state(given["random_state"]).randint(MAX_SEED))
        return SimpleNamespace(**given)

    def _training_data(self, X: Any, y: Any = "no_validation") -> Any:
        return validate_data(
            self,
            X,
            y,
            accept_sparse=FORMATS,
            dtype=[np.float64, np.float32],
            ensure_min_samples=MIN_OBS,
            ensure_min_features=MIN_FEATURES,
        )

    def _new_data(self, X: Any) -> Matrix:
        return validate_data(self, X, accept_sparse=FORMATS, dtype=[np.float64, np.float32], reset=False)


def varying_columns(x: Matrix) -> Bools:
    """Return which features are not constant; at least two have to be left."""
    (summary,) = column_summaries([x])
    varying = np.asarray(summary.high > summary.low)
    refuse_too_few(varying, "are not constant over all observations")
    return varying


def refuse_too_few(kept: Bools, why: str) -> None:
    """Raise where fewer features are left than any method needs."""
    if kept.sum() < MIN_FEATURES:
        raise ValueError(f"{int(kept.sum())} of {kept.size} features {why}; at least {MIN_FEATURES} are needed.")


def split_by_class(x: Matrix, y: Any) -> tuple[Any, list[Matrix]]:
    """Return the classes, and the observations of each."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y holds 1 class, {classes[0]!r}; at least two are compared.")
    rows = [np.flatnonzero(codes == m) for m in range(len(classes))]
    for name, own in zip(classes, rows, strict=True):
        if own.size < MIN_OBS:
            raise ValueError(
                f"class {str(name)!r} has {own.size} observation{'s' * (own.size != 1)}; at least {MIN_OBS} are needed."
            )
    return classes, [take_rows(x, own) for own in rows]


def columns_of(matrices: list[Matrix], kept: Bools) -> list[Matrix]:
    """Take the features that are used."""
    return [take_columns(x, kept) for x in matrices]


def on_all_features(values: Floats, kept: Bools) -> Floats:
    """Spread features × … over all features, zero where a feature was excluded."""
    full = np.zeros((kept.size, *values.shape[1:]), dtype=values.dtype)
    full[kept] = values
    return full
