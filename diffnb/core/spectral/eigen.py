"""Seeded eigen- and singular solvers with a fixed sign rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ..runtime.seeds import generator
from ..runtime.threads import one_scipy_blas_thread
from ..typing import Floats, Ints
from .walk import Walk, multiply_symmetric

#: up to this many nodes a direct solver is as fast as an iterative one, and insensitive to equal eigenvalues
MAX_DIRECT_NODES = 500
#: a column whose component orthogonal to the others is below this share is linearly dependent on them
REPEATED_TOLERANCE = 1e-12


def fix_signs(vectors: Floats, /) -> Floats:
    """Flip the sign of columns so that their largest entry in absolute value is positive."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)


def start_vector(size: int, seed: int, /) -> Floats:
    """Return the start of an iterative solver: the same for the same size and seed."""
    return generator(seed, "eigensolver", size).uniform(0.5, 1.5, size)


def leading_eigenpairs(symmetric: Any, count: int, /, *, seed: int = 0) -> tuple[Floats, Floats]:
    """Leading eigenvalues, in descending order, and eigenvectors of a symmetric matrix."""
    p = symmetric.shape[0]
    if p <= MAX_DIRECT_NODES or count >= p // 3:
        dense = symmetric.toarray() if sp.issparse(symmetric) else np.asarray(symmetric)
        values, vectors = scipy.linalg.eigh(dense, subset_by_index=[p - count, p - 1], check_finite=False)
    else:
        values, vectors = _lanczos(_operator(p, lambda v: multiply_symmetric(symmetric, v)), count, seed)
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]


def _operator(size: int, product: Callable[[Floats], Floats]) -> LinearOperator:
    return LinearOperator((size, size), matvec=lambda v: product(v.ravel()), matmat=product, dtype=np.float64)


def _lanczos(operator: Any, count: int, seed: int) -> tuple[Floats, Floats]:
    p = operator.shape[0]
    start = start_vector(p, seed)
    # a larger basis than ARPACK's default: it converges slowly among eigenvalues that lie close together
    width = min(p - 1, max(3 * count, count + 30))
    try:
        with one_scipy_blas_thread():
            values, vectors = eigsh(operator, k=count, which="LA", v0=start, ncv=width, tol=1e-12, maxiter=50 * p)
    except ArpackNoConvergence as stalled:  # pragma: no cover - only if eigenvalues are equal up to rounding
        raise RuntimeError(
            f"the eigensolver found only {len(stalled.eigenvalues)} of {count} eigenvectors;"
            " reduce n_eigenvectors or n_components, or change n_neighbors."
        ) from stalled
    return np.asarray(values), np.asarray(vectors)


def walk_eigenvectors(walk: Walk, count: int, /, *, seed: int = 0) -> tuple[Floats, Floats]:
    """Leading eigenvalues and right eigenvectors of P, of unit length, the trivial constant one first."""
    values, vectors = _eigenpairs_of_walk(walk, count, seed)
    vectors = vectors / walk.root[:, None]
    vectors /= np.linalg.norm(vectors, axis=0)
    return values, fix_signs(vectors)


def _eigenpairs_of_walk(walk: Walk, count: int, seed: int) -> tuple[Floats, Floats]:
    """Leading eigenpairs of the symmetric conjugate of P; some of a graph with several components are known.

    Each connected component has the eigenvalue 1, and it depends on rounding whether Lanczos, which starts from one
    vector, finds all of them. So these eigenvectors are constructed, and only the others are computed.
    """
    p = walk.n_features
    if not sp.issparse(walk.symmetric) or p <= MAX_DIRECT_NODES or count >= p // 3:
        return leading_eigenpairs(walk.symmetric, count, seed=seed)
    n_components, component = connected_components(walk.symmetric, directed=False)
    if n_components == 1:
        return leading_eigenpairs(walk.symmetric, count, seed=seed)
    known = _component_eigenvectors(walk.root, component, min(n_components, count))
    if n_components >= count:
        return np.ones(count), known

    def without_known(v: Floats) -> Floats:
        return np.asarray(walk.symmetric @ v - known @ (known.T @ v))

    values, vectors = _lanczos(_operator(p, without_known), count - n_components, seed)
    order = np.argsort(values)[::-1]
    return np.concatenate([np.ones(n_components), values[order]]), np.hstack([known, vectors[:, order]])


def _component_eigenvectors(root: Floats, component: Ints, count: int) -> Floats:
    """Orthonormal eigenvectors to the eigenvalue 1: that of the whole graph, then of its largest components."""
    largest = np.argsort(-np.bincount(component), kind="stable")[: count - 1]
    columns = np.column_stack([root, *(np.where(component == label, root, 0.0) for label in largest)])
    return fix_signs(np.linalg.qr(columns)[0])


def complement(spans: Sequence[Floats], /) -> Callable[[Floats], Floats]:
    """Return v ↦ v − U(U⁺v), the projection onto the complement of all columns, never formed as a matrix.

    Conditions share at least the constant eigenvector; linearly dependent columns are dropped, so that the result is
    an orthogonal projection.
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
    # linearly dependent columns: a slower QR that sorts them to the end
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
        values, vectors = _lanczos(_operator(p, normal), count, seed)
        order = np.argsort(values)[::-1]
        vectors = vectors[:, order]
    # ‖P Q v‖ itself: the root of an eigenvalue would lose half the digits of a small σ
    sigma = np.linalg.norm(walk.step(project(vectors)), axis=0)
    order = np.argsort(-sigma, kind="stable")
    return sigma[order], fix_signs(vectors[:, order])
