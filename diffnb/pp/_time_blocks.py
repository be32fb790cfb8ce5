"""`pp.time_blocks`: blocks of consecutive frames, as units of tests."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import TIME_BLOCKS, Change, all_rows, change_slots, check_values, guarded, row_autocorrelation

Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Strings: TypeAlias = np.ndarray[Any, np.dtype[np.object_]]
#: a block is this many times as long as the frames that count as one: correlations between features fluctuate more
#: slowly than features do
CORRELATION_TIMES_PER_BLOCK = 10
#: rows from which a correlation can be computed within a block
MIN_ROWS_PER_BLOCK = 20
#: blocks of a condition with which a test is possible at all
MIN_BLOCKS_PER_CONDITION = 4
#: name of rows without a condition, which no test uses
WITHOUT_CONDITION = "no condition"


@guarded()
def time_blocks(
    adata: AnnData,
    groupby: str | None = None,
    *,
    sample_key: str | None = None,
    layer: str | None = None,
    length: int | Literal["auto"] = "auto",
    key_added: str = "block",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Divide a series into blocks of consecutive frames, as units of tests in place of single frames.

    Frames of a recording resemble their neighbours, and a test that exchanges single frames takes them for many more
    independent observations than they are. Pass the blocks as `sample_key`: then :func:`diffnb.tl.disc` permutes
    whole blocks, and they are the units of :func:`diffnb.tl.scorecard`. If several subjects were recorded, their
    agreement is the better question: pass the subject as `sample_key` instead.

    Parameters
    ----------
    adata
        Annotated data whose rows are frames, in the order of time.
    groupby
        Column of `adata.obs` with the conditions: no block holds frames of two of them.
    sample_key
        Column of `adata.obs` with the subject, or the run, of each frame: no block holds frames of two of them.
    layer
        Layer from which the autocorrelation is computed; `adata.X` by default.
    length
        Frames in a block, at least; those left over are shared out among blocks. A block begins and ends where the
        condition does, unless it holds several short periods of one condition. `"auto"`: ten times the number of frames
        that count as one, by the autocorrelation, and 20 at least.
    key_added
        Column of `adata.obs` that is written.
    overwrite
        Replace this column, and `adata.uns["time_blocks"]`, even if this function has not written them.
    copy
        Work on a copy and return it.

    Returns
    -------
    `None`, or the copy. `adata.obs[key_added]` holds the name of each frame's block, as a category, and
    `adata.uns["time_blocks"]` the length, the lag-1 correlation, the number of frames that count as one and
    `sample_key`.

    References
    ----------
    Bartlett, J. R. Stat. Soc. 1935; Geyer, Stat. Sci. 1992, for the sum of autocorrelations.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nback_fmri(n_subjects=1)
    >>> dn.pp.time_blocks(adata, "condition", length=38, key_added="piece")
    >>> adata.obs["piece"].nunique()
    16
    """
    columns = _columns_written(adata, key_added, overwrite)
    names = _series_names(adata, groupby, sample_key)
    codes, levels = pd.factorize(names, sort=True)
    series = [np.flatnonzero(codes == code) for code in range(len(levels))]
    if adata.n_vars == 0:
        raise ValueError("adata has no features (adata.n_vars is 0), of which a correlation in time could be taken.")
    source = all_rows(adata, layer)
    check_values(source, np.asarray(adata.var_names), "adata.X" if layer is None else f"layer={layer!r}")
    found = row_autocorrelation([source[rows] for rows in series])
    per_block = _length(length, found.time)
    blocks = np.empty(adata.n_obs, dtype=object)
    for name, rows in zip(levels, series, strict=True):
        blocks[rows] = _numbered(str(name), rows, per_block)
    _check_counts(adata, groupby, blocks, length, per_block)
    adata = adata.copy() if copy else adata
    record = {
        "key": key_added,
        "columns": np.array(columns, dtype=object),
        "sample_key": sample_key or "",
        "length": per_block,
        "lag_1": found.lag_1,
        "correlation_time": found.time,
    }
    written = {("obs", key_added): pd.Categorical(blocks), ("uns", TIME_BLOCKS): record}
    change_slots(adata, Change((), written))
    log.info(
        f"{len(np.unique(blocks))} blocks of about {per_block} frames: lag-1 correlation {found.lag_1:.2f},"
        f" {found.time:.1f} frames count as one"
    )
    return adata if copy else None


def _columns_written(adata: AnnData, key_added: str, overwrite: bool) -> list[str]:
    """List the columns that this and earlier calls have written; refuse those that hold something else."""
    found = adata.uns.get(TIME_BLOCKS)
    is_ours = isinstance(found, Mapping) and "key" in found
    columns = [str(c) for c in np.atleast_1d(found.get("columns", [found["key"]]))] if is_ours else []
    foreign = [f"adata.uns[{TIME_BLOCKS!r}]"] if found is not None and not is_ours else []
    if key_added in adata.obs and key_added not in columns:
        foreign.append(f"adata.obs[{key_added!r}]")
    if foreign and not overwrite:
        raise ValueError(
            f"{foreign[0]} exists and was not written by pp.time_blocks, so that it is not replaced: give key_added"
            " another value to keep it, or overwrite=True to replace it."
        )
    return list(dict.fromkeys([*columns, key_added]))


def _series_names(adata: AnnData, groupby: str | None, sample_key: str | None) -> Strings:
    """Name the series that every frame belongs to, by condition and sample."""
    parts = []
    if groupby is not None:
        categories = validate.conditions(adata, groupby)
        parts.append(pd.Series(categories.astype(object)).fillna(WITHOUT_CONDITION).astype(str))
    if sample_key is not None:
        parts.append(validate.obs_column(adata, "sample_key", sample_key).astype(str).reset_index(drop=True))
    if not parts:
        return np.full(adata.n_obs, "block", dtype=object)
    return np.array(["_".join(row) for row in zip(*parts, strict=True)], dtype=object)


def _length(length: int | Literal["auto"], time: float) -> int:
    given = validate.auto_count("length", length, at_least=2)
    return given or max(MIN_ROWS_PER_BLOCK, ceil(CORRELATION_TIMES_PER_BLOCK * time))


def _numbered(name: str, rows: Ints, length: int) -> list[str]:
    """Name the block of every frame of a series."""
    counts = [max(1, n // length) for n in _stretches(rows, length)]
    digits = len(str(sum(counts)))
    parts = []
    for start, count, n in zip(np.cumsum([0, *counts[:-1]]), counts, _stretches(rows, length), strict=True):
        # blocks of a stretch differ in length by one frame at most
        parts.append(start + np.arange(n) * count // n + 1)
    return [f"{name}_{number:0{digits}d}" for number in np.concatenate(parts)]


def _stretches(rows: Ints, length: int) -> list[int]:
    """Lengths of consecutive stretches: frames that follow each other, joined until a block is full."""
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    lengths = [0]
    for run in runs:
        if lengths[-1] >= length:
            lengths.append(0)
        lengths[-1] += len(run)
    if len(lengths) > 1 and lengths[-1] < length:
        last = lengths.pop()
        lengths[-1] += last
    return lengths


def _check_counts(
    adata: AnnData, groupby: str | None, blocks: Strings, length: int | Literal["auto"], per_block: int
) -> None:
    """Refuse blocks that are too few to be permuted."""
    conditions = np.zeros(adata.n_obs) if groupby is None else adata.obs[groupby].to_numpy()
    counts = pd.Series(blocks).groupby(conditions).nunique()
    if counts.min() >= MIN_BLOCKS_PER_CONDITION:
        return
    where = "there are" if groupby is None else f"condition {str(counts.idxmin())!r} has"
    raise ValueError(
        f"length={length!r} gives blocks of {per_block} frames, of which {where} {counts.min()}; at least"
        f" {MIN_BLOCKS_PER_CONDITION} are needed. The recording is too short to test it on its own with blocks of"
        " this length: record more, or compare subjects with sample_key. A smaller length makes more blocks, which"
        " are then less independent."
    )
