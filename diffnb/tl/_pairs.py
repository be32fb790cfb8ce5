"""Who is compared with whom: a condition with another, or with the rest."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from anndata import AnnData

from .. import _validate as validate
from .._anndata import Pulled
from ..core.arrays.row_chunks import Chunked, stacked
from ..core.sparda import DEFAULT_FOLDS, SpardaOptions, n_folds
from ..core.stats.samples import nested
from ..core.typing import Ints, Matrix

REST = "rest"


@dataclass(frozen=True, slots=True)
class Pair:
    """Names of a comparison, and the conditions on each side."""

    group: str
    reference: str
    left: list[str]
    right: list[str]


@dataclass(frozen=True, slots=True)
class Sides:
    """Matrices of both populations, their places in the AnnData, and their samples."""

    x: Matrix
    y: Matrix
    rows: tuple[Ints, Ints]
    samples: list[Ints]


def pairs_of(adata: AnnData, groupby: str, group: object, reference: object, /) -> list[Pair]:
    """Settle who is compared with whom."""
    validate.tables_in_memory(adata)
    present = validate.chosen_groups(validate.conditions(adata, groupby), groupby, None)
    for name, value in (("group", group), ("reference", reference)):
        if value is not None and str(value) not in present:
            raise ValueError(
                f"{name}={value!r} is not a category of adata.obs[{groupby!r}] ({validate.quoted(present)})."
                f"{validate.nearest(value, present)}"
            )
    if group is not None and str(group) == str(reference):
        raise ValueError(f"group and reference are both {group!r}; name two different conditions.")
    if group is None and reference is None and len(present) == 2:
        group = present[1]
    if reference is not None:
        groups = [g for g in present if g != str(reference)] if group is None else [str(group)]
        return [Pair(g, str(reference), [g], [str(reference)]) for g in groups]
    pairs = []
    for name in present if group is None else [str(group)]:
        others = [g for g in present if g != name]
        pairs.append(Pair(name, others[0] if len(others) == 1 else REST, [name], others))
    return pairs


def taking_part(pairs: Sequence[Pair], /) -> list[str]:
    """Return all conditions of all comparisons, references first."""
    return list(dict.fromkeys(name for pair in pairs for name in [*pair.right, *pair.left]))


def sides_of(data: Pulled, pair: Pair, /) -> Sides:
    """Lay the conditions of each side under each other."""
    positions = [[data.groups.index(name) for name in names] for names in (pair.left, pair.right)]
    x, y = (_under_each_other([data.matrices[i] for i in where]) for where in positions)
    rows = tuple(np.concatenate([data.rows[i] for i in where]) for where in positions)
    samples = [np.concatenate([data.samples[i] for i in where]) for where in positions] if data.samples else []
    return Sides(x, y, (rows[0], rows[1]), samples)


def _under_each_other(matrices: list[Matrix]) -> Matrix:
    if len(matrices) == 1:
        return matrices[0]
    if isinstance(matrices[0], Chunked):
        return stacked(matrices)
    if sp.issparse(matrices[0]):
        return sp.vstack(matrices, format="csr")
    return np.concatenate(matrices)


def check_sizes(pair: Pair, sides: Sides, options: SpardaOptions, sample_key: str | None, /) -> None:
    """Refuse samples that cannot be dealt, and tell of groups too small for five folds."""
    sizes = {pair.group: sides.x.shape[0], pair.reference: sides.y.shape[0]}
    folds = n_folds(*sizes.values())
    if options.n_features == "auto" and folds < DEFAULT_FOLDS:
        small = min(sizes, key=lambda name: sizes[name])
        warnings.warn(
            f"{small!r} has {sizes[small]} observations: the number of features is chosen with {folds} folds"
            f" instead of {DEFAULT_FOLDS}. Give n_features a number to choose it yourself.",
            UserWarning,
            stacklevel=3,
        )
    if not sides.samples:
        return
    if not nested(sides.samples):
        n_samples = len(np.unique(np.concatenate(sides.samples)))
        if n_samples < 2 or _in_both(sides.samples) < n_samples:
            raise ValueError(
                f"sample_key={sample_key!r} gives samples of which some hold both {pair.group!r} and"
                f" {pair.reference!r} and some one of them; samples must hold both, or one each."
            )
        return
    for name, codes in zip((pair.group, pair.reference), sides.samples, strict=True):
        if len(np.unique(codes)) < 2:
            raise ValueError(
                f"sample_key={sample_key!r} gives {name!r} a single sample: whole samples cannot be permuted."
                " At least two are needed on each side."
            )


def _in_both(samples: Sequence[Ints]) -> int:
    return len(np.intersect1d(samples[0], samples[1]))
