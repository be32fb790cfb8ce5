"""Pairs of images made from one real scene, so that what changed is known."""

from __future__ import annotations

from collections.abc import Sequence

import anndata as ad
import numpy as np
import pandas as pd
from scipy.ndimage import gaussian_filter, gaussian_filter1d

from .._keys import BACKGROUND_GROUP
from ._blocks import require_at_least, require_between
from ._docs import documented_simulation
from ._import import from_image_pair

TARGET = "target"


@documented_simulation
def semi_synthetic_pair(
    cube: np.ndarray,
    target: np.ndarray,
    *,
    appears: bool = True,
    gain: float = 0.05,
    noise: float = 0.005,
    wavelengths: Sequence[float] | np.ndarray | None = None,
    names: Sequence[str] = ("before", "after"),
    random_state: int = 0,
) -> ad.AnnData:
    """Make two images from one real scene, such that known pixels differ between them.

    The second image is the scene as it is. In the first, every target pixel is replaced by a background pixel drawn
    from elsewhere in the scene, so that the targets appear between the two. The illumination of the second image
    differs by a smooth gain over bands and a smooth gain over the field, and both images have independent noise. The
    spectra are real; the change, the illumination and the noise are not.

    Parameters
    ----------
    cube
        A scene of rows × columns × bands.
    target
        Rows × columns, true where a pixel belongs to a target.
    appears
        `False` leaves the targets in both images. This is the null: illumination and noise differ, and no pixel is
        another material than before.
    gain
        Largest relative change of the illumination over bands, and the same over the field; 0.05 is mild, 0.15 hard.
    noise
        Standard deviation of the noise, relative to the standard deviation of each band over the scene; 0.005 is mild,
        0.02 hard.
    wavelengths
        Wavelength of each band; by default bands are numbered from 0.
    names
        Names of the two conditions.
    random_state

    Returns
    -------
    As :func:`diffnb.datasets.from_image_pair`, features are pixels and observations are bands. `var` has `row`, `col`,
    `target`, and one `truth_…` column for each condition, which holds no target where none appears.

    Examples
    --------
    >>> import diffnb as dn
    >>> import numpy as np
    >>> cube = 1 + np.random.default_rng(0).random((12, 10, 7))
    >>> target = np.zeros((12, 10), dtype=bool)
    >>> target[2:4, 3:6] = True
    >>> adata = dn.datasets.semi_synthetic_pair(cube, target)
    >>> adata.shape
    (14, 120)
    >>> adata.var["truth_after"].value_counts().to_dict()
    {'background': 114, 'target': 6}
    """
    require_at_least(0, noise=noise)
    require_between(0, 1, gain=gain)
    scene = _checked_cube(cube)
    where = _checked_target(target, scene.shape[:2])
    rng = np.random.default_rng(random_state)
    bare = _without_target(scene, where, rng)
    light = _illumination(scene.shape, gain, rng)
    spread = noise * scene.std(axis=(0, 1))
    images = [image + spread * rng.normal(size=scene.shape) for image in (bare if appears else scene, scene * light)]
    adata = from_image_pair(*images, wavelengths=wavelengths, names=names)
    adata.var["target"] = where.ravel()
    for name, present in zip(names, (False, appears), strict=True):
        truth = np.where(where.ravel() & present, TARGET, BACKGROUND_GROUP)
        adata.var[f"truth_{name}"] = pd.Categorical(truth, categories=[BACKGROUND_GROUP, TARGET])
    return adata


def _checked_cube(cube: np.ndarray) -> np.ndarray:
    scene = np.asarray(cube, dtype=float)
    if scene.ndim != 3:
        raise ValueError(f"cube has shape {scene.shape}; give a cube of rows × columns × bands.")
    return scene


def _checked_target(target: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    where = np.asarray(target).astype(bool)
    if where.shape != shape:
        raise ValueError(f"target has shape {where.shape}; give one value for each pixel: {shape}.")
    if not 0 < where.sum() <= where.size / 2:
        raise ValueError(
            f"target marks {int(where.sum())} of {where.size} pixels; mark at least one, and at most half of them,"
            " since each is replaced by another background pixel."
        )
    return where


def _without_target(scene: np.ndarray, target: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace every target pixel by a background pixel from elsewhere."""
    background = np.argwhere(~target)
    row, column = background[rng.choice(len(background), int(target.sum()), replace=False)].T
    bare = scene.copy()
    bare[target] = scene[row, column]
    return bare


def _illumination(shape: tuple[int, ...], gain: float, rng: np.random.Generator) -> np.ndarray:
    """Return a smooth factor over bands times a smooth factor over the field, both within 1 ± `gain`."""
    by_band = gaussian_filter1d(rng.normal(size=shape[2]), shape[2] / 10)
    by_place = gaussian_filter(rng.normal(size=shape[:2]), shape[0] / 5)
    over_bands, over_field = (1 + gain * field / np.abs(field).max() for field in (by_band, by_place))
    return np.asarray(over_bands * over_field[..., None])
