"""Options of PDA and SPARDA."""

from __future__ import annotations

from typing import Any, Literal

from .. import _validate as validate
from ..core.sparda import DIVERGENCES, MAX_RELAXED_FEATURES, SpardaOptions

STANDARDIZE = ("global", "within")
SOLVERS = ("tighten", "relax")
ALL: Literal["all"] = "all"


def check_sparda(given: Any) -> None:
    """Refuse words that are not options, before any data is read."""
    validate.flags(certificate=given.certificate, tighten=given.tighten)
    if given.standardize is not None:
        validate.choice("standardize", given.standardize, STANDARDIZE)
    validate.choice("divergence", given.divergence, tuple(DIVERGENCES))
    validate.choice("solver", given.solver, SOLVERS)
    penalty = validate.positive("penalty", given.penalty, zero=True)
    if given.solver != "relax" and (penalty or not given.tighten):
        name, value = ("tighten", False) if penalty == 0 else ("penalty", given.penalty)
        raise ValueError(f"{name}={value!r} is about the relaxation; use solver='relax', or leave it out.")
    if given.certificate and given.divergence != "wasserstein2":
        raise ValueError(
            f"certificate=True bounds the squared Wasserstein distance, not divergence={given.divergence!r};"
            " use divergence='wasserstein2', or leave the certificate out."
        )


def check_solver(solver: str, n_features: int) -> None:
    """Refuse the relaxation for many features."""
    if solver == "relax" and n_features > MAX_RELAXED_FEATURES:
        raise ValueError(
            f"solver='relax' works on features × features matrices and takes at most {MAX_RELAXED_FEATURES} features,"
            f" got {n_features}; choose some with mask_var, or use solver='tighten'."
        )


def sparda_options(given: Any, n_features: int | Literal["auto", "all"], n_present: int) -> SpardaOptions:
    """Return the options for so many features, of which `n_features` are to be selected."""
    why = f"there are {n_present} features"
    return SpardaOptions(
        n_features=_number_of_features(n_features, n_present),
        n_projections=validate.count("n_projections", given.n_projections, at_most=n_present, why=why),
        standardize=given.standardize,
        divergence=given.divergence,
        solver=given.solver,
        penalty=float(given.penalty),
        tighten=given.tighten,
        certificate=given.certificate,
        seed=validate.seed(given.random_state),
    )


def _number_of_features(value: object, p: int) -> int | Literal["auto"] | None:
    if isinstance(value, str):
        validate.choice("n_features", value, ("auto", ALL))
        return None if value == ALL else "auto"
    return validate.count("n_features", value, at_most=p, why=f"there are {p} features")
