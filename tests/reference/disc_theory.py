"""What the DiSC paper derives or compares with: graph cuts as eigenproblems, the stochastic block model, its lemmas."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh


def ratio_cut_vectors(own, other, count, eps):
    """Leading solutions of min fᵀL_B f with fᵀL_A f ≥ γ: (L_A + εI)⁻¹ L_B f = μ f, the smallest μ (Eqs. 4 and 5).

    B is the condition whose groups are sought (`own`), ε a share of the mean degree of A.
    """
    inner = laplacian(other) + eps * other.sum(axis=1).mean() * np.eye(len(other))
    values, vectors = np.linalg.eig(np.linalg.solve(inner, laplacian(own)))
    order = np.argsort(values.real)
    # the constant vector solves both with μ = 0
    return vectors.real[:, order][:, 1 : count + 1]


def normalized_cut_vectors(own, other, count, strength):
    """Leading solutions of (I + λ₂P_B)⁻¹ P_A f = λ₁ f, the largest λ₁ (Eqs. 17 and 18), `strength` being λ₂.

    As printed; A is the condition whose groups are sought (`own`).
    """
    values, vectors = np.linalg.eig(np.linalg.solve(np.eye(len(own)) + strength * other, own))
    order = np.argsort(-values.real)
    return vectors.real[:, order][:, 1 : count + 1]


def laplacian(weights):
    """L = D − W."""
    return np.diag(weights.sum(axis=1)) - weights


def block_probabilities(sizes, p, q):
    """Eigenvalues and eigenvectors of E[W] of a block model, from Δ Θ Δ (proof of Lemma 1), largest first."""
    root = np.sqrt(np.asarray(sizes, dtype=float))
    theta = np.where(np.eye(len(sizes), dtype=bool), p, q)
    values, vectors = np.linalg.eigh(root[:, None] * theta * root)
    spread = np.repeat(vectors / root[:, None], sizes, axis=0)
    return values[::-1], spread[:, ::-1]


def block_model(sizes, p, q, rng):
    """Symmetric weights: 1 with probability p within and q between blocks (Eq. 8)."""
    n = sum(sizes)
    label = np.repeat(np.arange(len(sizes)), sizes)
    upper = np.triu(rng.random((n, n), dtype=np.float32) < np.where(label[:, None] == label, p, q))
    return (upper | upper.T).astype(np.float32)


def leading(operator, count):
    """Eigenvalues, largest first, and eigenvectors of a symmetric matrix or operator."""
    values, vectors = eigsh(operator, k=count, which="LA", v0=np.ones(operator.shape[0]))
    order = np.argsort(-values)
    return values[order], vectors[:, order]


def two_blocks(l, s, p, q, rng):
    """Quantities of Lemma 2 for blocks l, l + s in A and l, l, s in B.

    λ₃ of W_B, the numerator of (15), ‖v_γ − ṽ_γ‖ and ‖ṽ_γ − e_γ/√s‖, ṽ_γ being the leading vector of Q_A W_B Q_A.
    """
    w_a, w_b = block_model((l, l + s), p, q, rng), block_model((l, l, s), p, q, rng)
    span_a = leading(w_a, 2)[1]
    values, expected = block_probabilities((l, l, s), p, q)

    def outside(v):
        return v - span_a @ (span_a.T @ v)

    def found(v):
        return outside(w_b @ outside(v.ravel()).astype(np.float32))

    # E[W_B] without its two leading eigenvectors has one eigenvector left
    gamma = expected[:, 2]
    n = len(gamma)
    difference = LinearOperator(
        (n, n), matvec=lambda v: found(v) - values[2] * gamma * (gamma @ v.ravel()), dtype=np.float64
    )
    numerator = np.abs(eigsh(difference, k=1, which="LM", v0=np.ones(n), tol=1e-3, return_eigenvectors=False))[0]
    vector = leading(LinearOperator((n, n), matvec=found, dtype=np.float64), 1)[1][:, 0]
    truth = np.zeros(n)
    truth[-s:] = 1 / np.sqrt(s)
    errors = [min(np.linalg.norm(vector - v), np.linalg.norm(vector + v)) for v in (gamma, truth)]
    return leading(w_b, 3)[0][2], float(numerator), *errors


def forward_selection(x, label, count, rng):
    """Add the feature with the best leave-one-out accuracy of the nearest neighbour, one at a time (App. E.5).

    Ties are broken at random.
    """
    n, p = x.shape
    apart = np.zeros((n, n))
    np.fill_diagonal(apart, np.inf)
    chosen: list[int] = []
    for _ in range(count):
        accuracy = np.full(p, -1.0)
        for j in np.setdiff1d(np.arange(p), chosen):
            nearest = (apart + np.subtract.outer(x[:, j], x[:, j]) ** 2).argmin(axis=1)
            accuracy[j] = (label[nearest] == label).mean() + 1e-9 * rng.random()
        best = int(accuracy.argmax())
        chosen.append(best)
        apart += np.subtract.outer(x[:, best], x[:, best]) ** 2
    return np.array(chosen)
