"""DUFS: training gates so that open features are smooth on the graph that they make themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from ..arrays.affine import AffineMap, inverse_sd
from ..arrays.ops import dense64, mean_and_variance, take_rows
from ..arrays.row_chunks import Chunked
from ..runtime import budget
from ..runtime.progress import quietly
from ..typing import Floats, Ints, Matrix
from .objective import Evaluated, Gates, evaluate
from .smoothness import Graph, score_of

Optimizer: TypeAlias = Literal["normalized", "adam", "sgd"]

OPTIMIZERS = ("normalized", "adam", "sgd")
#: λ that the warm start tries, in units of |F|/R at the start (Algorithm 1 of the supplement)
WARM = (0.01, 0.1, 1.0, 10.0)
#: spread of µ at the start: none, since the authors' .01 outlives the training among thousands of features; and
#: at further starts, which are of use only where they differ
START, RESTART = 0.0, 0.1
#: where all gates close, or all open, the kernel is narrowed by these factors, and training begins anew
WHEN_CLOSED, WHEN_OPEN = 0.8, 0.5
#: but never to less than this share of where it began
NARROWEST = 0.002
#: all gates have opened when this share is open and half of all µ are above
ALL, OPENED = 0.98, 0.5
#: losses averaged when looking whether training still gets anywhere (more where they are noisy), and the share by
#: which it must
WINDOW, NOISY_WINDOW, GAIN = 20, 60, 1e-3
MOMENTUM, SECOND = 0.9, 0.999


@dataclass(frozen=True, slots=True)
class Settings:
    """How gates are trained."""

    n_features: int | None = None
    penalty: float | Literal["warm"] | None = None
    gates: Gates = "deterministic"
    graph: Graph = Graph(leave_one_out=True)  # noqa: RUF009, frozen
    standardize: Literal["global"] | None = "global"
    n_steps: int = 200
    learning_rate: float = 0.05
    optimizer: Optimizer = "normalized"
    batch_size: int | None = None
    n_restarts: int = 1
    early_stopping: bool = True
    #: narrow the kernel where all gates go the same way
    adapt_scale: bool = True
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Dufs:
    """Gates after training, one µ a feature, and how it went, a row a step."""

    mu: Floats
    loss: Floats
    smoothness: Floats
    open: Floats
    #: scale of the kernel and λ (NaN without) that were used in the end
    scale: float
    penalty: float
    #: λ that the warm start tried, and the score of the features they lead to
    tried: Floats
    tried_score: Floats

    @property
    def final_loss(self) -> float:
        """Mean loss of the last steps, which for batches differ."""
        return float(self.loss[-WINDOW:].mean())


@dataclass(frozen=True, slots=True)
class Observations:
    """Standardised observations, a batch at a time: nothing sparse or large is made dense whole."""

    x: Matrix
    map: AffineMap
    batch_size: int
    #: all of them standardised, where they fit into one batch
    whole: Floats | None
    #: batches that are read in one pass, where they must be read
    at_once: int = 1

    def batches(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Standardised batches for ever, all observations once before any comes twice."""
        while self.whole is not None:
            yield self.whole
        n, size = self.x.shape[0], self.batch_size
        # what is left over at the end comes in another order next time
        starts = range(0, n - size + 1, size)
        while True:
            order = rng.permutation(n)
            for first in range(0, len(starts), self.at_once):
                chosen = [np.sort(order[s : s + size]) for s in starts[first : first + self.at_once]]
                yield from self._taken(chosen)

    def first(self, rng: np.random.Generator) -> Floats:
        """Return the first of these batches alone."""
        return next(replace(self, at_once=1).batches(rng))

    def _taken(self, batches: Sequence[Ints]) -> Iterator[Floats]:
        """Take batches; those that must be read are read together."""
        if not isinstance(self.x, Chunked):
            yield from map(self.take, batches)
            return
        rows = np.concatenate(batches)
        with quietly():
            loaded = replace(self, x=self.x[rows].load())
        for number in range(len(batches)):
            yield loaded.take(np.arange(number * self.batch_size, (number + 1) * self.batch_size))

    def take(self, rows: Ints) -> Floats:
        """Take some observations, dense and standardised."""
        return self.map.of(dense64(take_rows(self.x, rows)))


def observations(x: Matrix, /, *, standardize: Literal["global"] | None, batch_size: int | None) -> Observations:
    """Prepare batches; a sparse matrix becomes rows that can be taken quickly.

    Batches of data that is read in runs come from all over it: several of them are gathered in one pass.
    """
    n, d = x.shape
    size = n if batch_size is None else min(batch_size, n)
    if standardize is None:
        standardizing = AffineMap()
    else:
        mean, variance = mean_and_variance(x)
        standardizing = AffineMap(mean, inverse_sd(mean, variance))
    if getattr(x, "format", "csr") == "csc":
        x = x.tocsr()
    at_once = budget.count(8 * size * d, "kept") if isinstance(x, Chunked) else 1
    ready = Observations(x, standardizing, size, None, at_once)
    return replace(ready, whole=ready.take(np.arange(n))) if size == n else ready


def dufs(x: Matrix, settings: Settings, /, *, progress: Callable[[int], Callable[[], None]] | None = None) -> Dufs:
    """Train gates on observations × features, the best of several starts by its loss."""
    data = observations(x, standardize=settings.standardize, batch_size=settings.batch_size)
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_restarts)
    tell = _silent if progress is None else progress(_most_steps(settings))
    found = [_start(data, settings, seed, tell, RESTART if i else START) for i, seed in enumerate(seeds)]
    return min(found, key=lambda one: one.final_loss)


def _silent() -> None:
    return None


def _most_steps(settings: Settings) -> int:
    runs = len(WARM) + 1 if settings.penalty == "warm" else 1
    return settings.n_steps * settings.n_restarts * runs


def _start(
    data: Observations, settings: Settings, seed: np.random.SeedSequence, tell: Callable[[], None], spread: float
) -> Dufs:
    """One start: its λ found first where asked, its kernel narrowed where all gates close."""
    rng = np.random.default_rng(seed)
    mu = spread * np.clip(rng.standard_normal(data.x.shape[1]), -2, 2)
    if settings.penalty == "warm":
        return _warm(data, settings, mu, seed, tell)
    if settings.penalty is not None:
        scaled = settings.penalty * _unit(data, settings, mu, seed)
        return _train(data, settings, settings.graph, mu, scaled, seed, tell)
    if not settings.adapt_scale:
        return _train(data, settings, settings.graph, mu, None, seed, tell)
    graph = settings.graph
    while graph.scale >= NARROWEST * settings.graph.scale:
        found = _train(data, settings, graph, mu, None, seed, tell, stop_when_open=True)
        if (found.mu > 0).any() and not _all_opened(found.mu):
            return found
        # among many features all observations are about equally far apart: a wide kernel sees no structure, and
        # what moves the gates is only how often a walk comes back to where it began, the same for all of them
        factor = WHEN_CLOSED if (found.mu <= 0).all() else WHEN_OPEN
        graph = replace(graph, scale=factor * graph.scale)
    # no kernel tells features apart: all of them are alike, and this is what the one asked for makes of them
    return _train(data, settings, settings.graph, mu, None, seed, tell)


def _all_opened(mu: Floats) -> bool:
    """Whether gates open as one; that all closed shows at the end only, since single ones may come back."""
    return bool((mu > 0).mean() >= ALL and np.median(mu) > OPENED)


def _warm(
    data: Observations, settings: Settings, mu: Floats, seed: np.random.SeedSequence, tell: Callable[[], None]
) -> Dufs:
    """Algorithm 1 of the supplement: the λ whose leading features are smoothest on their own graph, trained on."""
    assert settings.n_features is not None
    unit = _unit(data, settings, mu, seed)
    batch = data.first(np.random.default_rng(seed))
    scores, found = [], []
    for penalty in WARM:
        found.append(_train(data, settings, settings.graph, mu, penalty * unit, seed, tell))
        leading = np.argsort(-found[-1].mu, kind="stable")[: settings.n_features]
        chosen = batch[:, leading]
        scores.append(score_of(chosen @ chosen.T, settings.graph) / chosen.size)
    best = int(np.argmax(scores))
    more = _train(data, settings, settings.graph, found[best].mu, WARM[best] * unit, seed, tell)
    first = found[best]
    return replace(
        more,
        loss=np.concatenate([first.loss, more.loss]),
        smoothness=np.concatenate([first.smoothness, more.smoothness]),
        open=np.concatenate([first.open, more.open]),
        tried=np.array(WARM) * unit,
        tried_score=np.array(scores),
    )


def _unit(data: Observations, settings: Settings, mu: Floats, seed: np.random.SeedSequence) -> float:
    """|F|/R at the start: λ in this unit means the same for all data."""
    batch = data.first(np.random.default_rng(seed))
    first = evaluate(batch, mu, settings.graph)
    return abs(first.smoothness) / first.open


def _train(
    data: Observations,
    settings: Settings,
    graph: Graph,
    mu: Floats,
    penalty: float | None,
    seed: np.random.SeedSequence,
    tell: Callable[[], None],
    *,
    stop_when_open: bool = False,
) -> Dufs:
    rng = np.random.default_rng(seed)
    batches = data.batches(rng)
    step = _Steps(settings.optimizer, settings.learning_rate, len(mu))
    exact = data.whole is not None and settings.gates == "deterministic"
    window = WINDOW if exact else NOISY_WINDOW
    steps: list[Evaluated] = []
    for _ in range(settings.n_steps):
        batch = next(batches)
        noise = _noise(settings.gates, batch, rng)
        found = evaluate(batch, mu, graph, gates=settings.gates, penalty=penalty, noise=noise)
        steps.append(found)
        mu = mu - step(found.gradient)
        tell()
        if stop_when_open and _all_opened(mu):
            break
        if settings.early_stopping and _settled([s.loss for s in steps], window):
            break
    return Dufs(
        mu=mu,
        loss=np.array([s.loss for s in steps]),
        smoothness=np.array([s.smoothness for s in steps]),
        open=np.array([s.open for s in steps]),
        scale=graph.scale,
        penalty=np.nan if penalty is None else penalty,
        tried=np.empty(0),
        tried_score=np.empty(0),
    )


def _noise(gates: Gates, batch: Floats, rng: np.random.Generator) -> Floats | None:
    if gates == "deterministic":
        return None
    return rng.standard_normal(batch.shape if gates == "per_sample" else batch.shape[1])


def _settled(losses: list[float], window: int) -> bool:
    """Whether the last window of losses is hardly better than the one before."""
    if len(losses) < 2 * window or len(losses) % window:
        return False
    before, now = np.mean(losses[-2 * window : -window]), np.mean(losses[-window:])
    return bool(before - now <= GAIN * abs(before))


class _Steps:
    """Turns gradients into steps.

    `"normalized"` is momentum in units of the largest gradient so far, so that gates move in proportion to what
    they are worth (Adam moves a nuisance feature as fast as one that matters), and rest once nothing pulls at
    them: in units of the largest at hand, what is left when all have settled would shuffle their order for ever.
    """

    def __init__(self, optimizer: Optimizer, learning_rate: float, n: int) -> None:
        self.optimizer, self.rate, self.count = optimizer, learning_rate, 0
        self.first, self.second, self.largest = np.zeros(n), np.zeros(n), 0.0

    def __call__(self, gradient: Floats) -> Floats:
        if self.optimizer == "sgd":
            return self.rate * gradient
        self.count += 1
        self.first = MOMENTUM * self.first + (1 - MOMENTUM) * gradient
        step = self.first / (1 - MOMENTUM**self.count)
        if self.optimizer == "normalized":
            self.largest = max(self.largest, float(np.abs(step).max()))
            return np.asarray(self.rate * step / self.largest if self.largest > 0 else step)
        self.second = SECOND * self.second + (1 - SECOND) * gradient**2
        size = np.sqrt(self.second / (1 - SECOND**self.count))
        return np.asarray(self.rate * np.divide(step, size, out=np.zeros_like(step), where=size > 0))
