"""Seeded eigen- and singular solvers with a fixed sign rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ..runtime.threads import one_scipy_blas_thread
from ..typing import Floats, Ints
from .walk import Walk

#: below this many nodes a direct solver is as fast as an iterative one, and indifferent to equal eigenvalues
MAX_DIRECT_NODES = 500
#: a column whose part outside the others is below this share repeats them
REPEATED_TOLERANCE = 1e-12


def fix_signs(vectors: Floats, /) -> Floats:
    """Turn every column so that its largest entry in absolute value is positive."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)


def start_vector(size: int, seed: int, /) -> Floats:
    """Return the start of an iterative solver: the same for the same size and seed."""
    return np.random.default_rng([seed, size]).uniform(0.5, 1.5, size)


def leading_eigenpairs(symmetric: Any, count: int, /, *, seed: int = 0) -> tuple[Floats, Floats]:
    """Leading eigenvalues, in falling order, and eigenvectors of a symmetric matrix."""
    p = symmetric.shape[0]
    if p <= MAX_DIRECT_NODES or count >= p // 3:
        dense = symmetric.toarray() if sp.issparse(symmetric) else np.asarray(symmetric)
        values, vectors = scipy.linalg.eigh(dense, subset_by_index=[p - count, p - 1], check_finite=False)
    else:
        values, vectors = _lanczos(symmetric, count, seed)
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]


def _lanczos(operator: Any, count: int, seed: int) -> tuple[Floats, Floats]:
    p = operator.shape[0]
    start = start_vector(p, seed)
    # a wider basis than ARPACK's default: bulk eigenvalues lie close together and stall a narrow one
    width = min(p - 1, max(3 * count, count + 30))
    try:
        with one_scipy_blas_thread():
            values, vectors = eigsh(operator, k=count, which="LA", v0=start, ncv=width, tol=1e-12, maxiter=50 * p)
    except ArpackNoConvergence as stalled:  # pragma: no cover - only for spectra that are flat to rounding
        raise RuntimeError(
            f"the eigensolver found only {len(stalled.eigenvalues)} of {count} eigenvectors;"
            " ask for fewer (n_eigenvectors, n_components) or another n_neighbors."
        ) from stalled
    return np.asarray(values), np.asarray(vectors)


def walk_eigenvectors(walk: Walk, count: int, /, *, seed: int = 0) -> tuple[Floats, Floats]:
    """Leading eigenvalues and right eigenvectors of P, of unit length, the trivial constant one first."""
    values, vectors = _eigenpairs_of_walk(walk, count, seed)
    vectors = vectors / walk.root[:, None]
    vectors /= np.linalg.norm(vectors, axis=0)
    return values, fix_signs(vectors)


def _eigenpairs_of_walk(walk: Walk, count: int, seed: int) -> tuple[Floats, Floats]:
    """Leading eigenpairs of the symmetric twin of P; those of a graph in several pieces are known in part.

    Each piece has the eigenvalue 1, and Lanczos, which starts from one vector, may or may not find it as often as
    there are pieces, as rounding will have it. So they are written down, and only the rest is searched for.
    """
    p = walk.n_features
    if not sp.issparse(walk.symmetric) or p <= MAX_DIRECT_NODES or count >= p // 3:
        return leading_eigenpairs(walk.symmetric, count, seed=seed)
    n_pieces, piece = connected_components(walk.symmetric, directed=False)
    if n_pieces == 1:
        return leading_eigenpairs(walk.symmetric, count, seed=seed)
    known = _of_pieces(walk.root, piece, min(n_pieces, count))
    if n_pieces >= count:
        return np.ones(count), known

    def without_known(v: Floats) -> Floats:
        return np.asarray(walk.symmetric @ v - known @ (known.T @ v))

    operator = LinearOperator((p, p), matvec=lambda v: without_known(v.ravel()), matmat=without_known, dtype=np.float64)
    values, vectors = _lanczos(operator, count - n_pieces, seed)
    order = np.argsort(values)[::-1]
    return np.concatenate([np.ones(n_pieces), values[order]]), np.hstack([known, vectors[:, order]])


def _of_pieces(root: Floats, piece: Ints, count: int) -> Floats:
    """Orthonormal eigenvectors to the eigenvalue 1: that of the whole graph, then of its largest pieces."""
    largest = np.argsort(-np.bincount(piece), kind="stable")[: count - 1]
    columns = np.column_stack([root, *(np.where(piece == name, root, 0.0) for name in largest)])
    return fix_signs(np.linalg.qr(columns)[0])


def complement(spans: Sequence[Floats], /) -> Callable[[Floats], Floats]:
    """Return v ↦ v − U(U⁺v), the projection off the span of all columns, never formed as a matrix.

    Conditions share at least the constant eigenvector; columns that repeat others are left out, so that the
    projection stays one.
    """
    basis = _orthonormal(_constant_once(np.hstack(spans)))

    def project(v: Floats) -> Floats:
        return np.asarray(v - basis @ (basis.T @ v))

    return project


def _constant_once(columns: Floats) -> Floats:
    constant = np.ptp(columns, axis=0) <= 1e-12 * np.abs(columns).max(axis=0)
    repeated = constant & (np.cumsum(constant) > 1)
    return columns[:, ~repeated]


def _orthonormal(columns: Floats) -> Floats:
    basis, triangle = np.linalg.qr(columns)
    diagonal = np.abs(np.diag(triangle))
    if diagonal.min() > REPEATED_TOLERANCE * diagonal.max():
        return basis
    # some column repeats others: the slower QR that sorts such columns to the end
    basis, triangle, _ = scipy.linalg.qr(columns, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(triangle))
    return np.asarray(basis[:, diagonal > REPEATED_TOLERANCE * diagonal[0]])


def right_singular_pairs(
    walk: Walk, project: Callable[[Floats], Floats], count: int, /, *, seed: int = 0
) -> tuple[Floats, Floats]:
    """Leading singular values and right singular vectors of P Q, through products only."""
    p = walk.n_features

    def normal(v: Floats) -> Floats:
        return project(walk.step_back(walk.step(project(v))))

    if p <= MAX_DIRECT_NODES or count >= p // 3:
        whole = normal(np.eye(p))
        values, vectors = leading_eigenpairs((whole + whole.T) / 2, count, seed=seed)
    else:
        operator = LinearOperator((p, p), matvec=lambda v: normal(v.ravel()), matmat=normal, dtype=np.float64)
        values, vectors = _lanczos(operator, count, seed)
        order = np.argsort(values)[::-1]
        vectors = vectors[:, order]
    # ‖P Q v‖ itself: the root of an eigenvalue would lose half the digits of a small σ
    sigma = np.linalg.norm(walk.step(project(vectors)), axis=0)
    order = np.argsort(-sigma, kind="stable")
    return sigma[order], fix_signs(vectors[:, order])
