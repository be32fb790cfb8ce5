"""Textbook detectors of change between two images of one scene: every pixel is compared with itself.

Matrices are bands × pixels, and the bands of both correspond row by row. Unlike diffusion maps and DiSC, which compare
how pixels relate to each other, these compare what a pixel looks like, and are the right tool when that is the
question.

Schaum & Stocker, "Hyperspectral change detection and supervised matched filtering based on covariance equalization",
Proc. SPIE 5425, 2004 (chronochrome).
Nielsen, "The regularized iteratively reweighted MAD method for change detection in multi- and hyperspectral data",
IEEE Trans. Image Process. 16, 2007 (IR-MAD).
Reed & Yu, "Adaptive multiple-band CFAR detection of an optical pattern with unknown spectral distribution", IEEE Trans.
Acoust. Speech Signal Process. 38, 1990 (RX).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import scipy.linalg
from scipy import stats

from ..typing import Floats

ChangeDetector: TypeAlias = Literal["spectral_angle", "difference_rx", "chronochrome", "ir_mad"]

#: eigenvalues of a covariance below this share of the largest are noise of collinear bands
MIN_EIGENVALUE_SHARE = 1e-8
#: a residual variance below this share of the image's is rounding
ROUNDING = 1e-18
MAX_REWEIGHTINGS = 50
#: canonical correlations that change by less than this have converged
CORRELATION_TOLERANCE = 1e-4


def spectral_angle(before: Floats, after: Floats, /) -> Floats:
    """Angle between both spectra of every pixel, in radians: blind to brightness."""
    lengths = np.linalg.norm(before, axis=0) * np.linalg.norm(after, axis=0)
    products = np.einsum("ij,ij->j", before, after)
    cosines = np.divide(products, lengths, out=np.ones_like(products), where=lengths > 0)
    return np.asarray(np.arccos(np.clip(cosines, -1.0, 1.0)))


def difference_rx(before: Floats, after: Floats, /) -> Floats:
    """Mahalanobis distance of the difference of every pixel from the average difference (RX)."""
    return _mahalanobis(after - before)


def chronochrome(before: Floats, after: Floats, /) -> Floats:
    """Mahalanobis distance of every pixel from what a linear regression on the first image predicts.

    The regression over all pixels absorbs what changed everywhere, such as illumination and calibration.
    """
    x, y = _centered(before), _centered(after)
    inverse = _inverse_covariance(x)
    predicted = (y @ x.T / x.shape[1]) @ (inverse @ x)
    return _mahalanobis(y - predicted, rounding=ROUNDING * float(np.square(y).mean()))


def ir_mad(before: Floats, after: Floats, /) -> Floats:
    """Sum the standardised differences of canonical variates (iteratively reweighted alteration detection, IR-MAD).

    Canonical variates of both images are subtracted; pixels that differ most lose weight in the next round, so that
    what did not change defines how the images correspond. The result is the root of a χ² with as many degrees of
    freedom as bands.
    """
    n_bands, n_pixels = before.shape
    weights: Floats = np.ones(n_pixels)
    correlations: Floats = np.zeros(n_bands)
    squared: Floats = np.zeros(n_pixels)
    for _ in range(MAX_REWEIGHTINGS):
        previous = correlations
        squared, correlations = _alterations(before, after, weights)
        if np.abs(correlations - previous).max() < CORRELATION_TOLERANCE:
            break
        weights = np.maximum(stats.chi2.sf(squared, n_bands), np.finfo(float).tiny)
    return np.asarray(np.sqrt(squared))


def _alterations(before: Floats, after: Floats, weights: Floats) -> tuple[Floats, Floats]:
    share = weights / weights.sum()
    x, y = (image - (image @ share)[:, None] for image in (before, after))
    whiten_x, whiten_y = (_inverse_root((z * share) @ z.T) for z in (x, y))
    left, correlations, right = scipy.linalg.svd(whiten_x @ ((x * share) @ y.T) @ whiten_y)
    correlations = np.clip(correlations, 0.0, 1.0)
    differences = left.T @ (whiten_x @ x) - right @ (whiten_y @ y)
    # the variance of a difference is 2(1 − ρ); that of variates which agree but for rounding is not told from it
    variances = np.maximum(2 * (1 - correlations), MIN_EIGENVALUE_SHARE)
    return np.asarray((differences**2 / variances[:, None]).sum(axis=0)), correlations


def _mahalanobis(values: Floats, rounding: float = 0.0) -> Floats:
    """Distance of every column from the mean; variances below `rounding` count as that much."""
    centered = _centered(values)
    squared = np.einsum("ij,ij->j", centered, _inverse_covariance(centered, rounding) @ centered)
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def _centered(image: Floats) -> Floats:
    return np.asarray(image - image.mean(axis=1, keepdims=True))


def _inverse_covariance(centered: Floats, rounding: float = 0.0) -> Floats:
    root = _inverse_root(centered @ centered.T / centered.shape[1], rounding)
    return np.asarray(root @ root)


def _inverse_root(covariance: Floats, rounding: float = 0.0) -> Floats:
    values, vectors = scipy.linalg.eigh(covariance)
    if values[-1] <= 0:
        return np.zeros_like(covariance)
    floored = np.maximum(values, max(MIN_EIGENVALUE_SHARE * values[-1], rounding))
    return np.asarray((vectors / np.sqrt(floored)) @ vectors.T)


CHANGE_DETECTORS: dict[ChangeDetector, Callable[[Floats, Floats], Floats]] = {
    "spectral_angle": spectral_angle,
    "difference_rx": difference_rx,
    "chronochrome": chronochrome,
    "ir_mad": ir_mad,
}
