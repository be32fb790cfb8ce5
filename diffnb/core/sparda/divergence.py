"""Divergences between two samples on a line, and their derivatives by every observation.

A divergence takes rows of sorted samples, one row per projection, and returns a number per row. Its slopes are the
derivatives of that number by every observation: all that an ascent over directions needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np

from ..typing import Floats, Ints
from .coupling import Coupling, average_over_ties

DivergenceName: TypeAlias = Literal["wasserstein2", "wasserstein1", "kolmogorov"]


class Divergence(Protocol):
    """What the ascent needs of a divergence; `u` and `v` are rows of sorted samples."""

    #: D(cu, cv) = c^degree D(u, v)
    degree: int

    def values(self, u: Floats, v: Floats, coupling: Coupling, /) -> Floats:
        """Return one number per row."""

    def slopes(self, u: Floats, v: Floats, coupling: Coupling, /) -> tuple[Floats, Floats]:
        """Return the derivatives by every entry of `u` and of `v`."""


class Wasserstein2:
    """W₂², the mean squared distance between equal quantiles (Eq. 2 of the paper)."""

    degree = 2

    def values(self, u: Floats, v: Floats, coupling: Coupling, /) -> Floats:
        """Return one number per row."""
        differences = coupling.differences(u, v)
        return np.asarray((differences * differences) @ coupling.weight)

    def slopes(self, u: Floats, v: Floats, coupling: Coupling, /) -> tuple[Floats, Floats]:
        """Return the derivatives by every entry of `u` and of `v`."""
        a, b = coupling.segment_sums(2 * coupling.weight * coupling.differences(u, v))
        return a, -b


class Wasserstein1:
    """W₁, the mean distance between equal quantiles."""

    degree = 1

    def values(self, u: Floats, v: Floats, coupling: Coupling, /) -> Floats:
        """Return one number per row."""
        return np.asarray(np.abs(coupling.differences(u, v)) @ coupling.weight)

    def slopes(self, u: Floats, v: Floats, coupling: Coupling, /) -> tuple[Floats, Floats]:
        """Return the derivatives by every entry of `u` and of `v`."""
        a, b = coupling.segment_sums(coupling.weight * np.sign(coupling.differences(u, v)))
        return a, -b


class Kolmogorov:
    """The largest distance between the two cumulative distribution functions.

    It is a step function of the direction, so its slopes are those of a smoothed version: observations are
    weighted by a Gaussian window around the place of the largest distance.
    """

    degree = 0

    def values(self, u: Floats, v: Floats, coupling: Coupling, /) -> Floats:
        """Return one number per row."""
        return np.abs(self._largest(u, v)[1])

    def slopes(self, u: Floats, v: Floats, coupling: Coupling, /) -> tuple[Floats, Floats]:
        """Return the derivatives by every entry of `u` and of `v`."""
        place, signed = self._largest(u, v)
        pooled = np.concatenate([u, v], axis=1)
        width = pooled.std(axis=1, keepdims=True) * pooled.shape[1] ** -0.2
        width = np.where(width > 0, width, 1.0)
        sign = np.sign(signed)[:, None]
        a, b = (np.exp(-0.5 * ((s - place[:, None]) / width) ** 2) / (width * s.shape[1]) for s in (u, v))
        a, b = -sign * a, sign * b
        # a common shift of both samples changes nothing
        surplus = (a.sum(axis=1) + b.sum(axis=1))[:, None] / pooled.shape[1]
        return a - surplus, b - surplus

    @staticmethod
    def _largest(u: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Return where F_u − F_v is largest in absolute value, and its value there."""
        pooled = np.concatenate([u, v], axis=1)
        order = np.argsort(pooled, axis=1, kind="stable")
        ordered = np.take_along_axis(pooled, order, axis=1)
        gap = np.cumsum(np.where(order < u.shape[1], 1 / u.shape[1], -1 / v.shape[1]), axis=1)
        # of equal values only the last one has the value of the step function
        gap[:, :-1][ordered[:, :-1] == ordered[:, 1:]] = 0.0
        where = np.abs(gap).argmax(axis=1)[:, None]
        return np.take_along_axis(ordered, where, axis=1)[:, 0], np.take_along_axis(gap, where, axis=1)[:, 0]


DIVERGENCES: dict[str, Divergence] = {
    "wasserstein2": Wasserstein2(),
    "wasserstein1": Wasserstein1(),
    "kolmogorov": Kolmogorov(),
}


@dataclass(frozen=True, slots=True)
class EvaluatedDivergence:
    """Sorted rows of projections with their order and their divergence."""

    values: Floats
    u: Floats
    v: Floats
    u_order: Ints
    v_order: Ints

    def slopes(self, rows: Ints, divergence: Divergence, coupling: Coupling, /) -> tuple[Floats, Floats]:
        """Return the derivatives of some rows, in the order of the observations."""
        u, v = self.u[rows], self.v[rows]
        a, b = divergence.slopes(u, v, coupling)
        a, b = average_over_ties(u, a), average_over_ties(v, b)
        unsorted_a, unsorted_b = np.empty_like(a), np.empty_like(b)
        np.put_along_axis(unsorted_a, self.u_order[rows], a, axis=1)
        np.put_along_axis(unsorted_b, self.v_order[rows], b, axis=1)
        return unsorted_a, unsorted_b


def evaluate_divergence(u: Floats, v: Floats, divergence: Divergence, coupling: Coupling, /) -> EvaluatedDivergence:
    """Sort every row and compute its divergence."""
    u_order, v_order = np.argsort(u, axis=1), np.argsort(v, axis=1)
    u, v = np.take_along_axis(u, u_order, axis=1), np.take_along_axis(v, v_order, axis=1)
    return EvaluatedDivergence(divergence.values(u, v, coupling), u, v, u_order, v_order)
