"""The panels that `explore` can open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._calls import Call

#: name in `dn.panels`, and label of its button
PANEL_TITLES = {
    "scorecard": "Scorecard: how each feature differs",
    "disc": "DiSC: groups of features",
    "sparda": "SPARDA: the few features that differ most",
    "dufs": "DUFS: structure without labels",
    "informed": "Informed distance",
    "compare": "Compare methods",
}
#: panels that compare conditions
CONDITION_PANELS = ("scorecard", "disc", "sparda", "compare")
#: panels that take covariates
COVARIATE_PANELS = (*CONDITION_PANELS, "informed")
#: what each panel answers, the first to ask first
QUESTIONS = {
    "scorecard": "How does each feature differ: in its mean, spread, distribution, or connectivity?",
    "disc": "Which groups of features are connected in one condition only?",
    "sparda": "Which few features tell the conditions apart?",
    "compare": "What does each method find, and what do the others miss?",
    "dufs": "Without labels: which features carry the structure of the data?",
    "informed": "Without labels: how far apart are observations, given that features form clusters?",
}


def opening_call(name: str, groupby: str | None, sample_key: str | None, covariates: Sequence[str] | None) -> Call:
    """Return the call that opens a panel with these columns."""
    keywords: dict[str, Any] = {}
    if name in CONDITION_PANELS:
        keywords["sample_key"] = sample_key
    if name in COVARIATE_PANELS and covariates:
        keywords["covariates"] = list(covariates)
    positional = (groupby,) if name in CONDITION_PANELS and groupby is not None else ()
    return Call(f"dn.panels.{name}", positional, keywords)
