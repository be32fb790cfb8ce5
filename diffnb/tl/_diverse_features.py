"""`tl.diverse_features`: smooth features that do not repeat each other, the recommended selection without labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Results, bound, expand, guarded, pull_all, store, warn_of_units
from .._keys import DiverseFeaturesKeys
from ..core.dufs import DiverseOptions, fit_diverse_features
from ._docs import documented_tool

#: features selected by `n_features="auto"`, and at most this share of all
AUTO_FEATURES, MAX_AUTO_SHARE = 100, 0.5


@guarded(DiverseFeaturesKeys)
@documented_tool
def diverse_features(
    adata: AnnData,
    *,
    n_features: int | Literal["auto"] = "auto",
    neighborhoods: Sequence[int] = (2, 3, 5),
    redundancy: float = 1.0,
    use_rep: str | None = None,
    layer: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    key_added: str = "diverse_features",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Select features that follow the structure of the data and do not repeat each other, without labels.

    The Laplacian score ranks features by smoothness on the graph of observations. Where features come in blocks,
    such as pixels or co-expressed genes, its leading features are copies of one another. Here features are ranked
    greedily by smoothness, discounted by the largest and by the mean squared correlation with the features ranked
    before. Nothing is trained and nothing is random. For few features with a structure among
    many nuisance features, which are never redundant, use :func:`diffnb.tl.dufs`.

    Parameters
    ----------
    adata
    n_features
        ... `"auto"`: 100, or half of the features if that is less.
    neighborhoods
        Numbers of neighbours of an observation, itself not counted. The ranks of the Laplacian scores on these
        graphs are averaged.
    redundancy
        Exponent of both discounts. 0: the Laplacian score alone; larger values: more diverse features.
    use_rep
        ... Only the graph is made from it.
    layer
    mask_var
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds

    - `var[key_added]`: whether a feature is selected; scanpy takes it as `mask_var`;
    - `varm[key_added]`: `smoothness` (from 0 to 1, the smoothest), `unexplained` (share of variance that no single
      feature ranked before explains) and `rank`. The first 300 ranks are greedy whatever `n_features` is; features
      after them are ordered by what each would add;
    - `uns[key_added]`: parameters.

    Read them with :func:`diffnb.get.diverse_features`.

    Notes
    -----
    A combination of the Laplacian score (He, Cai & Niyogi, NIPS 2005) with the idea of maximum relevance and minimum
    redundancy (Peng, Long & Ding, IEEE TPAMI 2005), not a published method.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.diverse_features(adata, n_features=20)
    >>> int(adata.var["diverse_features"].sum())
    20
    """
    call = bound(diverse_features, locals())
    validate.flags(copy=copy)
    data = pull_all(adata, layer=layer, mask_var=mask_var)
    warn_of_units(adata, layer)
    points = data.matrix if use_rep in (None, "X") else pull_all(adata, use_rep=use_rep).matrix
    p = data.matrix.shape[1]
    given = validate.auto_count("n_features", n_features, at_most=p, why=f"there are {p} features")
    options = DiverseOptions(
        n_features=_auto_features(p) if given is None else given,
        neighborhoods=_neighborhoods(neighborhoods, adata.n_obs),
        redundancy=validate.positive("redundancy", redundancy, zero=True),
    )
    fit = fit_diverse_features(data.matrix, options, points=points)
    log.info(f"{options.n_features} of {p} features selected")
    keys = DiverseFeaturesKeys(key_added)
    chosen = np.zeros(data.kept.size, dtype=bool)
    chosen[data.kept] = fit.selected
    columns = {"smoothness": fit.smoothness, "unexplained": fit.unexplained, "rank": fit.rank.astype(float)}
    table = pd.DataFrame({name: expand(values, data.kept) for name, values in columns.items()})
    described = {"n_selected": options.n_features, "n_constant": data.n_constant}
    return store(
        adata, keys, Results(var={keys.var: chosen}, varm={keys.varm: table}, described=described), call, copy=copy
    )


def _auto_features(n_features: int) -> int:
    return max(1, min(AUTO_FEATURES, int(MAX_AUTO_SHARE * n_features)))


def _neighborhoods(sizes: object, n_obs: int) -> tuple[int, ...]:
    if not isinstance(sizes, Sequence | np.ndarray) or isinstance(sizes, str) or not len(sizes):
        raise TypeError(f"neighborhoods={sizes!r} must be one or more integers, such as (2, 3, 5).")
    few = f"there are {n_obs} observations"
    return tuple(validate.count("neighborhoods", size, at_most=n_obs - 1, why=few) for size in sizes)
