"""Reference implementation of DUFS: the equations as printed, gradients by complex steps and by a tape.

Everything works on complex numbers too: the imaginary part of f(µ + ih) is h times the derivative, to rounding,
without the cancellation of finite differences. Discrete choices (a neighbour, a clip) depend on the real part only.
The tape does what automatic differentiation would do: it keeps every n × n and n × d step.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erf


def cdf(x):
    return 0.5 * (1 + erf(x / np.sqrt(2)))


def pdf(x):
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def gate_mean(mu, sigma=0.5):
    """E clip(N(µ + ½, σ²), 0, 1), from the tail integral ∫₀¹ P(m > t) dt."""
    u = lambda t: (mu + 0.5 - t) / sigma  # noqa: E731
    primitive = lambda x: x * cdf(x) + pdf(x)  # noqa: E731
    return sigma * (primitive(u(0)) - primitive(u(1)))


def gate_square(mu, sigma=0.5, nodes=80):
    """E z² = ∫₀¹ 2t P(m > t) dt, by Gauss–Legendre quadrature."""
    t, w = np.polynomial.legendre.leggauss(nodes)
    t, w = 0.5 * (t + 1), 0.5 * w
    return ((2 * t * w) * cdf((np.asarray(mu)[:, None] + 0.5 - t) / sigma)).sum(axis=1)


def clipped(m):
    return np.where(m.real <= 0, 0.0, np.where(m.real >= 1, 1.0, m))


def walk(gram, *, n_neighbors=2, scale=5.0, bandwidth="median", leave_one_out=False):
    n = len(gram)
    s = np.array([[gram[i, i] + gram[j, j] - gram[i, j] - gram[j, i] for j in range(n)] for i in range(n)])
    kth = np.array([s[i, np.argsort(s[i].real, kind="stable")[n_neighbors - 1]] for i in range(n)])
    order = np.argsort(kth.real, kind="stable")
    if bandwidth == "local":
        width = scale * np.sqrt(np.outer(kth, kth))
    elif bandwidth == "max":
        width = scale * kth[order[-1]]
    else:
        width = scale * 0.5 * (kth[order[(n - 1) // 2]] + kth[order[n // 2]])
    w = np.exp(-s / width)
    if leave_one_out:
        w = w * (1 - np.eye(n))
    return w / w.sum(axis=1)[:, None]


def loss(x, mu, *, gates="deterministic", noise=None, penalty=None, power=2, **graph):
    """F/R or F + λR with F = −mean(PᵗY ∘ Y) and R = mean Φ((µ + ½)/½) + 1e−6."""
    n, d = x.shape
    if gates == "deterministic":
        # mean over draws of G = YYᵀ: an observation shares its draw with itself only
        mean, square = gate_mean(mu), gate_square(mu)
        gram = (x * mean) @ (x * mean).T
        gram = gram * (1 - np.eye(n)) + np.diag((x**2) @ square)
    else:
        y = x * clipped(mu + 0.5 + 0.5 * noise)
        gram = y @ y.T
    p = np.linalg.matrix_power(walk(gram, **graph), power)
    f = -(p * gram).sum() / (n * d)
    r = cdf((mu + 0.5) / 0.5).mean() + 1e-6
    return f / r if penalty is None else f + penalty * r


def gradient(x, mu, *, step=1e-30, **options):
    """Gradient by complex steps, exact to rounding."""
    return np.array([loss(x, mu + 1j * step * e, **options).imag / step for e in np.eye(len(mu))])


# --- a tape, for the time of one step ---


def tape_step(x, mu, noise, *, n_neighbors=2, scale=5.0):
    """Loss and gradient of the authors' step (t = 2, median width, drawn gates), one operation after the other.

    Every intermediate result is kept and walked back through, as automatic differentiation does.
    """
    n, d = x.shape
    m = mu + 0.5 + 0.5 * noise
    z = np.clip(m, 0, 1)
    y = x * z
    squares = (y * y).sum(axis=1)
    inner = y @ y.T
    s = squares[:, None] - 2 * inner + squares[None, :]
    order = np.argsort(s, axis=1, kind="stable")[:, :n_neighbors]
    kth = s[np.arange(n), order[:, -1]]
    middle = np.argsort(kth, kind="stable")[[(n - 1) // 2, n // 2]]
    width = scale * kth[middle].mean()
    w = np.exp(-s / width)
    degree = w.sum(axis=1)
    diagonal = np.diag(1 / degree)
    p = diagonal @ w
    p2 = p @ p
    smoothed = p2 @ y
    f = -(smoothed * y).mean()
    a = (mu + 0.5) / 0.5
    r = cdf(a).mean() + 1e-6
    # back
    d_f, d_r = 1 / r, -f / r**2
    d_smoothed = -d_f * y / (n * d)
    d_y = -d_f * smoothed / (n * d)
    d_p2 = d_smoothed @ y.T
    d_y += p2.T @ d_smoothed
    d_p = d_p2 @ p.T + p.T @ d_p2
    d_diagonal = d_p @ w.T
    d_w = diagonal.T @ d_p
    d_degree = -np.diag(d_diagonal) / degree**2
    d_w += d_degree[:, None]
    d_exponent = d_w * w
    d_s = -d_exponent / width
    d_width = (d_exponent * s).sum() / width**2
    for i in middle:
        d_s[i, order[i, -1]] += d_width * scale / 2
    d_squares = d_s.sum(axis=1) + d_s.sum(axis=0)
    d_inner = -2 * d_s
    d_y += d_inner @ y + d_inner.T @ y
    d_y += 2 * y * d_squares[:, None]
    d_z = d_y * x
    d_m = d_z * ((m > 0) & (m < 1))
    return f / r, d_m.sum(axis=0) + d_r * pdf(a) / 0.5 / d


def laplacian_score(x, weights):
    """He, Cai & Niyogi: f̃ᵀLf̃ / f̃ᵀDf̃ with f̃ = f − fᵀD1/1ᵀD1, feature by feature."""
    degree = np.diag(weights.sum(axis=1))
    ones = np.ones(len(x))
    scores = []
    for f in x.T:
        centred = f - (f @ degree @ ones) / (ones @ degree @ ones)
        scores.append((centred @ (degree - weights) @ centred) / (centred @ degree @ centred))
    return np.array(scores)


def diverse_order(x, neighborhoods, redundancy):
    """Rank greedily by smoothness and what features before do not share; every correlation at once."""
    from scipy.stats import rankdata
    from sklearn.neighbors import kneighbors_graph

    standardized = (x - x.mean(axis=0)) / x.std(axis=0)
    ranks = []
    for k in neighborhoods:
        weights = kneighbors_graph(standardized, k).toarray()
        ranks.append(rankdata(laplacian_score(x, np.maximum(weights, weights.T))))
    p = x.shape[1]
    smoothness = 1 - (rankdata(np.mean(ranks, axis=0)) - 1) / (p - 1)
    squared = np.corrcoef(x.T) ** 2
    order = []
    while len(order) < p:
        left = [j for j in range(p) if j not in order]
        largest = [max((squared[i, j] for i in order), default=0.0) for j in left]
        mean = [np.mean([squared[i, j] for i in order] or [0.0]) for j in left]
        discount = [(1 - a) * (1 - b) ** 4 for a, b in zip(largest, mean, strict=True)]
        values = [smoothness[j] * d**redundancy for j, d in zip(left, discount, strict=True)]
        order.append(left[int(np.argmax(values))])
    return smoothness, order
