"""Optimizers: how gradients become steps."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from ..typing import Floats

Optimizer: TypeAlias = Literal["normalized", "adam", "sgd"]

OPTIMIZERS = ("normalized", "adam", "sgd")
#: decay of the running means of gradients and of squared gradients
MOMENTUM_DECAY, SQUARE_DECAY = 0.9, 0.999


class GradientSteps:
    """Turn gradients into steps, one after the other.

    `"normalized"` is momentum in units of the largest gradient so far, so that gates move in proportion to their
    gradients (Adam moves a nuisance feature as fast as one that matters) and stop once all gradients are small: in
    units of the current largest, the remaining noise would reorder gates forever after training has converged.
    """

    def __init__(self, optimizer: Optimizer, learning_rate: float, n_features: int) -> None:
        self.optimizer, self.learning_rate, self.n_steps = optimizer, learning_rate, 0
        self.mean, self.square, self.largest = np.zeros(n_features), np.zeros(n_features), 0.0

    def __call__(self, gradient: Floats) -> Floats:
        """Return what to subtract."""
        if self.optimizer == "sgd":
            return self.learning_rate * gradient
        self.n_steps += 1
        self.mean = MOMENTUM_DECAY * self.mean + (1 - MOMENTUM_DECAY) * gradient
        step = self.mean / (1 - MOMENTUM_DECAY**self.n_steps)
        if self.optimizer == "normalized":
            self.largest = max(self.largest, float(np.abs(step).max()))
            return np.asarray(self.learning_rate * step / self.largest if self.largest > 0 else step)
        self.square = SQUARE_DECAY * self.square + (1 - SQUARE_DECAY) * gradient**2
        size = np.sqrt(self.square / (1 - SQUARE_DECAY**self.n_steps))
        return np.asarray(self.learning_rate * np.divide(step, size, out=np.zeros_like(step), where=size > 0))
