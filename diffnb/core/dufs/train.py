"""DUFS: gates trained so that open features are smooth on the graph that these features define."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from ..runtime.seeds import generator
from ..runtime.threads import thread_limits
from ..typing import Bools, Floats, Ints, Matrix
from .batches import Batches, standardized_batches
from .gates import noiseless_gates
from .objective import Gates, evaluate_objective
from .optimizer import GradientSteps, Optimizer
from .smoothness import GraphOptions, smoothness_score

#: called once per step of training
StepCallback: TypeAlias = Callable[[], None]

#: λ that the warm start tries, in units of |F|/R at the start (Algorithm 1 of the supplement)
WARM_START_PENALTIES = (0.01, 0.1, 1.0, 10.0)
#: standard deviation of the initial µ: none at the first start, since the authors' .01 is still visible after training
#: with thousands of features; and at restarts, which must differ
START_SD, RESTART_SD = 0.0, 0.1
#: factors by which the kernel is narrowed where all gates close, or all open, before training starts again
SCALE_FACTOR_IF_CLOSED, SCALE_FACTOR_IF_OPEN = 0.8, 0.5
#: Adam moves all gates alike at first, and needs a kernel in which nuisance features close: it starts with a wider one
ADAM_SCALE_FACTOR = 2.0
#: the narrowest kernel tried, as a share of the scale asked for
MIN_SCALE_SHARE = 0.002
#: gates have all opened when at least this share is open, and the median µ is above this
MIN_OPEN_SHARE, MIN_OPEN_MEDIAN = 0.98, 0.5
#: steps whose losses are averaged to see whether training still improves; more where batches make losses noisy, and
#: still more where gates are drawn, whose short steps improve little in 60
WINDOW_STEPS, BATCH_WINDOW_STEPS, DRAWN_WINDOW_STEPS = 20, 60, 200
#: relative improvement from one window to the next below which training has converged
MIN_IMPROVEMENT = 1e-3


@dataclass(frozen=True, slots=True)
class DufsOptions:
    """What a user asks for."""

    #: features to select, those with the largest gates; `"auto"`: those whose gate is above ½
    n_features: int | Literal["auto"] = "auto"
    #: features that `"auto"` selects at least
    min_features: int = 0
    #: λ in units of |F|/R at the start; `None`: the parameter-free loss; `"warm"`: the best of several
    penalty: float | Literal["warm"] | None = None
    gates: Gates = "deterministic"
    graph: GraphOptions = GraphOptions(leave_one_out=True)  # noqa: RUF009, frozen
    standardize: Literal["global"] | None = "global"
    n_steps: int = 200
    learning_rate: float = 0.05
    optimizer: Optimizer = "normalized"
    #: `"auto"`: all observations, where they are not many
    batch_size: int | Literal["auto"] = "auto"
    n_restarts: int = 1
    early_stopping: bool = True
    #: narrow the kernel where all gates close, or all open
    adapt_scale: bool = True
    seed: int = 0


@dataclass(frozen=True, slots=True)
class DufsSettings:
    """What was used in the end, every number resolved."""

    n_features: int
    #: features whose gate is above ½
    n_open: int
    batch_size: int
    #: scale of the kernel
    scale: float
    #: λ in units of the loss, NaN for the parameter-free one
    penalty: float


@dataclass(frozen=True, slots=True)
class WarmStart:
    """λ that the warm start tried, and the score of the features that each selects."""

    penalties: Floats
    scores: Floats


@dataclass(frozen=True, slots=True)
class DufsFit:
    """Gates after training, one µ per feature, and the course of training, one row per step."""

    settings: DufsSettings
    mu: Floats
    selected: Bools
    loss: Floats
    smoothness: Floats
    #: share of open gates
    open: Floats
    warm_start: WarmStart | None = None

    @property
    def gates(self) -> Floats:
        """Gates between 0 and 1."""
        return noiseless_gates(self.mu)


@dataclass(frozen=True, slots=True)
class _Start:
    """One start of the training: its number, random streams and first µ."""

    seed: int
    number: int

    def batches(self) -> np.random.Generator:
        """Return the stream of batches, the same for all trainings of this start."""
        return generator(self.seed, "batches", self.number)

    def noise(self) -> np.random.Generator:
        return generator(self.seed, "gate_noise", self.number)

    def mu(self, n_features: int) -> Floats:
        sd = RESTART_SD if self.number else START_SD
        drawn = generator(self.seed, "starts", self.number).standard_normal(n_features)
        return np.asarray(sd * np.clip(drawn, -2, 2))


@dataclass(frozen=True, slots=True)
class _Training:
    """One training: the final µ, and its course."""

    mu: Floats
    #: loss, smoothness and share of open gates, one row per step
    course: Floats
    scale: float
    penalty: float | None
    warm_start: WarmStart | None = None

    @property
    def final_loss(self) -> float:
        """Mean loss of the last steps, which with batches differ."""
        return float(self.course[-WINDOW_STEPS:, 0].mean())


def fit_dufs(
    x: Matrix,
    options: DufsOptions,
    /,
    *,
    progress: Callable[[int], StepCallback] | None = None,
    n_jobs: int | None = None,
) -> DufsFit:
    """Train gates on observations × features; of several starts, keep the one with the lowest loss.

    `progress` is called with the number of steps to expect, and returns what is called after each of them.
    """
    data = standardized_batches(x, standardize=options.standardize, batch_size=options.batch_size)
    after_step = _nothing if progress is None else progress(_expected_steps(options))
    with thread_limits(data.batch_size, n_jobs):
        starts = [_Start(options.seed, number) for number in range(options.n_restarts)]
        best = min((_train_start(data, options, start, after_step) for start in starts), key=lambda t: t.final_loss)
    selected = _selected(best.mu, options.n_features, options.min_features)
    penalty = np.nan if best.penalty is None else best.penalty
    settings = DufsSettings(int(selected.sum()), int((best.mu > 0).sum()), data.batch_size, best.scale, penalty)
    loss, smoothness, opened = best.course.T.copy()
    return DufsFit(settings, best.mu, selected, loss, smoothness, opened, best.warm_start)


def _nothing() -> None:
    return None


def _expected_steps(options: DufsOptions) -> int:
    trainings = len(WARM_START_PENALTIES) + 1 if options.penalty == "warm" else 1
    if options.penalty is None and options.adapt_scale and options.graph.power == 1:
        trainings = 2
    return options.n_steps * options.n_restarts * trainings


def _selected(mu: Floats, n_features: int | Literal["auto"], min_features: int) -> Bools:
    count = max(int((mu > 0).sum()), min_features) if n_features == "auto" else n_features
    selected = np.zeros(len(mu), dtype=bool)
    selected[_largest_gates(mu, count)] = True
    return selected


def _largest_gates(mu: Floats, n_features: int) -> Ints:
    return np.argsort(-mu, kind="stable")[:n_features]


def _train_start(data: Batches, options: DufsOptions, start: _Start, after_step: StepCallback) -> _Training:
    """Train from one start: its λ chosen first where asked for, its kernel narrowed where all gates close."""
    mu = start.mu(data.x.shape[1])
    if options.penalty == "warm":
        return _train_warm(data, options, start, mu, after_step)
    if options.penalty is not None:
        penalty = options.penalty * _penalty_unit(data, options, start, mu)
        return _train(data, options, start, mu, after_step, penalty=penalty)
    if options.adapt_scale:
        return _train_adapting(data, options, start, mu, after_step)
    return _train(data, options, start, mu, after_step)


def _train_adapting(
    data: Batches, options: DufsOptions, start: _Start, mu: Floats, after_step: StepCallback
) -> _Training:
    """Narrow the kernel until gates neither all close nor all open.

    Among many features all observations are about equally far apart: a wide kernel sees no structure, and gates
    are driven only by how often a walk returns to where it began, the same for all of them.
    """
    if options.graph.power == 1:
        return _train_after_two_steps(data, options, start, mu, after_step)
    wider = ADAM_SCALE_FACTOR if options.optimizer == "adam" else 1.0
    graph = replace(options.graph, scale=wider * options.graph.scale)
    while graph.scale >= MIN_SCALE_SHARE * options.graph.scale:
        found = _train(data, replace(options, graph=graph), start, mu, after_step, stop_when_open=True)
        if (found.mu > 0).any() and not _all_open(found.mu):
            return found
        factor = SCALE_FACTOR_IF_CLOSED if (found.mu <= 0).all() else SCALE_FACTOR_IF_OPEN
        graph = replace(graph, scale=factor * graph.scale)
    # no kernel distinguishes the features: they are all alike, and the result is that of the kernel asked for
    return _train(data, options, start, mu, after_step)


def _train_after_two_steps(
    data: Batches, options: DufsOptions, start: _Start, mu: Floats, after_step: StepCallback
) -> _Training:
    """Train with t = 2 first, and continue with t = 1.

    After one step of the walk any two features are about as smooth on their own graph as two that carry a structure,
    and training from half-open gates ends in one of many local optima.
    """
    twice = replace(options, graph=replace(options.graph, power=2))
    first = _train_adapting(data, twice, start, mu, after_step)
    once = replace(options, graph=replace(options.graph, scale=first.scale))
    found = _train(data, once, start, first.mu, after_step)
    return replace(found, course=np.concatenate([first.course, found.course]))


def _all_open(mu: Floats) -> bool:
    """Return whether all gates open together; closing is known at the end only, since single gates may reopen."""
    return bool((mu > 0).mean() >= MIN_OPEN_SHARE and np.median(mu) > MIN_OPEN_MEDIAN)


def _train_warm(data: Batches, options: DufsOptions, start: _Start, mu: Floats, after_step: StepCallback) -> _Training:
    """Continue with the λ whose leading features are smoothest on their own graph (Algorithm 1 of the supplement)."""
    assert options.n_features != "auto"
    unit = _penalty_unit(data, options, start, mu)
    batch = data.first(start.batches())
    penalties = np.array(WARM_START_PENALTIES) * unit
    trials, scores = [], []
    for penalty in penalties:
        trials.append(_train(data, options, start, mu, after_step, penalty=float(penalty)))
        chosen = batch[:, _largest_gates(trials[-1].mu, options.n_features)]
        scores.append(smoothness_score(chosen @ chosen.T, options.graph) / chosen.size)
    best = trials[int(np.argmax(scores))]
    continued = _train(data, options, start, best.mu, after_step, penalty=best.penalty)
    course = np.concatenate([best.course, continued.course])
    return replace(continued, course=course, warm_start=WarmStart(penalties, np.array(scores)))


def _penalty_unit(data: Batches, options: DufsOptions, start: _Start, mu: Floats) -> float:
    """Return |F|/R at the start: in this unit λ means the same for all data."""
    first = evaluate_objective(data.first(start.batches()), mu, options.graph)
    return abs(first.smoothness) / first.open


def _train(
    data: Batches,
    options: DufsOptions,
    start: _Start,
    mu: Floats,
    after_step: StepCallback,
    *,
    penalty: float | None = None,
    stop_when_open: bool = False,
) -> _Training:
    batches, noise = data.endless(start.batches()), start.noise()
    step_of = GradientSteps(options.optimizer, options.learning_rate, len(mu))
    window = _window(data, options)
    course: list[tuple[float, float, float]] = []
    for _ in range(options.n_steps):
        batch = next(batches)
        drawn = _drawn_noise(options.gates, batch, noise)
        found = evaluate_objective(batch, mu, options.graph, gates=options.gates, penalty=penalty, noise=drawn)
        course.append((found.loss, found.smoothness, found.open))
        mu = mu - step_of(found.gradient)
        after_step()
        if stop_when_open and _all_open(mu):
            break
        if options.early_stopping and _converged([loss for loss, *_ in course], window):
            break
    return _Training(mu, np.array(course), options.graph.scale, penalty)


def _window(data: Batches, options: DufsOptions) -> int:
    if options.gates != "deterministic":
        return DRAWN_WINDOW_STEPS
    return BATCH_WINDOW_STEPS if data.whole is None else WINDOW_STEPS


def _drawn_noise(gates: Gates, batch: Floats, rng: np.random.Generator) -> Floats | None:
    if gates == "deterministic":
        return None
    return rng.standard_normal(batch.shape if gates == "per_sample" else batch.shape[1])


def _converged(losses: list[float], window: int) -> bool:
    """Return whether the last window of losses is hardly better than the one before."""
    if len(losses) < 2 * window or len(losses) % window:
        return False
    before, now = np.mean(losses[-2 * window : -window]), np.mean(losses[-window:])
    return bool(before - now <= MIN_IMPROVEMENT * abs(before))
