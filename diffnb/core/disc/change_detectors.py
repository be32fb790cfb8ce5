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
Efron, "Large-scale simultaneous hypothesis testing: the choice of a null hypothesis", J. Am. Stat. Assoc. 99, 2004
(the null is estimated from the bulk of the scores).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import scipy.linalg
from scipy import special, stats

from ..stats.pvalues import floored
from ..typing import Floats

ChangeDetector: TypeAlias = Literal[
    "spectral_angle", "difference_rx", "chronochrome", "projected_chronochrome", "ir_mad"
]

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
    residual = _whitened_residual(before, after)[0]
    return np.asarray(np.linalg.norm(residual, axis=0))


def projected_chronochrome(before: Floats, after: Floats, /) -> Floats:
    """Chronochrome without the part of each residual that a change of brightness of the pixel would explain.

    The regression absorbs a gain of every band, but not one that varies over the field. Such a gain moves a pixel
    along its own predicted spectrum, and bright or unusual pixels most. This direction is projected out, in the
    coordinates in which residuals are white. A dark pixel, whose spectral angle is mostly noise, stays unremarkable.
    """
    residual, predicted = _whitened_residual(before, after)
    squared = np.einsum("ij,ij->j", predicted, predicted)
    along = np.einsum("ij,ij->j", predicted, residual)
    share = np.divide(along, squared, out=np.zeros_like(along), where=squared > 0)
    return np.asarray(np.linalg.norm(residual - share * predicted, axis=0))


def _whitened_residual(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Residuals of the regression of the second image on the first, and what it predicts, where residuals are white."""
    x, y = _centered(before), _centered(after)
    predicted = (y @ x.T / x.shape[1]) @ (_inverse_covariance(x) @ x)
    residual = y - predicted
    rounding = ROUNDING * float(np.square(y).mean())
    whiten = _inverse_root(_centered(residual) @ residual.T / x.shape[1], rounding)
    return whiten @ residual, whiten @ (predicted + after.mean(axis=1, keepdims=True))


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


def bulk_pvalues(score: Floats, /) -> Floats:
    """Chance that a pixel without change scores as high, if most pixels have not changed.

    The logarithm of the score of unchanged pixels is taken as normal. Its mean is the median of all pixels, its
    standard deviation the distance from there to the quantile that lies one standard deviation above.
    """
    known = np.log(np.maximum(score, np.finfo(float).tiny))
    median, above = np.quantile(known, [0.5, special.ndtr(1.0)])
    if above <= median:
        return np.ones_like(known)
    return floored(special.ndtr((median - known) / (above - median)))


def _mahalanobis(values: Floats) -> Floats:
    """Distance of every column from the mean."""
    centered = _centered(values)
    squared = np.einsum("ij,ij->j", centered, _inverse_covariance(centered) @ centered)
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def _centered(image: Floats) -> Floats:
    return np.asarray(image - image.mean(axis=1, keepdims=True))


def _inverse_covariance(centered: Floats) -> Floats:
    root = _inverse_root(centered @ centered.T / centered.shape[1])
    return np.asarray(root @ root)


def _inverse_root(covariance: Floats, rounding: float = 0.0) -> Floats:
    values, vectors = scipy.linalg.eigh(covariance)
    if values[-1] <= 0:
        return np.zeros_like(covariance)
    bounded = np.maximum(values, max(MIN_EIGENVALUE_SHARE * values[-1], rounding))
    return np.asarray((vectors / np.sqrt(bounded)) @ vectors.T)


CHANGE_DETECTORS: dict[ChangeDetector, Callable[[Floats, Floats], Floats]] = {
    "spectral_angle": spectral_angle,
    "difference_rx": difference_rx,
    "chronochrome": chronochrome,
    "projected_chronochrome": projected_chronochrome,
    "ir_mad": ir_mad,
}
