"""Moments of expression from counts, observation by observation, from the equations of the CS-CORE paper."""

from __future__ import annotations

import numpy as np


def moments(x, s, n_reweightings):
    """Weighted least squares for x ≈ s μ and for (x − s μ)² − s μ ≈ s² σ, weights from a common dispersion."""
    n, p = x.shape
    dispersion, mu = 0.0, np.zeros(p)
    for _ in range(1 + n_reweightings):
        # variances of x up to a factor μ, which cancels
        v = np.array([[s[i] * (1 + dispersion * s[i] * mu[j]) for j in range(p)] for i in range(n)])
        v[v == 0] = 1.0
        weights_mu = mu
        mu = np.array([np.sum(s * x[:, j] / v[:, j]) / np.sum(s**2 / v[:, j]) for j in range(p)])
        sigma = np.array([_variance(x[:, j], s, mu[j], v[:, j]) for j in range(p)])
        theta = mu**2 / sigma
        used, dispersion = dispersion, 1 / np.median(theta[sigma > 0])
    return mu, sigma, used, weights_mu


def _variance(x, s, mu, v):
    h = v**2
    squares = np.sum(s**2 * (x - s * mu) ** 2 / h) / degrees_of_freedom(s, v, v)
    return (squares - np.sum(s**2 * s * mu / h)) / np.sum(s**4 / h)


def degrees_of_freedom(s, v, w):
    """Expected share of a sum of products of residuals that is left when both means are estimated."""
    return 1 - np.sum(s**2 / v * s**2 / w) / (np.sum(s**2 / v) * np.sum(s**2 / w))


def correlations(x, s, n_reweightings):
    """σ_jk / √(σ_jj σ_kk), clipped; zero with features whose variance is not positive."""
    mu, sigma, dispersion, weights_mu = moments(x, s, n_reweightings)
    p = x.shape[1]
    rho = np.eye(p)
    for j in range(p):
        for k in range(p):
            if j == k or sigma[j] <= 0 or sigma[k] <= 0:
                continue
            v, w = (s * (1 + dispersion * s * weights_mu[i]) for i in (j, k))
            v, w = np.where(v == 0, 1.0, v), np.where(w == 0, 1.0, w)
            products = (x[:, j] - s * mu[j]) * (x[:, k] - s * mu[k])
            covariance = np.sum(s**2 * products / (v * w)) / np.sum(s**4 / (v * w))
            covariance /= degrees_of_freedom(s, v, w)
            rho[j, k] = np.clip(covariance / np.sqrt(sigma[j] * sigma[k]), -1, 1)
    return rho
