"""Simulated counts with known modules: log-normal expression counted at a given depth, in cells and donors."""

from __future__ import annotations

from dataclasses import dataclass

import anndata as ad
import numpy as np
import pandas as pd
import scipy.sparse as sp

#: genes in all, and in each of two modules: one shared by both conditions, one in B only
N_GENES, N_MODULE = 400, 30
#: standard deviation of log expression, of log depth between cells, and of log means between donors
SPREAD, DEPTH_SPREAD, DONOR_SPREAD = 0.5, 0.3, 0.2


@dataclass(frozen=True)
class Simulated:
    """Two conditions of cells, of which B has been sequenced `depth_ratio` times as deep."""

    seed: int
    depth: float = 2000.0
    depth_ratio: float = 1.0
    #: correlation of log expression within a module
    rho: float = 0.5
    n_cells: int = 800
    n_donors: int = 1

    def draw(self) -> ad.AnnData:
        """Draw counts; the layer `expression` is what they were drawn from."""
        rng = np.random.default_rng(self.seed)
        log_means = rng.normal(0, 1, size=N_GENES)
        log_means[: 2 * N_MODULE] = rng.normal(0.3, 0.7, size=2 * N_MODULE)
        parts, expressed, obs = [], [], []
        for condition, factor, connected in (("A", 1.0, (True, False)), ("B", self.depth_ratio, (True, True))):
            for donor in range(self.n_donors):
                own = log_means + (DONOR_SPREAD * rng.normal(size=N_GENES) if self.n_donors > 1 else 0)
                n = self.n_cells // self.n_donors
                expression = self._expression(rng, n, own, connected)
                depths = factor * self.depth * rng.lognormal(0, DEPTH_SPREAD, size=(n, 1))
                parts.append(rng.poisson(expression * depths))
                expressed.append(expression)
                obs += [(condition, f"{condition}{donor}")] * n
        counts = sp.csr_matrix(np.concatenate(parts).astype(np.float32))
        table = pd.DataFrame(obs, columns=["condition", "donor"], index=[f"cell{i}" for i in range(len(obs))])
        var = pd.DataFrame(index=[f"gene{j}" for j in range(N_GENES)])
        layers = {"counts": counts.copy(), "expression": np.concatenate(expressed)}
        return ad.AnnData(counts, obs=table.astype("category"), var=var, layers=layers)

    def _expression(
        self, rng: np.random.Generator, n: int, log_means: np.ndarray, connected: tuple[bool, bool]
    ) -> np.ndarray:
        """Share of every gene in the molecules of a cell, which is what counts can tell."""
        log_z = rng.normal(size=(n, N_GENES))
        for number, on in enumerate(connected):
            if on:
                where = slice(number * N_MODULE, (number + 1) * N_MODULE)
                log_z[:, where] *= np.sqrt(1 - self.rho)
                log_z[:, where] += np.sqrt(self.rho) * rng.normal(size=(n, 1))
        expression = np.exp(log_means + SPREAD * log_z)
        return expression / expression.sum(axis=1, keepdims=True)


SHARED, MODULE, OTHERS = slice(0, N_MODULE), slice(N_MODULE, 2 * N_MODULE), slice(2 * N_MODULE, N_GENES)
