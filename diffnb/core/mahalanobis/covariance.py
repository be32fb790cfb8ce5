"""What is read of the data once and used by every step: means, inner products of features, principal components."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from ..arrays.column_blocks import load_column_blocks
from ..arrays.gram_stats import gram_fits, gram_stats
from ..arrays.ops import cross, dense64, float64, gram, matmul, mean_and_variance, take_rows
from ..arrays.row_chunks import Chunked, add_in_place, reduce
from ..runtime.seeds import generator
from ..spectral.eigen import leading_eigenpairs
from ..typing import Floats, Ints, Matrix

#: more features than this are not multiplied with one another
PRODUCTS_MOST = 5000


@dataclass(frozen=True, slots=True)
class Principal:
    """Leading principal components."""

    values: Floats
    #: features × components, empty where not asked for
    vectors: Floats


@dataclass(frozen=True, slots=True)
class Observed:
    """Observations × features, with what one pass over them gives."""

    x: Matrix
    mean: Floats
    #: trace of the sample covariance
    total: float
    #: inner products of features, not centred; `None` where there are too many
    products: Floats | None

    @property
    def shape(self) -> tuple[int, int]:
        """Observations and features."""
        return int(self.x.shape[0]), int(self.x.shape[1])

    def leading(self, count: int, /, *, seed: int = 0, vectors: bool = True) -> Principal:
        """Leading eigenvalues and eigenvectors of the sample covariance."""
        n, m = self.shape
        if m <= n and self.products is not None:
            values, found = leading_eigenpairs(self._covariance(), count, seed=seed)
        elif n <= PRODUCTS_MOST:
            values, left = leading_eigenpairs(self._between_observations(), count, seed=seed)
            found = self._from_left(values, left) if vectors else np.empty((m, 0))
        else:
            operator = LinearOperator((m, m), matvec=lambda v: self._covariance_times(v).ravel(), dtype=np.float64)
            values, found = leading_eigenpairs(operator, count, seed=seed)
        return Principal(np.maximum(values, 0.0), found)

    def spectrum(self, *, seed: int = 0) -> tuple[Floats, int, int]:
        """All eigenvalues of the sample covariance, and of how many observations and features.

        Of many observations and features some observations are drawn.
        """
        n, m = self.shape
        if m <= n and self.products is not None:
            symmetric, rank = self._covariance(), min(m, n - 1)
        elif n <= PRODUCTS_MOST:
            symmetric, rank = self._between_observations(), min(m, n - 1)
        else:
            drawn = np.sort(generator(seed, "subsample").choice(n, PRODUCTS_MOST, replace=False))
            return observed(take_rows(self.x, drawn)).spectrum()
        values = np.linalg.eigvalsh(symmetric)[::-1]
        return np.maximum(values[:rank], 0.0), n, m

    def _covariance(self) -> Floats:
        n = self.x.shape[0]
        return np.asarray((self.products - n * np.outer(self.mean, self.mean)) / (n - 1))

    def _between_observations(self) -> Floats:
        """Inner products of centred observations over n − 1, which have the eigenvalues of the covariance."""
        if isinstance(self.x, Chunked):
            return self._between_read()
        turned = self.x.T if isinstance(self.x, np.ndarray) else self.x.T.tocsr()
        along = matmul(self.x, self.mean[:, None]).ravel()
        return np.asarray((gram(turned) - along - along[:, None] + self.mean @ self.mean) / (self.x.shape[0] - 1))

    def _between_read(self) -> Floats:
        """Sum the same up over features, as many as fit in memory at a time."""
        total = np.zeros((self.x.shape[0], self.x.shape[0]))
        for where, (slab,) in load_column_blocks([self.x]):
            if sp.issparse(slab):
                slab = float64(slab)
                along = np.asarray(slab @ self.mean[where]).ravel()
                total += (slab @ slab.T).toarray()
                total += self.mean[where] @ self.mean[where] - along - along[:, None]
            else:
                centred = dense64(slab) - self.mean[where]
                total += centred @ centred.T
        return np.asarray(total / (self.x.shape[0] - 1))

    def _from_left(self, values: Floats, left: Floats) -> Floats:
        """Eigenvectors over features from those over observations; none where there is no variance."""
        found = cross(self.x, left - left.mean(axis=0))
        lengths = np.linalg.norm(found, axis=0)
        kept = values > 1e-12 * max(float(values[0]), np.finfo(float).tiny)
        return np.asarray(found * np.where(kept, 1 / np.where(kept, lengths, 1.0), 0.0))

    def _covariance_times(self, v: Floats) -> Floats:
        v = v.reshape(len(self.mean), -1)
        if isinstance(self.x, Chunked):
            return self._covariance_times_read(v)
        seen = matmul(self.x, v)
        seen -= seen.mean(axis=0)
        return np.asarray(cross(self.x, seen) / (self.x.shape[0] - 1))

    def _covariance_times_read(self, v: Floats) -> Floats:
        """Do the same in one pass: dense data is read around its mean, of sparse data the mean is taken off after."""
        n, mean = self.x.shape[0], self.mean if self.x.is_sparse else np.zeros_like(self.mean)
        (total,) = reduce([self.x.centered(self.mean)], partial(_there_and_back, v), add_in_place)
        return np.asarray((total - n * np.outer(mean, mean @ v)) / (n - 1))


def _there_and_back(v: Floats, block: Matrix, _: int, __: Ints) -> Floats:
    block = float64(block) if sp.issparse(block) else dense64(block)
    return np.asarray(block.T @ (block @ v))


def observed(x: Matrix, /) -> Observed:
    """Read the data once."""
    n, m = x.shape
    # of data that is read in runs, both come from one pass
    products = _products_read(x) if gram_fits(x) else None
    mean, variance = mean_and_variance(x)
    if products is None and m <= PRODUCTS_MOST:
        products = gram(x)
    return Observed(x, mean, float(variance.sum()) * n / (n - 1), products)


def _products_read(x: Chunked) -> Floats:
    (sums,) = gram_stats([x])
    return sums.gram(slice(0, x.shape[1]))
