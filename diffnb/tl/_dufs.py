"""`tl.dufs`: the features that carry the structure of the data, without any labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import PulledAll, Results, bound, expand, guarded, pull_all, store, warn_of_units
from .._keys import DufsKeys
from .._options import check_dufs, dufs_options
from ..core.dufs import DufsFit, DufsOptions, fit_dufs
from ..core.runtime.progress import bar
from ..core.typing import Matrix
from ._docs import documented_tool

#: where the number of open gates lies in its range
Edge: TypeAlias = Literal["none", "few", "most"]

#: share of open gates above which gates hardly distinguish features
MAX_OPEN_SHARE = 0.8
#: of fewer features, most may well carry the structure
MIN_FEATURES_TO_JUDGE = 100
RECOMMENDED = "dn.tl.diverse_features"


@guarded(DufsKeys)
@documented_tool
def dufs(
    adata: AnnData,
    *,
    n_features: int | Literal["auto"] = "auto",
    min_features: int | Literal["auto"] = "auto",
    penalty: float | Literal["warm"] | None = None,
    gates: Literal["deterministic", "per_sample", "per_feature"] = "deterministic",
    layer: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    standardize: Literal["global"] | None = "global",
    n_neighbors: int = 2,
    scale: float = 5.0,
    adapt_scale: bool = True,
    bandwidth: Literal["median", "max", "local"] = "median",
    leave_one_out: bool = True,
    power: int = 2,
    n_steps: int | Literal["auto"] = "auto",
    learning_rate: float | Literal["auto"] = "auto",
    optimizer: Literal["normalized", "adam", "sgd"] = "normalized",
    early_stopping: bool = True,
    batch_size: int | Literal["auto"] = "auto",
    n_restarts: int = 1,
    random_state: int = 0,
    key_added: str = "dufs",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Select the features that carry the structure of the data, without labels (DUFS).

    Every feature has a gate between 0 and 1. Open features make a graph of observations, and gates are trained
    so that open features vary smoothly along that graph: features that share a structure keep each other open,
    nuisance features close.

    Parameters
    ----------
    adata
    n_features
        ... Those with the largest gates; `"auto"`: those whose gate is above ½, at least `min_features`.
    min_features
        Number of features that `n_features="auto"` selects at least, with a warning where fewer gates stay open.
        `"auto"`: 1 % of the features, at least 2.
    penalty
        `None`: the parameter-free loss, smoothness per open feature. A number: smoothness with a penalty λ on
        open gates, in units of what both terms are at the start, so that 1 means the same for all data. `"warm"`:
        the λ out of .01, .1, 1 and 10 whose `n_features` leading features are smoothest, with which training
        continues.
    gates
        `"deterministic"`: the moments of the authors' gates instead of draws, so that nothing in a step is random;
        `"per_sample"`: draws for every observation and feature, as the authors do; `"per_feature"`: one draw per
        feature and step.
    layer
    mask_var
    standardize
    n_neighbors
        The neighbour whose distance sets the width of the kernel, the observation itself counted: 2 is the
        nearest other one.
    scale
        Width of the kernel in units of that squared distance.
    adapt_scale
        Where all gates close, or all open, train again with a narrower kernel (.8 or .5 of its scale): among many
        nuisance features all observations are about equally far apart, and a wide kernel does not resolve their
        structure. For `penalty=None` only, where `optimizer="adam"` starts with twice the scale, and `power=1` with
        a training with two steps of the walk, whose loss has fewer local optima.
    bandwidth
        Which of the distances: the `"median"` over observations (the authors' code), their `"max"` (the
        supplement), or one for each observation (`"local"`), of which pairs take the geometric mean.
    leave_one_out
        Observations are no neighbours of themselves. `False` as in the paper.
    power
        Steps t of the random walk, 1 to 3.
    n_steps
        Training steps at most. `"auto"`: 200; 1,000 with drawn gates, 5,000 with `optimizer="sgd"`.
    learning_rate
        With `optimizer="normalized"`, how far the gate with the largest gradient moves in a step. `"auto"`: .05; .01
        with drawn gates, whose draws are averaged over many short steps; 1 with `optimizer="sgd"`, as the authors do.
    optimizer
        `"normalized"`: momentum, in units of the largest gradient so far; `"adam"`; `"sgd"`: the plain
        gradient, as the authors do.
    early_stopping
        Stop when the mean loss of 20 steps is hardly better than that of the 20 before.
    batch_size
        Observations in a step; `"auto"`: all of them up to 1,000, and 500 beyond.
    n_restarts
        Starts, of which the one with the lowest loss is kept.
    random_state
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds

    - `var[key_added]`: whether a feature is selected; scanpy takes it as `mask_var`, as in
      `sc.pp.pca(adata, mask_var="dufs")`;
    - `varm[key_added]`: `gate` of each feature, and `mu`, which orders those that are wide open;
    - `uns[key_added]`: loss, smoothness and share of open gates in every step, the scale and λ that were used,
      whether the number of open gates is at an end of its range, parameters.

    Read them with :func:`diffnb.get.dufs`, :func:`diffnb.get.dufs_summary` and :func:`diffnb.get.dufs_training`.

    Notes
    -----
    On real images and expression, observations cluster no better by features that DUFS selects than by random features;
    :func:`diffnb.tl.diverse_features` is the recommended selection there. DUFS is for few features with a structure
    among many without.

    References
    ----------
    Lindenbaum, Shaham, Peterfreund, Svirsky, Casey & Kluger, *Differentiable Unsupervised Feature Selection based
    on a Gated Laplacian*, NeurIPS 2021: the regularised loss (Eq. 3 of the authors' code), the parameter-free one
    (Eq. 4), kernel widths (S1), the warm start (S2, Algorithm 1), the power t (S5).

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(10)
    >>> dn.tl.dufs(adata)
    >>> adata.var_names[adata.var["dufs"]].tolist()
    ['moon_x', 'moon_y']
    """
    n_features = validate.not_none("n_features", n_features, "auto")
    batch_size = validate.not_none("batch_size", batch_size, "auto")
    call = bound(dufs, locals())
    given = SimpleNamespace(**call.arguments)
    check_dufs(given)
    validate.flags(copy=copy)
    data = pull_all(adata, layer=layer, mask_var=mask_var)
    warn_of_units(adata, layer)
    n, p = data.matrix.shape
    options = dufs_options(given, n, p)
    fit = _fit(data.matrix, options)
    edge = _edge(fit.settings.n_open, p, options.min_features)
    if n_features == validate.AUTO:
        _warn_at_edge(edge, fit.settings.n_open, p, options.min_features)
    used = fit.settings
    log.info(f"{used.n_features} of {p} features selected, scale {used.scale:.3g}, loss {fit.loss[-1]:.4g}")
    keys = DufsKeys(key_added)
    return store(adata, keys, _results(keys, data, fit, edge, options.min_features), call, copy=copy)


def _fit(matrix: Matrix, options: DufsOptions) -> DufsFit:
    with _bar() as progress:
        return fit_dufs(matrix, options, progress=progress)


@contextmanager
def _bar() -> Any:
    """Make a progress bar on demand, and close it whatever happens."""
    bars: list[Any] = []

    def begin(total: int) -> Callable[[], None]:
        # short trainings are over before a bar could be read
        bars.append(bar(total=total, desc="DUFS", delay=1.0))

        def step() -> None:
            if bars[0].n == bars[0].total:  # training starts again with a narrower kernel
                bars[0].total += total
            bars[0].update()

        return step

    try:
        yield begin
    finally:
        for made in bars:
            made.close()


def _edge(n_open: int, n_features: int, min_features: int) -> Edge:
    """Return whether the number of open gates is at an end of its range."""
    if n_open < min_features:
        return "few"
    is_most = n_features >= MIN_FEATURES_TO_JUDGE and n_open > MAX_OPEN_SHARE * n_features
    return "most" if is_most else "none"


def _warn_at_edge(edge: Edge, n_open: int, n_features: int, min_features: int) -> None:
    if edge == "few":
        opened = "no gate stays open" if n_open == 0 else f"only {n_open} of {n_features} gates stay open"
        log.warn(
            f"{opened}: the {min_features} features with the largest gates are selected (min_features). Give"
            f" n_features, try a smaller penalty or scale, or use {RECOMMENDED}."
        )
    elif edge == "most":
        log.warn(
            f"{n_open} of {n_features} gates stay open: the gates hardly distinguish the features, and their order"
            f" has little meaning. Give n_features, or use {RECOMMENDED}."
        )


def _results(keys: DufsKeys, data: PulledAll, fit: DufsFit, edge: Edge, min_features: int) -> Results:
    chosen = np.zeros(data.kept.size, dtype=bool)
    chosen[data.kept] = fit.selected
    table = {"gate": expand(fit.gates, data.kept), "mu": expand(fit.mu, data.kept)}
    described: dict[str, Any] = {
        "training": {"loss": fit.loss, "smoothness": fit.smoothness, "open": fit.open},
        "scale": fit.settings.scale,
        "n_constant": data.n_constant,
        "n_open": fit.settings.n_open,
        "min_features": min_features,
        "edge": edge,
    }
    if not np.isnan(fit.settings.penalty):
        described["penalty"] = fit.settings.penalty
    if fit.warm_start is not None:
        described["warm"] = {"penalty": fit.warm_start.penalties, "score": fit.warm_start.scores}
    return Results(var={keys.var: chosen}, varm={keys.varm: pd.DataFrame(table)}, described=described)
