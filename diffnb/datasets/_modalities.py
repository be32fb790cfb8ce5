"""Several modalities of the same observations in one AnnData."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import anndata as ad
import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

from .. import _logging as log
from .. import _validate as validate
from .._anndata.numbers import real_numbers
from ..core.arrays.ops import column_summaries

SCALES = ("modalities", "features", "none")


def from_mudata(
    mdata: Any,
    *,
    modalities: Sequence[str] | None = None,
    layer: str | Mapping[str, str] | None = None,
    scale: Literal["modalities", "features", "none"] = "modalities",
) -> AnnData:
    """Put the features of several modalities next to each other, so that groups may span them.

    Observations are those that every modality has. No package is needed for this: a MuData is read by its attributes,
    and a dictionary of AnnData will do as well.

    Parameters
    ----------
    mdata
        A `MuData`, or a dictionary of AnnData by the names of the modalities. Expression and peaks are normalised and
        log-transformed before, proteins transformed (CLR) as usual.
    modalities
        Names of the modalities to take, in this order; all by default.
    layer
        Layer to take instead of `X`, one for all modalities or by modality.
    scale
        Without it, a modality with larger numbers or more features would decide every distance. `"features"`: every
        feature is divided by its standard deviation; `"modalities"`: in addition by the square root of the number of
        features that vary in its modality, so that all modalities have the same total variance; `"none"`: values stay
        as they are. Zeros stay zeros, and no correlation changes.

    Returns
    -------
    `var` has `modality` beside the columns of the modalities; names of features that occur in several modalities
    get that of their modality in front (`"rna:CD3D"`). `obs` has the columns of all observations, then those of each
    modality (`"rna:n_counts"`), `obsm` what all observations share, and coordinates (`"spatial"`) of a modality.
    :func:`diffnb.get.disc_groups` gives the share of each modality in a group.

    Examples
    --------
    >>> import diffnb as dn
    >>> cells = dn.datasets.newly_connected(n_obs=100)
    >>> both = dn.datasets.from_mudata({"rna": cells[:, :200].copy(), "protein": cells[:, 200:].copy()})
    >>> both.var["modality"].value_counts().to_dict()
    {'rna': 200, 'protein': 50}
    >>> both.obs.columns.tolist()
    ['rna:condition', 'protein:condition']
    """
    validate.choice("scale", scale, SCALES)
    parts = _parts(mdata, modalities)
    shared = _shared_observations(parts)
    n_lost = max(part.n_obs for part in parts.values()) - len(shared)
    if n_lost:
        log.info(f"{len(shared)} observations are in every modality; {n_lost} are not, and are left out")
    matrices, tables = [], []
    names = _feature_names(parts)
    for name, part in parts.items():
        own = _values(part, name, layer)[part.obs_names.get_indexer(shared)]
        matrices.append(_scaled(own, scale))
        tables.append(part.var.assign(modality=name).set_axis(names[name], axis=0))
    var = pd.concat(tables)
    var.insert(0, "modality", pd.Categorical(var.pop("modality"), categories=list(parts)))
    is_sparse = all(sparse.issparse(own) for own in matrices)
    values = sparse.hstack(matrices, format="csr") if is_sparse else np.hstack([_dense(own) for own in matrices])
    return ad.AnnData(values, obs=_obs(mdata, parts, shared), var=var, obsm=_obsm(mdata, parts, shared))


def _parts(mdata: Any, modalities: Sequence[str] | None) -> dict[str, AnnData]:
    found = mdata if isinstance(mdata, Mapping) else getattr(mdata, "mod", None)
    if not isinstance(found, Mapping) or not all(isinstance(part, AnnData) for part in found.values()):
        raise TypeError(
            f"mdata must be a MuData or a dictionary of AnnData by modality, got {type(mdata).__name__}."
            + (" An AnnData has one modality already." if isinstance(mdata, AnnData) else "")
        )
    chosen = list(found) if modalities is None else [modalities] if isinstance(modalities, str) else list(modalities)
    unknown = [name for name in chosen if name not in found]
    if unknown:
        raise ValueError(
            f"modalities names {unknown[0]!r}; there are {validate.quoted(found)}.{validate.nearest(unknown[0], found)}"
        )
    if len(set(chosen)) < 2:
        raise ValueError(f"modalities={chosen!r}: give two different ones or more; one is an AnnData by itself.")
    for name in chosen:
        for axis in ("obs_names", "var_names"):
            if not getattr(found[name], axis).is_unique:
                raise ValueError(f"{axis} of modality {name!r} are not unique; call its {axis}_make_unique() first.")
    return {str(name): found[name] for name in chosen}


def _shared_observations(parts: Mapping[str, AnnData]) -> pd.Index:
    first, *others = parts.values()
    kept = np.logical_and.reduce([first.obs_names.isin(part.obs_names) for part in others])
    if not kept.any():
        shown = "; ".join(f"{name}: {validate.quoted(part.obs_names, 2)}" for name, part in parts.items())
        raise ValueError(f"no observation is in every modality ({shown}). Use the same obs_names in all of them.")
    return first.obs_names[kept]


def _feature_names(parts: Mapping[str, AnnData]) -> dict[str, list[str]]:
    taken = Counter(str(name) for part in parts.values() for name in part.var_names)
    named = {
        modality: [f"{modality}:{name}" if taken[str(name)] > 1 else str(name) for name in part.var_names]
        for modality, part in parts.items()
    }
    repeated = [name for name, n in Counter(name for own in named.values() for name in own).items() if n > 1]
    if repeated:
        raise ValueError(f"{repeated[0]!r} would name two features; rename it in one of the modalities.")
    return named


def _values(part: AnnData, name: str, layer: str | Mapping[str, str] | None) -> Any:
    chosen = layer.get(name) if isinstance(layer, Mapping) else layer
    if chosen is not None and chosen not in part.layers:
        hint = validate.nearest(chosen, part.layers)
        raise ValueError(
            f"layer={chosen!r} is not in modality {name!r}, which has {validate.quoted(part.layers)}.{hint}"
        )
    values = part.X if chosen is None else part.layers[chosen]
    if values is None:
        raise ValueError(f"modality {name!r} has no X; name a layer.")
    if sparse.issparse(values):
        return sparse.csr_matrix(values)
    if not isinstance(values, np.ndarray):
        raise TypeError(
            f"modality {name!r} holds its values as {type(values).__name__}; load it with to_memory() first."
        )
    return np.asarray(real_numbers(values, f"modality {name!r}"))


def _scaled(values: Any, scale: str) -> Any:
    if scale == "none":
        return values
    if not np.isfinite(values.data if sparse.issparse(values) else values).all():
        raise ValueError("mdata has values that are not finite; replace them first.")
    summary = column_summaries([values])[0]
    varies = np.asarray(summary.high > summary.low)
    sd = np.ones(varies.size)
    sd[varies] = _sd(values[:, varies])
    if scale == "modalities":
        sd *= np.sqrt(max(int(varies.sum()), 1))
    dtype = np.float32 if values.dtype == np.float32 else np.float64
    if sparse.issparse(values):
        return sparse.csr_matrix(values.astype(dtype).multiply((1 / sd)[None].astype(dtype)))
    return np.asarray(values / sd, dtype=dtype)


def _sd(values: Any) -> np.ndarray:
    if not sparse.issparse(values):
        return np.asarray(np.std(values, axis=0, dtype=float))
    exact = values.astype(float)
    mean = np.asarray(exact.mean(axis=0)).ravel()
    # around the mean: the difference of mean squares would lose digits
    centred = exact.copy()
    centred.data -= mean[centred.indices]
    n_zeros = exact.shape[0] - exact.getnnz(axis=0)
    squares = np.asarray(centred.multiply(centred).sum(axis=0)).ravel() + n_zeros * mean**2
    return np.asarray(np.sqrt(squares / exact.shape[0]))


def _dense(values: Any) -> np.ndarray:
    return np.asarray(values.toarray() if sparse.issparse(values) else values)


def _obs(mdata: Any, parts: Mapping[str, AnnData], shared: pd.Index) -> pd.DataFrame:
    obs = pd.DataFrame(index=shared) if isinstance(mdata, Mapping) else mdata.obs.loc[shared].copy()
    for name, part in parts.items():
        own = part.obs.loc[shared].add_prefix(f"{name}:")
        obs = obs.join(own[[column for column in own.columns if column not in obs.columns]])
    return obs


def _obsm(mdata: Any, parts: Mapping[str, AnnData], shared: pd.Index) -> dict[str, np.ndarray]:
    taken: dict[str, np.ndarray] = {}
    if not isinstance(mdata, Mapping):
        rows = mdata.obs_names.get_indexer(shared)
        # a MuData keeps there, too, which observations each modality has
        taken = {key: value[rows] for key, value in mdata.obsm.items() if key not in mdata.mod and np.ndim(value) == 2}
    for part in parts.values():
        if "spatial" in part.obsm and "spatial" not in taken:
            taken["spatial"] = np.asarray(part.obsm["spatial"])[part.obs_names.get_indexer(shared)]
    return taken
