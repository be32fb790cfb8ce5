"""Import of image cubes and parcel time series into AnnData."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anndata as ad
import numpy as np
import pandas as pd

from .._anndata.numbers import real_numbers
from ._blocks import numbered_names


def from_image_pair(
    before: np.ndarray,
    after: np.ndarray,
    *,
    wavelengths: Sequence[float] | np.ndarray | None = None,
    names: Sequence[str] = ("before", "after"),
    mask: np.ndarray | None = None,
) -> ad.AnnData:
    """Convert two images of one scene into conditions; features are pixels and observations are bands.

    Parameters
    ----------
    before, after
        Cubes of rows × columns × bands, of the same shape and registered to one another. Integers are converted
        to float32.
    wavelengths
        Wavelength of each band; by default bands are numbered from 0.
    names
        Names of the two conditions.
    mask
        Rows × columns, true where a pixel is kept; all pixels by default.

    Returns
    -------
    `obs` has `condition` and `wavelength` (or `band`); `var` has `row` and `col`. `uns["features"]`
    records that features are pixels and the `shape` of the image, in which figures leave masked pixels blank.

    Examples
    --------
    >>> import diffnb as dn
    >>> import numpy as np
    >>> cube = np.random.default_rng(0).random((4, 5, 7))
    >>> adata = dn.datasets.from_image_pair(cube, 2 * cube, names=["aug", "oct"])
    >>> adata.shape
    (14, 20)
    """
    cubes = {
        name: np.asarray(real_numbers(_array(cube), name)) for name, cube in (("before", before), ("after", after))
    }
    for argument, cube in cubes.items():
        if cube.ndim != 3:
            raise ValueError(
                f"{argument} has shape {cube.shape}; give a cube of rows × columns × bands. "
                "A single band needs a last axis of length 1."
            )
    if cubes["before"].shape != cubes["after"].shape:
        raise ValueError(
            f"before has shape {cubes['before'].shape} and after {cubes['after'].shape}; "
            "register the images and cut them to the same rows, columns and bands."
        )
    if len(names) != 2 or names[0] == names[1] or isinstance(names, str):
        raise ValueError(f"names={names!r} does not name two conditions; give two different names.")
    *shape, n_bands = cubes["before"].shape
    kept = _pixel_mask(mask, tuple(shape))
    row, col = np.nonzero(kept)
    matrices = [_bands_by_pixels(argument, cube, kept) for argument, cube in cubes.items()]

    obs = pd.DataFrame(
        {"condition": pd.Categorical(np.repeat(list(names), n_bands), categories=list(names))},
        index=numbered_names(list(names), [n_bands, n_bands]),
    )
    if wavelengths is None:
        obs["band"] = np.tile(np.arange(n_bands), 2)
    else:
        obs["wavelength"] = np.tile(_of_length("wavelengths", wavelengths, n_bands, "band"), 2).astype(float)
    digits = len(str(max(shape) - 1))
    index = [f"pixel_{r:0{digits}d}_{c:0{digits}d}" for r, c in zip(row, col, strict=True)]
    var = pd.DataFrame({"row": row, "col": col}, index=index)
    features = {"kind": "pixels", "shape": np.array(shape)}
    return ad.AnnData(np.concatenate(matrices), obs=obs, var=var, uns={"features": features})


def from_parcels(
    series: np.ndarray | Sequence[Any],
    *,
    conditions: Sequence[Any] | np.ndarray,
    subjects: Sequence[Any] | np.ndarray | None = None,
    networks: Sequence[str] | np.ndarray | None = None,
    coordinates: np.ndarray | pd.DataFrame | None = None,
    labels: Sequence[str] | np.ndarray | None = None,
    masker: Any = None,
    t_r: float = 1.0,
) -> ad.AnnData:
    """Convert time series of brain parcels into conditions; features are parcels, observations time points.

    Parameters
    ----------
    series
        A list of runs, each a matrix of time × parcels, or with `masker` anything that the masker reads, such as
        the path of a NIfTI file. A single matrix is one run.
    conditions
        For a list of runs: one entry per run, either the name of its condition or one name for each of its time
        points. For a single matrix: one name for each time point.
    subjects
        Subjects, in the same form as `conditions`.
    networks
        Network of each parcel.
    coordinates
        Parcels × 3: x, y and z of each parcel, in millimetres of MNI space.
    labels
        Unique name of each parcel.
    masker
        An object with `fit_transform` that converts an image into time × parcels, such as
        :class:`nilearn.maskers.NiftiLabelsMasker`.
    t_r
        Seconds between time points; with 1, `obs["time"]` is the index of the time point.

    Returns
    -------
    `obs` has `condition`, `run` and `time` within the run, and `subject` where given; `var` has `network` and
    `x`, `y`, `z` where given. `uns["features"]` records that features are parcels.

    Examples
    --------
    >>> import diffnb as dn
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> runs = [rng.standard_normal((30, 6)) for _ in range(4)]
    >>> adata = dn.datasets.from_parcels(
    ...     runs, conditions=["rest", "task", "rest", "task"], subjects=["s1", "s1", "s2", "s2"]
    ... )
    >>> adata.obs.groupby(["subject", "condition"], observed=True).size().tolist()
    [30, 30, 30, 30]
    """
    if isinstance(series, np.ndarray) and series.ndim == 2:
        series, conditions = [series], [conditions]
        subjects = None if subjects is None else [subjects]
    runs = _read_runs(series, masker)
    lengths = [len(run) for run in runs]
    n_parcels = runs[0].shape[1]

    obs = pd.DataFrame(index=numbered_names([f"run{i + 1}" for i in range(len(runs))], lengths))
    obs["condition"] = _by_time("conditions", conditions, lengths)
    if subjects is not None:
        obs["subject"] = _by_time("subjects", subjects, lengths)
    obs["run"] = np.repeat(np.arange(1, len(runs) + 1), lengths)
    obs["time"] = np.concatenate([t_r * np.arange(length) for length in lengths])

    names = numbered_names(["parcel"], [n_parcels])
    if labels is not None:
        names = [str(name) for name in _of_length("labels", labels, n_parcels, "parcel")]
        if len(set(names)) < n_parcels:
            repeated = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"labels repeats {repeated!r}; names of parcels must be unique.")
    var = pd.DataFrame(index=names)
    if networks is not None:
        var["network"] = _categorical(_of_length("networks", networks, n_parcels, "parcel"))
    if coordinates is not None:
        where = np.asarray(coordinates, dtype=float)
        if where.shape != (n_parcels, 3):
            raise ValueError(f"coordinates has shape {where.shape}; give x, y, z for each: ({n_parcels}, 3).")
        var[["x", "y", "z"]] = where
    return ad.AnnData(np.concatenate(runs), obs=obs, var=var, uns={"features": {"kind": "parcels"}})


def _pixel_mask(mask: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    """Pixels to keep, as booleans."""
    if mask is None:
        return np.ones(shape, dtype=bool)
    kept = np.asarray(mask)
    if kept.shape != shape:
        raise ValueError(f"mask has shape {kept.shape}; give one value for each pixel: {shape}.")
    if not kept.any():
        raise ValueError("mask keeps no pixel; it must be true where a pixel is kept.")
    return kept.astype(bool)


def _bands_by_pixels(argument: str, cube: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Bands × kept pixels, as floats."""
    matrix = np.asarray(cube[kept].T)
    if not np.issubdtype(matrix.dtype, np.floating):
        matrix = matrix.astype(np.float32)
    if not np.isfinite(matrix).all():
        raise ValueError(
            f"{argument} has {int((~np.isfinite(matrix)).any(axis=0).sum())} kept pixels that are not finite "
            "in every band; leave them out with mask=np.isfinite(cube).all(axis=2)."
        )
    return matrix


def _read_runs(series: Sequence[Any] | np.ndarray, masker: Any) -> list[np.ndarray]:
    """Every run as a matrix of floats, time × parcels, all with the same parcels."""
    if isinstance(series, str | Path):
        raise ValueError(f"series={series!r} is a single path; give a list of runs, [{str(series)!r}].")
    if len(series) == 0:
        raise ValueError("series is empty; give at least one run of time × parcels.")
    _check_masker(masker)
    runs: list[np.ndarray] = []
    for i, item in enumerate(series):
        if isinstance(item, str | Path) and masker is None:
            raise ValueError(
                f"series[{i}]={item!r} is a path and there is no masker to read it; "
                "give masker=nilearn.maskers.NiftiLabelsMasker(labels_img=...), or arrays of time × parcels."
            )
        run = np.asarray(real_numbers(_array(item if masker is None else masker.fit_transform(item)), f"series[{i}]"))
        if run.ndim != 2:
            raise ValueError(f"series[{i}] has shape {run.shape}; give a matrix of time × parcels.")
        if run.shape[1] != (runs or [run])[0].shape[1]:
            raise ValueError(
                f"series[{i}] has {run.shape[1]} parcels and series[0] has {runs[0].shape[1]}; "
                "all runs must have the same parcellation, as time × parcels."
            )
        _check_run(run, f"series[{i}]")
        runs.append(run if np.issubdtype(run.dtype, np.floating) else run.astype(np.float32))
    return runs


def _array(values: Any) -> Any:
    """Return an array; masked ones stay so, since what is masked must not be used."""
    return values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)


def _check_run(run: np.ndarray, shown: str) -> None:
    """Refuse a run without values; single parcels without values are left to the tools, which name them."""
    if 0 in run.shape:
        raise ValueError(f"{shown} has shape {run.shape}: it has no time points or no parcels. Leave the run out.")
    if not np.isfinite(run).any():
        raise ValueError(f"{shown} has no finite value at all; leave the run out.")


def _check_masker(masker: Any) -> None:
    """Refuse an object that cannot read images, before any is read."""
    if isinstance(masker, type):
        raise TypeError(f"masker is the class {masker.__name__}; give an instance, {masker.__name__}(...).")
    if masker is not None and not hasattr(masker, "fit_transform"):
        raise TypeError(
            f"masker is of type {type(masker).__name__}; give an object with fit_transform, such as "
            "nilearn.maskers.NiftiLabelsMasker(labels_img=...)."
        )


def _by_time(argument: str, values: Sequence[Any] | np.ndarray, lengths: list[int]) -> pd.Categorical:
    """One label for each time point from one entry per run, a label or a sequence of labels."""
    if isinstance(values, str) or len(values) != len(lengths):
        got = repr(values) if isinstance(values, str) else f"{len(values)} entries"
        raise ValueError(f"{argument} has {got} for {len(lengths)} runs; give one entry for each run.")
    labels: list[str] = []
    for i, (value, length) in enumerate(zip(values, lengths, strict=True)):
        if np.ndim(value) == 0:
            labels += [str(value)] * length
            continue
        if len(value) != length:
            raise ValueError(
                f"{argument}[{i}] has {len(value)} labels for {length} time points; "
                "give one for each time point, or a single one for the whole run."
            )
        labels += [str(label) for label in value]
    return _categorical(labels)


def _of_length(argument: str, values: Sequence[Any] | np.ndarray, count: int, unit: str) -> np.ndarray:
    """Check that there are as many values as units."""
    found = np.asarray(values)
    if found.shape != (count,):
        raise ValueError(f"{argument} has shape {found.shape}; give one value for each {unit}: ({count},).")
    return found


def _categorical(labels: Sequence[Any] | np.ndarray) -> pd.Categorical:
    """Make a categorical whose categories come in order of appearance."""
    strings = np.array([str(label) for label in labels], dtype=object)
    return pd.Categorical(strings, categories=list(dict.fromkeys(strings)))
