"""Covariates taken out by textbook formulas: ordinary least squares, one feature at a time."""

from __future__ import annotations

import numpy as np


def regress(x, z):
    """Intercept at z = 0, slopes and residuals of one feature."""
    design = np.column_stack([np.ones(len(z)), z])
    coefficients = np.linalg.inv(design.T @ design) @ design.T @ x
    return coefficients[0], coefficients[1:], x - design @ coefficients


def centered_together(covariates):
    """Covariates of every condition minus their mean over all of them."""
    mean = np.concatenate(covariates).mean(axis=0)
    return [z - mean for z in covariates]


def residuals(matrices, covariates):
    """Residuals of every condition around its adjusted mean, as `exchangeable=False` gives them."""
    found = []
    for x, z in zip(matrices, centered_together(covariates), strict=True):
        n, q = z.shape
        columns = []
        for feature in x.T:
            intercept, _, rest = regress(feature, z)
            columns.append(intercept + rest * np.sqrt((n - 1) / (n - 1 - q)))
        found.append(np.column_stack(columns))
    return found


def adjusted_mean(x, z):
    """Intercept of a regression, its variance by HC2, and the degrees of freedom of Bell & McCaffrey."""
    design = np.column_stack([np.ones(len(z)), z])
    inverse = np.linalg.inv(design.T @ design)
    hat = design @ inverse @ design.T
    weights = (inverse @ design.T)[0]
    rest = x - hat @ x
    squares = weights**2 / (1 - np.diag(hat))
    annihilator = np.eye(len(z)) - hat
    form = annihilator @ np.diag(squares) @ annihilator
    df = np.trace(form) ** 2 / np.trace(form @ form)
    return weights @ x, squares @ rest**2, df


def adjusted_cdf_gap(x, y, covariates, at):
    """Coefficient of the condition in a regression of 1{value ≤ at} on condition and covariates."""
    values = np.concatenate([x, y])
    condition = np.repeat([1.0, 0.0], [len(x), len(y)])
    design = np.column_stack([np.ones(len(values)), condition, covariates])
    return np.linalg.lstsq(design, (values <= at).astype(float), rcond=None)[0][1]
