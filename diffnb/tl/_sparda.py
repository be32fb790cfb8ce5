"""`tl.pda` and `tl.sparda`: the directions along which populations differ most."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Pulled, Results, ToolCall, all_rows, bound, expand, guarded, pull, store, warn_of_units
from .._keys import SpardaKeys
from .._options import ALL, check_solver, check_sparda, sparda_options
from ..core.arrays.ops import take_columns, take_rows
from ..core.sparda import (
    Projection,
    SpardaOptions,
    divergence_test,
    fit_sparda,
    project_others,
)
from ..core.typing import Floats
from ._choices import described_choices, log_choices
from ._docs import documented_tool
from ._pairs import Pair, Sides, check_sizes, compared, pairs_of, sides_of


@guarded(SpardaKeys)
@documented_tool
def pda(
    adata: AnnData,
    groupby: str,
    *,
    group: str | Literal["auto"] = "auto",
    reference: str | Literal["auto"] = "auto",
    n_projections: int = 1,
    covariates: Sequence[str] | str | None = None,
    layer: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    standardize: Literal["global", "within"] | None = "global",
    divergence: Literal["wasserstein2", "wasserstein1", "kolmogorov"] = "wasserstein2",
    solver: Literal["tighten", "relax"] = "tighten",
    penalty: float = 0.0,
    tighten: bool = True,
    n_permutations: int = 0,
    sample_key: str | None = None,
    permute_within: str | None = None,
    certificate: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    key_added: str = "pda",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Find the direction along which two populations differ most, by all features (PDA).

    Among all directions β of unit length, the one with the largest divergence between the projections βᵀx of
    one population and βᵀy of the other, by default the squared 2-Wasserstein distance: any difference counts,
    in mean, spread, shape or correlation. :func:`diffnb.tl.sparda` does the same with few features.

    Parameters
    ----------
    adata
    groupby
    group
    reference
        ... `"auto"`: the other of two conditions, or the rest of several.
    n_projections
    covariates
        ... Slopes are those within each condition, or within the samples of `sample_key`. Observations of neither
        population have no projection then.
    layer
    mask_var
    standardize
        ... `"within"`: within each population, which leaves differences in relations (and shape) only. Only
        observations of the comparison count.
    divergence
    solver
        `"tighten"`: ascent from several starts; `"relax"`: from the semidefinite relaxation as well, for at
        most 500 features.
    penalty
        λ of the relaxation (Eq. 6), times the sum of absolute entries of its matrix; 0 for none.
    tighten
        `False` with `solver="relax"`: no ascent. Weights are the square roots of the diagonal of the relaxed
        matrix, cut to the number of features: a lower objective, and a ranking of all features that differ.
    n_permutations
    sample_key
        ... Whole samples are permuted then; those that hold both populations have them exchanged or not.
    permute_within
    certificate
    random_state
    n_jobs
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds

    - `varm[key_added]`: weights of each feature, a column per comparison and projection;
    - `obsm[f"X_{key_added}"]`: all observations along these directions, standardised as in the fit;
    - `uns[key_added]`: objectives, p-values, shares, the path along the number of features, parameters.

    Read them with :func:`diffnb.get.sparda`, :func:`diffnb.get.sparda_summary`,
    :func:`diffnb.get.sparda_path` and :func:`diffnb.get.sparda_projection`, with `key="pda"`.

    References
    ----------
    Mueller & Jaakkola, *Principal Differences Analysis*, NIPS 2015: Eqs. 1 and 3, Sec. 4.2; RELAX, Eq. 7.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=200, n_features=60)
    >>> dn.tl.pda(adata, "condition")
    >>> adata.varm["pda"].columns.tolist()
    ['B_vs_A_1']
    """
    group = validate.not_none("group", group, "auto")
    reference = validate.not_none("reference", reference, "auto")
    return _compare_populations(adata, bound(pda, locals()), ALL, copy)


@guarded(SpardaKeys)
@documented_tool
def sparda(
    adata: AnnData,
    groupby: str,
    *,
    n_features: int | Literal["auto", "all"] = "auto",
    group: str | Literal["auto"] = "auto",
    reference: str | Literal["auto"] = "auto",
    n_projections: int = 1,
    covariates: Sequence[str] | str | None = None,
    layer: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    standardize: Literal["global", "within"] | None = "global",
    divergence: Literal["wasserstein2", "wasserstein1", "kolmogorov"] = "wasserstein2",
    solver: Literal["tighten", "relax"] = "tighten",
    penalty: float = 0.0,
    tighten: bool = True,
    n_permutations: int = 0,
    sample_key: str | None = None,
    permute_within: str | None = None,
    certificate: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    key_added: str = "sparda",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Find the few features, and their direction, by which two populations differ most (SPARDA).

    Among all directions β of unit length with at most k non-zero weights, the one with the largest divergence
    between the projections βᵀx of one population and βᵀy of the other, by default the squared 2-Wasserstein
    distance: any difference counts, in mean, spread, shape or correlation. The whole path from all features
    to one is followed down and up, so that the objective never falls with k.

    Parameters
    ----------
    adata
    groupby
    n_features
        ... `"auto"`: the fewest with which the divergence between held-out observations, less that of permuted
        labels, falls short of the largest by no more than a quarter of its standard error or 1 % (5 to 10 folds,
        split three times up to 1000 features). Where that takes more than half of the features, almost all of them
        differ: the fewest that reach 95 % are taken, with a warning. So is a divergence that is not above that of
        permuted labels. `"all"`: every one, which is :func:`diffnb.tl.pda`.
    group
    reference
        ... `"auto"`: the other of two conditions, or the rest of several.
    n_projections
        ... Each has its own features.
    covariates
        ... Slopes are those within each condition, or within the samples of `sample_key`. Observations of neither
        population have no projection then.
    layer
    mask_var
    standardize
        ... `"within"`: within each population, which leaves differences in relations (and shape) only. Only
        observations of the comparison count.
    divergence
    solver
        `"tighten"`: ascent from several starts; `"relax"`: from the semidefinite relaxation as well, for at
        most 500 features.
    penalty
        λ of the relaxation (Eq. 6), times the sum of absolute entries of its matrix; 0 for none.
    tighten
        `False` with `solver="relax"`: no ascent. Weights are the square roots of the diagonal of the relaxed
        matrix, cut to the number of features: a lower objective, and a ranking of all features that differ.
    n_permutations
        ... With `n_features="auto"` every permutation chooses the number of features at which it stands out most,
        as the data itself does, so that the test needs no number.
    sample_key
        ... Whole samples are held out and permuted then; those that hold both populations have them exchanged
        or not.
    permute_within
    certificate
    random_state
    n_jobs
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds

    - `varm[key_added]`: weights of each feature, a column per comparison and projection;
    - `obsm[f"X_{key_added}"]`: all observations along these directions, standardised as in the fit and, from
      the second projection on, with the earlier directions projected out;
    - `uns[key_added]`: objectives, p-values, shares (of the objectives of all projections together), the path
      along the number of features with its held-out divergence, parameters.

    Read them with :func:`diffnb.get.sparda`, :func:`diffnb.get.sparda_summary`,
    :func:`diffnb.get.sparda_path` and :func:`diffnb.get.sparda_projection`.

    References
    ----------
    Mueller & Jaakkola, *Principal Differences Analysis*, NIPS 2015: Eqs. 1 and 3, Sec. 4.2; RELAX, Eq. 7.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=500, n_features=60)
    >>> dn.tl.sparda(adata, "condition")
    >>> int(dn.get.sparda(adata)["selected"].sum())
    10
    """
    group = validate.not_none("group", group, "auto")
    reference = validate.not_none("reference", reference, "auto")
    n_features = validate.not_none("n_features", n_features, ALL)
    return _compare_populations(adata, bound(sparda, locals()), n_features, copy)


def _compare_populations(
    adata: AnnData, call: ToolCall, n_features: int | Literal["auto", "all"], copy: bool
) -> AnnData | None:
    """Run PDA or SPARDA, which differ in the number of features only."""
    given = SimpleNamespace(**call.arguments)
    check_sparda(given)
    validate.flags(copy=copy)
    n_jobs = validate.jobs(given.n_jobs)
    pairs = pairs_of(adata, given.groupby, given.group, given.reference)
    data = pull(
        adata,
        given.groupby,
        groups=compared(pairs),
        layer=given.layer,
        mask_var=given.mask_var,
        sample_key=given.sample_key,
        covariates=given.covariates,
        permute_within=given.permute_within,
    )
    warn_of_units(adata, given.layer)
    p = data.n_features
    check_solver(given.solver, p)
    n_permutations = validate.repeats("n_permutations", given.n_permutations)
    options = sparda_options(given, n_features, p)
    sides = [sides_of(data, pair) for pair in pairs]
    for pair, side in zip(pairs, sides, strict=True):
        check_sizes(pair, side, options, given.sample_key)
    found = _compare(pairs, sides, options, n_permutations, n_jobs)
    # standardised, or adjusted for covariates, by their own population, observations of neither have no projection
    known = given.standardize != "within" and given.covariates is None
    scores = _scores(adata, given.layer, data, sides, found, given.standardize, others_known=known)
    keys = SpardaKeys(given.key_added)
    return store(adata, keys, _results(keys, data, pairs, found, scores), call, copy=copy)


def _compare(
    pairs: Sequence[Pair], sides: Sequence[Sides], options: SpardaOptions, n_permutations: int, n_jobs: int | None
) -> list[list[Projection]]:
    found = []
    for pair, side in zip(pairs, sides, strict=True):
        name = f"{pair.group} vs {pair.reference}"
        fit = fit_sparda(
            side.x, side.y, options, samples=side.samples, strata=side.strata, n_jobs=n_jobs, progress=name
        )
        if n_permutations:
            fit = divergence_test(fit, n_permutations=n_permutations, n_jobs=n_jobs, progress=name)
        result = fit.projections
        log.info(
            f"{name}: n_features={[r.n_features for r in result]}, objective={[f'{r.objective:.3g}' for r in result]}"
        )
        if result[0].objective == 0:
            log.info(f"{name}: the two are equal along every direction")
        log_choices(name, result)
        found.append(result)
    return found


def _scores(
    adata: AnnData,
    layer: str | None,
    data: Pulled,
    sides: Sequence[Sides],
    found: Sequence[Sequence[Projection]],
    standardize: Literal["global", "within"] | None,
    *,
    others_known: bool,
) -> Floats:
    """Project all observations on all directions; those of neither population as if they were of one."""
    each = len(found[0])
    values = np.full((adata.n_obs, len(found) * each), np.nan)
    for i, (side, projections) in enumerate(zip(sides, found, strict=True)):
        mine = slice(i * each, (i + 1) * each)
        for which, rows in enumerate(side.rows):
            values[rows, mine] = np.stack([p.scores[which] for p in projections], axis=1)
        others = np.setdiff1d(np.arange(adata.n_obs), np.concatenate(side.rows))
        if others.size and others_known:
            matrix = take_columns(take_rows(all_rows(adata, layer), others), data.kept)
            directions = np.stack([p.direction for p in projections])
            values[others, mine] = project_others(matrix, side.x, side.y, directions, standardize)
    return values


def _results(
    keys: SpardaKeys, data: Pulled, pairs: Sequence[Pair], found: Sequence[Sequence[Projection]], scores: Floats
) -> Results:
    names = keys.columns([(pair.group, pair.reference) for pair in pairs], len(found[0]))
    weights = [expand(p.weights, data.kept) for projections in found for p in projections]
    return Results(
        varm={keys.varm: pd.DataFrame(dict(zip(names, weights, strict=True)))},
        obsm={keys.obsm: scores},
        described={
            "pairs": {
                "group": np.array([pair.group for pair in pairs], dtype=object),
                "reference": np.array([pair.reference for pair in pairs], dtype=object),
                "against_rest": np.array([pair.right != [pair.reference] for pair in pairs]),
            },
            "columns": np.array(names, dtype=object),
            "n_constant": data.n_constant,
            **_described(found),
        },
    )


def _described(found: Sequence[Sequence[Projection]]) -> dict[str, Any]:
    """Make tables of comparisons × projections."""

    def table(name: str) -> Floats:
        return np.array([[getattr(p, name) for p in projections] for projections in found])

    objective = table("objective")
    total = objective.sum(axis=1, keepdims=True)
    described = {
        "objective": objective,
        "share": np.divide(objective, total, out=np.zeros_like(objective), where=total > 0),
        "n_features": table("n_features"),
        "path": {
            "k": found[0][0].k,
            "objective": table("path"),
            "held_out": table("held_out"),
            "held_out_sd": table("held_out_sd"),
            "chance": table("chance"),
            "chosen": table("k_chosen"),
        },
        **described_choices(found),
    }
    asked = {name: table(name) for name in ("pval", "certificate")}
    return described | {name: values for name, values in asked.items() if not np.isnan(values).all()}
