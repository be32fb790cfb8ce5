"""Which conditions are compared: one with another, or with the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Pulled
from ..core.arrays.row_chunks import Chunked, stacked
from ..core.sparda import DEFAULT_FOLDS, SpardaOptions, n_folds
from ..core.stats.samples import nested
from ..core.typing import Ints, Matrix

#: name of all other conditions together
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
    strata: list[Ints]


def known_condition(adata: AnnData, groupby: str, name: str, value: object, /) -> str | None:
    """Read the name of a condition; `None` where the choice is left to the tool."""
    if isinstance(value, str) and value == validate.AUTO:
        return None
    validate.tables_in_memory(adata)
    present = [str(c) for c in validate.conditions(adata, groupby).categories]
    if str(value) not in present:
        raise ValueError(
            f"{name}={value!r} is not a category of adata.obs[{groupby!r}] ({validate.quoted(present)})."
            f"{validate.nearest(value, present)}"
        )
    return str(value)


def pairs_of(adata: AnnData, groupby: str, group: object, reference: object, /) -> list[Pair]:
    """List the comparisons that `group` and `reference` ask for."""
    validate.tables_in_memory(adata)
    present = validate.chosen_groups(validate.conditions(adata, groupby), groupby, None)
    ours = known_condition(adata, groupby, "group", group)
    theirs = known_condition(adata, groupby, "reference", reference)
    if ours is not None and ours == theirs:
        raise ValueError(f"group and reference are both {group!r}; name two different conditions.")
    if ours is None and theirs is None and len(present) == 2:
        ours = present[1]
    groups = [g for g in present if g != theirs] if ours is None else [ours]
    return [_pair(g, theirs, present) for g in groups]


def _pair(group: str, reference: str | None, present: Sequence[str]) -> Pair:
    if reference is not None:
        return Pair(group, reference, [group], [reference])
    others = [g for g in present if g != group]
    return Pair(group, others[0] if len(others) == 1 else _name_of_rest(present), [group], others)


def _name_of_rest(present: Sequence[str]) -> str:
    """Name all other conditions together; a condition may itself be called "rest", as in recordings of a brain."""
    name = REST
    while name in present:
        name = f"all {name}"
    return name


def compared(pairs: Sequence[Pair], /) -> list[str]:
    """Return all conditions of all comparisons, references first."""
    return list(dict.fromkeys(name for pair in pairs for name in [*pair.right, *pair.left]))


def sides_of(data: Pulled, pair: Pair, /) -> Sides:
    """Stack the conditions of each side."""
    positions = [[data.groups.index(name) for name in names] for names in (pair.left, pair.right)]
    x, y = (_stacked([data.matrices[i] for i in where]) for where in positions)
    rows = tuple(np.concatenate([data.rows[i] for i in where]) for where in positions)
    samples, strata = (
        [np.concatenate([codes[i] for i in where]) for where in positions] if codes else []
        for codes in (data.samples, data.strata)
    )
    return Sides(x, y, (rows[0], rows[1]), samples, strata)


def _stacked(matrices: list[Matrix]) -> Matrix:
    if len(matrices) == 1:
        return matrices[0]
    if isinstance(matrices[0], Chunked):
        return stacked(matrices)
    if sp.issparse(matrices[0]):
        return sp.vstack(matrices, format="csr")
    return np.concatenate(matrices)


def check_sizes(pair: Pair, sides: Sides, options: SpardaOptions, sample_key: str | None, /) -> None:
    """Refuse samples that cannot be permuted, and warn of groups too small for five folds."""
    sizes = {pair.group: sides.x.shape[0], pair.reference: sides.y.shape[0]}
    folds = n_folds(*sizes.values())
    if options.n_features == "auto" and folds < DEFAULT_FOLDS:
        small = min(sizes, key=lambda name: sizes[name])
        log.warn(
            f"{small!r} has {sizes[small]} observations: the number of features is chosen with {folds} folds"
            f" instead of {DEFAULT_FOLDS}. Give n_features a number to choose it yourself."
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
