"""`tl.enrich`: which named sets are over-represented among the features that were found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Results, StandIn, bound, guarded, store
from .._keys import EnrichKeys
from ..core.stats.enrichment import over_representation
from ..core.stats.pvalues import adjusted
from ..core.typing import Bools
from ..get._found_features import found_features
from ._docs import documented_tool

#: columns of a long table of sets, as decoupler and omnipath have them
LONG = ("source", "target")


@guarded(EnrichKeys)
@documented_tool
def enrich(
    adata: AnnData,
    gene_sets: str | Path | Mapping[str, Iterable[str]] | pd.DataFrame,
    *,
    key: str = "disc",
    background: Literal["tested", "all"] | Sequence[str] | np.ndarray[Any, np.dtype[Any]] = "tested",
    min_size: int = 5,
    max_size: int | None = None,
    key_added: str = "enrich",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Test which named sets hold more of the features that were found than chance would have it.

    Fisher's exact test, one-sided: among the features of the background, are those of a list more often in a set?
    p-values are adjusted over all lists and sets of the call (Benjamini–Hochberg). The background matters most: by
    default it is what was tested, so that a set is not enriched merely because its genes are expressed.

    For parcels and pixels, name a column of `adata.var` (network, region) instead of gene sets.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`, :func:`diffnb.tl.scorecard`, :func:`diffnb.tl.sparda`,
        :func:`diffnb.tl.dufs` or :func:`diffnb.tl.diverse_features`.
    gene_sets
        Path of a GMT file; names of sets with their features; a table with columns `source` and `target` (as decoupler
        has them) or a boolean table of features × sets; or a column of `adata.var`, whose categories are the sets.
    key
        ... Lists are the groups of DiSC, the features that differ in each kind of the scorecard, or those selected. A
        column of `adata.var` will do as well: its categories are the lists.
    background
        `"tested"`: the features that the call used; `"all"`: those of `adata`; names of features, or a mask.
    min_size
        Smallest number of features of a set in the background.
    max_size
        Largest number; `None`: any.
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds `uns[key_added]`; read it with :func:`diffnb.get.enrich`.

    Notes
    -----
    p-values and log odds ratios equal those of `decoupler.mt.query_set` for the sets as restricted to the background.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> dn.tl.enrich(adata, {"early": adata.var_names[:150], "late": adata.var_names[150:]})
    >>> dn.get.enrich(adata).query("pval_adj < 0.05")["set"].unique().tolist()
    ['late']
    """
    call = bound(enrich, {**locals(), "gene_sets": _described(gene_sets), "background": _named(background)})
    smallest = validate.count("min_size", min_size)
    largest = None if max_size is None else validate.count("max_size", max_size, at_least=smallest)
    lists, tested = found_features(adata, key)
    if not lists:
        raise ValueError(f"key={key!r} holds no list of features: nothing was found that could be enriched.")
    used = _background(adata, background, tested)
    names = adata.var_names[used]
    sets = _sets(adata, gene_sets)
    members = {name: names.isin(list(features)) for name, features in sets.items()}
    sizes = {name: int(own.sum()) for name, own in members.items()}
    kept = [name for name, n in sizes.items() if n >= smallest and (largest is None or n <= largest)]
    log.info(f"{len(kept)} of {len(sets)} sets have {smallest} or more features in a background of {len(names)}")
    if not kept:
        raise ValueError(
            f"none of {len(sets)} sets has min_size={smallest} features among the {len(names)} of the background"
            f" ({validate.quoted(names, 3)}; sets hold {validate.quoted(_some(sets), 3)}). Use the same kind of names"
            " in both, or lower min_size."
        )
    keys = EnrichKeys(key_added)
    results = _results({n: own[used] for n, own in lists.items()}, {n: members[n] for n in kept}, names)
    return store(adata, keys, Results(described=results), call, copy=copy)


def _described(gene_sets: object) -> str:
    """Name the sets in the stored parameters, which cannot hold all of them."""
    if isinstance(gene_sets, str | Path):
        return str(gene_sets)
    return StandIn(f"{len(gene_sets)} sets" if isinstance(gene_sets, Mapping) else type(gene_sets).__name__)


def _named(background: object) -> object:
    return background if isinstance(background, str) else np.asarray(background)


def _background(adata: AnnData, background: object, tested: Bools) -> Bools:
    if isinstance(background, str):
        validate.choice("background", background, ("tested", "all"))
        return tested if background == "tested" else np.ones(adata.n_vars, dtype=bool)
    given = np.asarray(background)
    if given.ndim != 1:
        raise TypeError(
            f"background={background!r} must be 'tested', 'all', the names of features, or booleans, one per feature."
        )
    if given.dtype == bool:
        if given.shape != (adata.n_vars,):
            raise ValueError(f"background has shape {given.shape}, but adata has {adata.n_vars} features.")
        return given
    found = np.asarray(adata.var_names.isin([str(name) for name in given]))
    if not found.any():
        raise ValueError(
            f"background names {validate.quoted([str(n) for n in given], 3)}, none of which is a feature of adata"
            f" ({validate.quoted(adata.var_names, 3)})."
        )
    return found


def _sets(adata: AnnData, gene_sets: object) -> dict[str, list[str]]:
    if isinstance(gene_sets, pd.DataFrame):
        return _sets_of_table(gene_sets)
    if isinstance(gene_sets, Mapping):
        return {str(name): [str(f) for f in features] for name, features in gene_sets.items()}
    if isinstance(gene_sets, str) and gene_sets in adata.var.columns:
        column = adata.var[gene_sets]
        present = column[column.notna()].astype(str)
        return {str(name): list(own.index) for name, own in present.groupby(present, sort=False)}
    if isinstance(gene_sets, str | Path):
        return _read_gmt(Path(gene_sets))
    raise TypeError(
        f"gene_sets must be the path of a GMT file, a dictionary, a table or a column of adata.var, got"
        f" {type(gene_sets).__name__}."
    )


def _sets_of_table(table: pd.DataFrame) -> dict[str, list[str]]:
    if set(LONG) <= set(table.columns):
        grouped = table.groupby(table["source"].astype(str), sort=False)["target"]
        return {str(name): [str(f) for f in targets.unique()] for name, targets in grouped}
    if all(pd.api.types.is_bool_dtype(dtype) for dtype in table.dtypes) and len(table.columns):
        return {str(name): [str(f) for f in table.index[table[name]]] for name in table.columns}
    raise ValueError(
        f"gene_sets has the columns {validate.quoted(table.columns, 6)}; give a table with columns 'source' (set) and"
        " 'target' (feature), or booleans, features × sets."
    )


def _read_gmt(path: Path) -> dict[str, list[str]]:
    if not path.is_file():
        raise FileNotFoundError(f"gene_sets={str(path)!r} is neither a file nor a column of adata.var.")
    sets: dict[str, list[str]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        name, *rest = line.rstrip("\n").split("\t")
        if not line.strip():
            continue
        if len(rest) < 2:
            raise ValueError(
                f"line {number} of {str(path)!r} has {1 + len(rest)} fields; a GMT line is name, description and"
                " features, separated by tabs."
            )
        sets.setdefault(name, []).extend(feature for feature in rest[1:] if feature)
    return sets


def _some(sets: Mapping[str, list[str]]) -> list[str]:
    return [feature for features in sets.values() for feature in features][:3]


def _results(lists: Mapping[str, Bools], sets: Mapping[str, Bools], names: pd.Index) -> dict[str, Any]:
    listed, members = np.stack(list(lists.values())), np.stack(list(sets.values()))
    found = over_representation(listed, members)
    first, second = np.indices(found.pval.shape).reshape(2, -1)
    shared = [";".join(map(str, names[listed[i] & members[j]])) for i, j in zip(first, second, strict=True)]
    return {
        "list": np.array(list(lists), dtype=object)[first],
        "set": np.array(list(sets), dtype=object)[second],
        "n_overlap": found.n_overlap.ravel(),
        "n_list": found.n_list[first],
        "n_set": found.n_set[second],
        "n_background": found.n_background,
        "log_odds": found.log_odds.ravel(),
        "pval": found.pval.ravel(),
        "pval_adj": adjusted(found.pval.ravel()),
        "features": np.array(shared, dtype=object),
    }
