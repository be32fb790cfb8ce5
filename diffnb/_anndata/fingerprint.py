"""A fingerprint of the data that results were computed from, and what has changed since.

It holds the names of observations and features, the columns of `obs` that a call used, and values at the crossing of a
few rows and columns. Rows and columns are chosen by their names, and sums do not depend on order: the same data in
another order, precision or kind of array has the same fingerprint. Reading it costs milliseconds, so that a change of
few values can go unnoticed; a subset, new labels, another matrix and a transformation do not.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp
from anndata import AnnData

from .._keys import recorded_slots
from ..core.arrays.ops import dense64
from ..core.arrays.row_chunks import chunked, is_dask
from ..core.typing import Floats, Ints
from .lazy import in_memory
from .params import ToolCall, names

Hashes: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]

#: rows and columns whose values are compared
MAX_ROWS, MAX_COLUMNS = 32, 512
#: rows of data that is not in memory: each may be in another chunk
MAX_ROWS_ON_DISK = 2
#: columns of `obs` with more levels are compared as numbers
MAX_LEVELS_AS_TEXT = 1000
#: bits of a value that are compared, those of float32
MANTISSA_BITS = 24
#: arguments that name columns of `obs`
COLUMNS = ("groupby", "sample_key", "covariates", "permute_within", "time_key", "event_key")
#: tools that read columns of `obs` only
WITHOUT_FEATURES = ("survival",)
#: tools that read other results rather than values, and the places of those that they read
OF_RESULTS = {"enrich": ("var", "varm"), "survival": ("obsm",)}
_ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))


def fingerprint(adata: AnnData, call: ToolCall, /) -> dict[str, Any]:
    """Describe the data that a call has used, for `uns`."""
    observations = hashed_names(adata.obs_names)
    columns = _columns_used(adata, call)
    found: dict[str, Any] = {
        "n_obs": adata.n_obs,
        "obs": _total(observations),
        "columns": names(columns),
        "labels": names(_labels(adata, column, observations) for column in columns),
        **_results_read(adata, call),
    }
    if call.tool in WITHOUT_FEATURES:
        return found
    features = hashed_names(adata.var_names)
    sources = {place: _values(adata, place, observations, features) for place in _sources(adata, call)}
    kept = {place: rows for place, rows in sources.items() if rows is not None}
    return {
        **found,
        "n_vars": adata.n_vars,
        "var": _total(features),
        "sources": names(kept),
        "values": np.array([";".join(map(str, rows)) for rows in kept.values()], dtype=object),
    }


def changes(adata: AnnData, stored: Mapping[str, Any], /) -> list[str]:
    """Say what has changed since a fingerprint was taken; empty where nothing has, or where it was damaged."""
    if not {"n_obs", "obs"} <= set(stored) or ("var" in stored) != ("n_vars" in stored):
        return []
    observations = hashed_names(adata.obs_names)
    found = _renamed("observations", int(stored["n_obs"]), str(stored["obs"]), observations)
    same_obs, same_var = not found, True
    features = None
    if "var" in stored:
        features = hashed_names(adata.var_names)
        of_features = _renamed("features", int(stored["n_vars"]), str(stored["var"]), features)
        same_var = not of_features
        found += of_features
    if not same_obs:  # labels and values can only be compared for the same observations
        return found
    for column, labels in _pairs(stored, "columns", "labels"):
        if column in adata.obs.columns and _labels(adata, column, observations) != labels:
            found.append(f"adata.obs[{column!r}] has other values")
    for place, values in _pairs(stored, "results", "contents"):
        kind, _, key = place.partition("/")
        now = _contents(adata, kind, key) if same_var or kind == "obsm" else None
        if now is not None and now != values:
            found.append(f"the results under key={key!r}, which they were made of, are others")
    for place, values in _pairs(stored, "sources", "values") if features is not None else []:
        if (same_var or place.startswith("obsm")) and _differs(_values(adata, place, observations, features), values):
            found.append(f"{_shown(place)} has other values")
    return found


def has_other_features(adata: AnnData, stored: Mapping[str, Any], /) -> bool:
    """Return whether the features are not those of the fingerprint."""
    return "var" in stored and _total(hashed_names(adata.var_names)) != str(stored["var"])


def _renamed(kind: str, n_before: int, total: str, now: Hashes) -> list[str]:
    if _total(now) == total:
        return []
    if len(now) == n_before:
        return [f"{kind} have other names"]
    return [f"there were {n_before:,} {kind} and are {len(now):,}"]


def _pairs(stored: Mapping[str, Any], first: str, second: str) -> list[tuple[str, str]]:
    listed = [[str(value) for value in np.atleast_1d(stored.get(name, ()))] for name in (first, second)]
    return list(zip(*listed, strict=True)) if len(listed[0]) == len(listed[1]) else []


def _differs(rows: Hashes | None, stored: str) -> bool:
    """Compare as many rows as both have: of data on disk fewer are read."""
    if rows is None:
        return False
    return any(str(now) != before for now, before in zip(rows, stored.split(";"), strict=False))


def _shown(place: str) -> str:
    kind, _, name = place.partition("/")
    return f"adata.{kind}[{name!r}]" if name else f"adata.{kind}"


# ---- names and labels ----

#: of the last indices, which are immutable, so that one AnnData is hashed once
_hashed: dict[int, tuple[weakref.ref[pd.Index], Hashes]] = {}
MAX_CACHED = 16


def hashed_names(index: pd.Index, /) -> Hashes:
    """Hash every name of an index."""
    found = _hashed.get(id(index))
    if found is not None and found[0]() is index:
        return found[1]
    hashes = _hash_texts(index)
    if len(_hashed) >= MAX_CACHED:
        _hashed.clear()
    _hashed[id(index)] = (weakref.ref(index), hashes)
    return hashes


def _hash_texts(values: Any) -> Hashes:
    texts = np.array([str(value) for value in values], dtype=object)
    return np.asarray(pd.util.hash_array(texts, categorize=False), dtype=np.uint64)


def _total(hashes: Hashes) -> str:
    return f"{int(np.add.reduce(hashes, dtype=np.uint64)):016x}"


def _mixed(first: Hashes, second: Hashes) -> Hashes:
    """Combine two hashes into one that depends on both."""
    both = (first * _ODD[0]) ^ (second + _ODD[1])
    return np.asarray((both ^ (both >> np.uint64(29))) * _ODD[1])


def _columns_used(adata: AnnData, call: ToolCall) -> list[str]:
    named: list[str] = []
    for argument in COLUMNS:
        value = call.arguments.get(argument)
        named += [value] if isinstance(value, str) else [str(name) for name in value or ()]
    return [name for name in dict.fromkeys(named) if name in adata.obs.columns]


def _labels(adata: AnnData, name: str, observations: Hashes) -> str:
    """Sum up a column of `obs`, each value with the name of its observation."""
    table: Any = adata.obs
    column = table[name] if isinstance(table, pd.DataFrame) else in_memory(table[[name]])[name]
    if getattr(column, "ndim", 1) > 1:  # of columns with one name, the first
        column = column.iloc[:, 0]
    return _total(_mixed(observations, _hashed_labels(column)))


def _hashed_labels(column: Any) -> Hashes:
    codes, levels = pd.factorize(column)
    if len(levels) > MAX_LEVELS_AS_TEXT and pd.api.types.is_numeric_dtype(column):
        return _bits(column.to_numpy(dtype=float, na_value=np.nan))
    hashes = np.append(_hash_texts([_level(level) for level in levels]), np.uint64(0))  # the last is a missing value
    return np.asarray(hashes[codes])


def _level(level: object) -> str:
    return str(int(level)) if isinstance(level, float) and level.is_integer() else str(level)


# ---- other results ----


def _results_read(adata: AnnData, call: ToolCall) -> dict[str, Any]:
    """Describe the results that a call has read, where it reads any."""
    if call.tool == "survival" and call.arguments.get("groupby") is not None:  # then it reads no other results
        return {}
    key, places = str(call.arguments.get("key")), OF_RESULTS.get(call.tool, ())
    found = {f"{place}/{key}": _contents(adata, place, key) for place in places}
    kept = {place: contents for place, contents in found.items() if contents is not None}
    return {"results": names(kept), "contents": names(kept.values())} if kept else {}


def _contents(adata: AnnData, place: str, key: str) -> str | None:
    """Sum up what is stored under a key in a place, each value with the name of its row; `None` where nothing is."""
    slots = [name for kind, name in recorded_slots(adata.uns.get(key), key) if kind == place]
    stored = getattr(adata, place)
    rows = hashed_names(adata.obs_names if place == "obsm" else adata.var_names)
    columns = [column for name in slots if name in stored for column in _columns(name, in_memory(stored[name]))]
    if not columns:
        return None
    named = [_mixed(_mixed(rows, _hashed_labels(values)), _hash_texts([name])) for name, values in columns]
    return _total(np.concatenate(named))


def _columns(name: str, value: Any) -> list[tuple[str, pd.Series[Any]]]:
    """Name the columns of a slot."""
    if isinstance(value, pd.Series):
        return [(name, value)]
    table = value if isinstance(value, pd.DataFrame) else pd.DataFrame(np.asarray(value))
    return [(f"{name}/{column}", table[column]) for column in table.columns]


# ---- values ----


def _sources(adata: AnnData, call: ToolCall) -> list[str]:
    """List the matrices that a call has read, by place and name."""
    if call.tool in OF_RESULTS:
        return []
    given = call.arguments
    rep, layer, counts = given.get("use_rep"), given.get("layer"), given.get("counts")
    of_rep = [] if rep in (None, "X") else [f"obsm/{rep}"]
    if of_rep and call.tool == "informed_distance":
        return of_rep
    matrix = ["X"] if layer is None else [f"layers/{layer}"]
    of_counts = [] if counts is None else ["X" if counts == "X" else f"layers/{counts}"]
    return list(dict.fromkeys([*matrix, *of_rep, *of_counts]))


def _values(adata: AnnData, place: str, observations: Hashes, features: Hashes | None) -> Hashes | None:
    """Hash some rows of a matrix; `None` where there is none, or where reading them would be expensive."""
    kind, _, name = place.partition("/")
    source: Any = adata.X if kind == "X" else getattr(adata, kind).get(name)
    if source is None or features is None:
        return None
    columns = features if kind != "obsm" else _hash_texts(range(source.shape[1]))
    is_lazy = is_dask(source)
    if is_lazy and _cached(source) is not None:
        return _cached(source)
    at_hand = isinstance(source, np.ndarray | pd.DataFrame) or sp.issparse(source)
    rows = _lowest(observations, MAX_ROWS if at_hand else MAX_ROWS_ON_DISK)
    chosen = _lowest(columns, MAX_COLUMNS)
    block = _block(source, rows, chosen)
    if block is None:
        return None
    terms = _mixed(np.broadcast_to(columns[chosen], block.shape), _bits(block))
    # zeros count for nothing, so that sparse and dense arrays are alike
    found = np.asarray(np.where(block == 0, np.uint64(0), terms).sum(axis=1, dtype=np.uint64))
    if is_lazy:
        _of_lazy[id(source)] = (weakref.ref(source, partial(dict.pop, _of_lazy, id(source))), found)
    return found


#: of dask arrays, which are immutable and slow to read
_of_lazy: dict[int, tuple[weakref.ref[Any], Hashes]] = {}


def _cached(source: Any) -> Hashes | None:
    found = _of_lazy.get(id(source))
    return found[1] if found is not None and found[0]() is source else None


def _lowest(hashes: Hashes, n: int) -> Ints:
    """Choose positions by their hashes, the lowest first: the same ones in every order of the data."""
    if len(hashes) > n:
        candidates = np.argpartition(hashes, n - 1)[:n]
    else:
        candidates = np.arange(len(hashes))
    return np.asarray(candidates[np.argsort(hashes[candidates], kind="stable")])


def _block(source: Any, rows: Ints, columns: Ints) -> Floats | None:
    if isinstance(source, pd.DataFrame):
        source = source.to_numpy()
    if isinstance(source, np.ndarray):
        return np.asarray(source[np.ix_(rows, columns)], dtype=float)
    if sp.issparse(source):
        if source.format == "csc":  # the fast direction first
            return dense64(source[:, columns][rows])
        return dense64((source if source.format == "csr" else source.tocsr())[rows][:, columns])
    if is_dask(source):
        return dense64(chunked(source)[rows][:, columns])
    return _block_on_disk(source, rows, columns)


def _block_on_disk(source: Any, rows: Ints, columns: Ints) -> Floats | None:
    """Read rows of a backed AnnData, one by one; columns stored together would all have to be read."""
    if getattr(source, "format", "csr") != "csr":
        return None
    parts: Sequence[Any] = [source[int(row) : int(row) + 1] for row in rows]
    return np.concatenate([dense64(part)[:, columns] for part in parts])


def _bits(values: Floats) -> Hashes:
    """Return the bits of numbers rounded to float32, whatever their magnitude."""
    mantissa, exponent = np.frexp(values)
    rounded = np.ldexp(np.rint(np.ldexp(mantissa, MANTISSA_BITS)), exponent - MANTISSA_BITS)
    rounded = np.where(np.isnan(values), np.nan, rounded) + 0.0  # one kind of missing value, and of zero
    return np.ascontiguousarray(rounded).view(np.uint64)
