"""`tl.pda` and `tl.sparda`: the directions along which populations differ most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Pulled, all_rows, expand, pull, store
from .._keys import SpardaKeys
from ..core.arrays.ops import columns, rows_of
from ..core.sparda import (
    DIVERGENCES,
    MAX_RELAXED_FEATURES,
    Projection,
    SpardaOptions,
    divergence_test,
    fit_sparda,
    project_others,
)
from ..core.typing import Floats
from ._pairs import Pair, Sides, check_sizes, pairs_of, sides_of, taking_part

STANDARDIZE = ("global", "within")
SOLVERS = ("tighten", "relax")


def pda(
    adata: AnnData,
    groupby: str,
    *,
    group: str | None = None,
    reference: str | None = None,
    n_projections: int = 1,
    layer: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    standardize: Literal["global", "within"] | None = "global",
    divergence: Literal["wasserstein2", "wasserstein1", "kolmogorov"] = "wasserstein2",
    solver: Literal["tighten", "relax"] = "tighten",
    n_permutations: int = 0,
    sample_key: str | None = None,
    certificate: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    key_added: str = "pda",
    copy: bool = False,
) -> AnnData | None:
    """Find the direction along which two populations differ most, by all features (PDA).

    Among all directions β of unit length, the one with the largest divergence between the projections βᵀx of
    one population and βᵀy of the other, by default the squared 2-Wasserstein distance: any difference counts,
    in mean, spread, shape or correlation. :func:`diffnb.tl.sparda` does the same with few features.

    Parameters
    ----------
    adata
        Annotated data, observations × features.
    groupby
        Column of `adata.obs` with the conditions.
    group
        Condition to compare; by default the later of two conditions in the order of categories, or each of
        several.
    reference
        Condition to compare with; by default the other of two, or the rest of several.
    n_projections
        Directions to find, each after projecting the earlier ones out of the data.
    layer
        Layer to use instead of `adata.X`.
    mask_var
        Boolean column of `adata.var`, or array: the features to use.
    standardize
        `"global"`: each feature over all observations of the comparison; `"within"`: within each population,
        which leaves differences in relations (and shape) only; `None`: as they are.
    divergence
        `"wasserstein2"` (squared), `"wasserstein1"` or `"kolmogorov"`.
    solver
        `"tighten"`: ascent from several starts; `"relax"`: from the semidefinite relaxation as well, for at
        most 500 features.
    n_permutations
        Permutations for the p-value; 0 for none.
    sample_key
        Column of `adata.obs` with the sample (donor, subject) of each observation. Whole samples are permuted
        then; those that hold both populations have them exchanged or not.
    certificate
        Also bound the objective of all directions from above; only for `divergence="wasserstein2"`.
    random_state
        Seed. The same seed gives the same answer.
    n_jobs
        Threads for permutations.
    key_added
        Name under which results are stored.
    copy
        Work on a copy and return it.

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
    return sparda(
        adata,
        groupby,
        n_features=None,
        group=group,
        reference=reference,
        n_projections=n_projections,
        layer=layer,
        mask_var=mask_var,
        standardize=standardize,
        divergence=divergence,
        solver=solver,
        n_permutations=n_permutations,
        sample_key=sample_key,
        certificate=certificate,
        random_state=random_state,
        n_jobs=n_jobs,
        key_added=key_added,
        copy=copy,
    )


def sparda(
    adata: AnnData,
    groupby: str,
    *,
    n_features: int | Literal["auto"] | None = "auto",
    group: str | None = None,
    reference: str | None = None,
    n_projections: int = 1,
    layer: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    standardize: Literal["global", "within"] | None = "global",
    divergence: Literal["wasserstein2", "wasserstein1", "kolmogorov"] = "wasserstein2",
    solver: Literal["tighten", "relax"] = "tighten",
    n_permutations: int = 0,
    sample_key: str | None = None,
    certificate: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    key_added: str = "sparda",
    copy: bool = False,
) -> AnnData | None:
    """Find the few features, and their direction, by which two populations differ most (SPARDA).

    Among all directions β of unit length with at most k non-zero weights, the one with the largest divergence
    between the projections βᵀx of one population and βᵀy of the other, by default the squared 2-Wasserstein
    distance: any difference counts, in mean, spread, shape or correlation. The whole path from all features
    to one is walked down and up, so that the objective never falls with k.

    Parameters
    ----------
    adata
        Annotated data, observations × features.
    groupby
        Column of `adata.obs` with the conditions.
    n_features
        Features to select; `"auto"`: the fewest with which the divergence between held-out observations falls
        short of the largest by no more than a quarter of its standard error (5 to 10 folds, dealt thrice up to
        1000 features); `None`: all, which is :func:`diffnb.tl.pda`.
    group
        Condition to compare; by default the later of two conditions in the order of categories, or each of
        several.
    reference
        Condition to compare with; by default the other of two, or the rest of several.
    n_projections
        Directions to find, each with features of its own, after projecting the earlier ones out of the data.
    layer
        Layer to use instead of `adata.X`.
    mask_var
        Boolean column of `adata.var`, or array: the features to use.
    standardize
        `"global"`: each feature over all observations of the comparison; `"within"`: within each population,
        which leaves differences in relations (and shape) only; `None`: as they are.
    divergence
        `"wasserstein2"` (squared), `"wasserstein1"` or `"kolmogorov"`.
    solver
        `"tighten"`: ascent from several starts; `"relax"`: from the semidefinite relaxation as well, for at
        most 500 features.
    n_permutations
        Permutations for the p-value; 0 for none. With `n_features="auto"` every permutation chooses the number
        of features at which it stands out most, as the data itself does, so the test needs to be told none.
    sample_key
        Column of `adata.obs` with the sample (donor, subject) of each observation. Whole samples are held out
        and permuted then; those that hold both populations have them exchanged or not.
    certificate
        Also bound the objective of all directions from above; only for `divergence="wasserstein2"`.
    random_state
        Seed. The same seed gives the same answer.
    n_jobs
        Threads for permutations.
    key_added
        Name under which results are stored.
    copy
        Work on a copy and return it.

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
    _check_options(standardize, divergence, solver, certificate)
    pairs = pairs_of(adata, groupby, group, reference)
    data = pull(adata, groupby, groups=taking_part(pairs), layer=layer, mask_var=mask_var, sample_key=sample_key)
    p = data.n_features
    few = f"there are {p} features"
    if solver == "relax" and p > MAX_RELAXED_FEATURES:
        raise ValueError(
            f"solver='relax' works on features × features matrices and takes at most {MAX_RELAXED_FEATURES} features,"
            f" got {p}; choose some with mask_var, or use solver='tighten'."
        )
    options = SpardaOptions(
        n_features=_number_of_features(n_features, p),
        n_projections=validate.count("n_projections", n_projections, at_most=p, why=few),
        standardize=standardize,
        divergence=divergence,
        solver=solver,
        certificate=certificate,
        seed=validate.count("random_state", random_state, at_least=0),
    )
    n_permutations = validate.count("n_permutations", n_permutations, at_least=0)
    sides = [sides_of(data, pair) for pair in pairs]
    for pair, side in zip(pairs, sides, strict=True):
        check_sizes(pair, side, options, sample_key)
    found = _compare(pairs, sides, options, n_permutations, n_jobs)
    params = {
        "groupby": groupby,
        "layer": layer,
        "sample_key": sample_key,
        "n_features": "all" if n_features is None else n_features,
        "standardize": standardize,
        "divergence": divergence,
        "solver": solver,
        "n_permutations": n_permutations,
        "random_state": random_state,
    }
    values = _scores(adata, layer, data, sides, found, standardize)
    adata = adata.copy() if copy else adata
    _store(adata, SpardaKeys(key_added), data, pairs, found, values, params)
    return adata if copy else None


def _check_options(standardize: object, divergence: object, solver: object, certificate: object) -> None:
    if standardize is not None:
        validate.choice("standardize", standardize, STANDARDIZE)
    validate.choice("divergence", divergence, tuple(DIVERGENCES))
    validate.choice("solver", solver, SOLVERS)
    if certificate and divergence != "wasserstein2":
        raise ValueError(
            f"certificate=True bounds the squared Wasserstein distance, not divergence={divergence!r};"
            " use divergence='wasserstein2', or leave the certificate out."
        )


def _number_of_features(value: object, p: int) -> int | Literal["auto"] | None:
    if isinstance(value, str):
        validate.choice("n_features", value, ("auto",))
        return "auto"
    if value is None:
        return None
    return validate.count("n_features", value, at_most=p, why=f"there are {p} features")


def _compare(
    pairs: Sequence[Pair], sides: Sequence[Sides], options: SpardaOptions, n_permutations: int, n_jobs: int | None
) -> list[list[Projection]]:
    found = []
    for pair, side in zip(pairs, sides, strict=True):
        name = f"{pair.group} vs {pair.reference}"
        fit = fit_sparda(side.x, side.y, options, samples=side.samples, n_jobs=n_jobs, progress=name)
        if n_permutations:
            fit = divergence_test(fit, n_permutations=n_permutations, n_jobs=n_jobs, progress=name)
        result = fit.projections
        log.info(
            f"{name}: n_features={[r.n_features for r in result]}, objective={[f'{r.objective:.3g}' for r in result]}"
        )
        if result[0].objective == 0:
            log.info(f"{name}: the two are equal along every direction")
        found.append(result)
    return found


def _scores(
    adata: AnnData,
    layer: str | None,
    data: Pulled,
    sides: Sequence[Sides],
    found: Sequence[Sequence[Projection]],
    standardize: Literal["global", "within"] | None,
) -> Floats:
    """Project all observations on all directions; those of neither population as if they were of one."""
    each = len(found[0])
    values = np.full((adata.n_obs, len(found) * each), np.nan)
    for i, (side, projections) in enumerate(zip(sides, found, strict=True)):
        mine = slice(i * each, (i + 1) * each)
        for which, rows in enumerate(side.rows):
            values[rows, mine] = np.stack([p.scores[which] for p in projections], axis=1)
        others = np.setdiff1d(np.arange(adata.n_obs), np.concatenate(side.rows))
        if others.size and standardize != "within":
            matrix = columns(rows_of(all_rows(adata, layer), others), data.kept)
            directions = np.stack([p.direction for p in projections])
            values[others, mine] = project_others(matrix, side.x, side.y, directions, standardize)
    return values


def _store(
    adata: AnnData,
    keys: SpardaKeys,
    data: Pulled,
    pairs: Sequence[Pair],
    found: Sequence[Sequence[Projection]],
    values: Floats,
    params: dict[str, Any],
) -> None:
    names = keys.columns([(pair.group, pair.reference) for pair in pairs], len(found[0]))
    weights = [expand(p.weights, data.kept) for projections in found for p in projections]

    def table(name: str) -> Floats:
        return np.array([[getattr(p, name) for p in projections] for projections in found])

    objective = table("objective")
    total = objective.sum(axis=1, keepdims=True)
    described: dict[str, Any] = {
        "params": params,
        "pairs": {
            "group": np.array([pair.group for pair in pairs], dtype=object),
            "reference": np.array([pair.reference for pair in pairs], dtype=object),
            "against_rest": np.array([pair.right != [pair.reference] for pair in pairs]),
        },
        "columns": np.array(names, dtype=object),
        "objective": objective,
        "share": np.divide(objective, total, out=np.zeros_like(objective), where=total > 0),
        "n_features": table("n_features"),
        "path": {
            "k": found[0][0].k,
            "objective": table("path"),
            "held_out": table("held_out"),
            "held_out_sd": table("held_out_sd"),
            "chosen": table("k_chosen"),
        },
        "n_constant": data.n_constant,
    }
    for name in ("pval", "certificate"):
        if not np.isnan(table(name)).all():
            described[name] = table(name)
    store(
        adata,
        varm={keys.varm: pd.DataFrame(dict(zip(names, weights, strict=True)))},
        obsm={keys.obsm: values},
        uns={keys.uns: described},
    )
