"""Two conditions in which it is known of every feature by what it differs, for `peers.py`.

Four kinds of truth among noise: `connected` features correlate in condition B only, `shared` ones in both alike,
`mean` ones are shifted, `variance` ones spread wider. Features are shuffled. This file needs NumPy only, so that it
runs wherever a peer does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: features of each kind; the rest is noise
SIZES = {"connected": 40, "shared": 40, "mean": 30, "variance": 20}
KINDS = (*SIZES, "noise")
FLAVOURS = ("gaussian", "counts")


@dataclass(frozen=True)
class Effects:
    """How strongly the planted features differ."""

    #: loadings on the factor of a module are uniform between these; two features correlate by their product
    loadings: tuple[float, float]
    #: shift in standard deviations (Gaussian) or in log rate (counts), up or down
    shift: float
    #: factor of the standard deviation (Gaussian), or of that of the log rate (counts)
    widening: float


EFFECTS = {"gaussian": Effects((0.23, 0.58), 0.35, 1.5), "counts": Effects((0.36, 0.70), 0.40, 1.8)}
#: counts: standard deviation of log rates within a feature, and of library sizes between cells (in log)
SPREAD, LIBRARY = 0.6, 0.2


@dataclass(frozen=True)
class Truth:
    """Observations of both conditions, and the kind of every feature."""

    a: np.ndarray
    b: np.ndarray
    kind: np.ndarray
    #: the counts behind `a` and `b`, None for the Gaussian flavour
    counts: tuple[np.ndarray, np.ndarray] | None = None


def draw(flavour: str, n: int, p: int, seed: int) -> Truth:
    """Draw n observations of each condition: what most methods want (`a`, `b`), and counts where there are any."""
    rng = np.random.default_rng([seed, n, p])
    kind = rng.permutation(np.repeat(KINDS, [*SIZES.values(), p - sum(SIZES.values())]))
    effects = EFFECTS[flavour]
    loading = {name: rng.uniform(*effects.loadings, size=SIZES[name]) for name in ("connected", "shared")}
    a, b = (rng.normal(size=(n, p)) for _ in range(2))
    _connect(a, kind == "shared", loading["shared"], rng)
    _connect(b, kind == "shared", loading["shared"], rng)
    _connect(b, kind == "connected", loading["connected"], rng)
    shift = np.where(kind == "mean", effects.shift * rng.choice([-1, 1], size=p), 0.0)
    widening = np.where(kind == "variance", effects.widening, 1.0)
    if flavour == "gaussian":
        return Truth(a, b * widening + shift, kind)
    level = rng.normal(np.log(5), 0.4, size=p)
    counts = (
        _counts(a, level, SPREAD * np.ones(p), rng),
        _counts(b, level + shift, SPREAD * widening, rng),
    )
    return Truth(*_log_normalised(*counts), kind, counts)


def auroc(planted: np.ndarray, others: np.ndarray) -> float:
    """Share of pairs in which the planted feature has the higher score; ties count half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, planted, "left")
    up_to = np.searchsorted(ordered, planted, "right")
    return float(np.mean(below + up_to) / (2 * len(others)))


def auprc(planted: np.ndarray, others: np.ndarray) -> float:
    """Average precision: mean over planted features of the precision at their score, ties sharing one."""
    at_least = [len(x) - np.searchsorted(np.sort(x), planted, "left") for x in (planted, others)]
    return float(np.mean(at_least[0] / (at_least[0] + at_least[1])))


def _connect(x: np.ndarray, where: np.ndarray, loading: np.ndarray, rng: np.random.Generator) -> None:
    """Let features share a factor; their variances stay what they are."""
    x[:, where] = loading * rng.normal(size=(len(x), 1)) + np.sqrt(1 - loading**2) * x[:, where]


def _counts(latent: np.ndarray, level: np.ndarray, spread: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Poisson counts of log-normal rates: log link, overdispersed; a wider spread leaves the mean count alone."""
    rate = np.exp(level + spread * latent - spread**2 / 2)
    return rng.poisson(rate * rng.lognormal(0, LIBRARY, size=(len(latent), 1))).astype(np.float32)


def _log_normalised(*counts: np.ndarray) -> list[np.ndarray]:
    """Scale every cell to the median total and take log(1 + x), as scanpy does."""
    totals = [x.sum(axis=1, keepdims=True, dtype=np.float64) for x in counts]
    target = np.median(np.concatenate(totals))
    return [np.log1p(x * (target / total)) for x, total in zip(counts, totals, strict=True)]
