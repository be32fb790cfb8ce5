"""The sample covariance: read once, used by every step, and formed only where it is small."""

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

#: features, or observations, of which all inner products are computed
MAX_GRAM_POINTS = 5000
#: eigenvalues below this share of the largest have no eigenvector that is more than rounding
MIN_RELATIVE_PC_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True)
class PrincipalComponents:
    """Leading eigenvalues of the sample covariance, and their eigenvectors."""

    values: Floats
    #: features × components, without columns where not asked for
    vectors: Floats


@dataclass(frozen=True, slots=True)
class SampleCovariance:
    """Observations × features, with what one pass over them gives of their covariance."""

    x: Matrix
    mean: Floats
    trace: float
    #: inner products of features, not centred; `None` where there are too many
    products: Floats | None

    @property
    def shape(self) -> tuple[int, int]:
        """Observations and features."""
        return int(self.x.shape[0]), int(self.x.shape[1])

    def leading(self, count: int, /, *, seed: int = 0, vectors: bool = True) -> PrincipalComponents:
        """Leading eigenvalues and eigenvectors."""
        n, m = self.shape
        if m <= n and self.products is not None:
            values, found = leading_eigenpairs(self._dense(), count, seed=seed)
        elif n <= MAX_GRAM_POINTS:
            values, left = leading_eigenpairs(self.between_observations(), count, seed=seed)
            found = self._from_left(values, left) if vectors else np.empty((m, 0))
        else:
            operator = LinearOperator((m, m), matvec=lambda v: self.times(v).ravel(), dtype=np.float64)
            values, found = leading_eigenpairs(operator, count, seed=seed)
        return PrincipalComponents(np.maximum(values, 0.0), found)

    def spectrum(self, *, seed: int = 0) -> tuple[Floats, int, int]:
        """All eigenvalues, and the numbers of observations and features that they are of.

        Of many observations and features, some observations are drawn.
        """
        n, m = self.shape
        if m <= n and self.products is not None:
            symmetric, rank = self._dense(), min(m, n - 1)
        elif n <= MAX_GRAM_POINTS:
            symmetric, rank = self.between_observations(), min(m, n - 1)
        else:
            drawn = np.sort(generator(seed, "subsample").choice(n, MAX_GRAM_POINTS, replace=False))
            return sample_covariance(take_rows(self.x, drawn)).spectrum()
        values = np.linalg.eigvalsh(symmetric)[::-1]
        return np.maximum(values[:rank], 0.0), n, m

    def _dense(self) -> Floats:
        n = self.x.shape[0]
        return np.asarray((self.products - n * np.outer(self.mean, self.mean)) / (n - 1))

    def between_observations(self) -> Floats:
        """Inner products of centred observations over n − 1, which have the same eigenvalues other than zero."""
        if isinstance(self.x, Chunked):
            return self._between_observations_read()
        transposed = self.x.T if isinstance(self.x, np.ndarray) else self.x.T.tocsr()
        along = matmul(self.x, self.mean[:, None]).ravel()
        return np.asarray((gram(transposed) - along - along[:, None] + self.mean @ self.mean) / (self.x.shape[0] - 1))

    def _between_observations_read(self) -> Floats:
        """Sum the same over column blocks, as many columns at a time as fit in memory."""
        total = np.zeros((self.x.shape[0], self.x.shape[0]))
        for where, (block,) in load_column_blocks([self.x]):
            if sp.issparse(block):
                block = float64(block)
                along = np.asarray(block @ self.mean[where]).ravel()
                total += (block @ block.T).toarray()
                total += self.mean[where] @ self.mean[where] - along - along[:, None]
            else:
                centered = dense64(block) - self.mean[where]
                total += centered @ centered.T
        return np.asarray(total / (self.x.shape[0] - 1))

    def _from_left(self, values: Floats, left: Floats) -> Floats:
        """Eigenvectors over features from those over observations; zero where there is no variance."""
        found = cross(self.x, left - left.mean(axis=0))
        lengths = np.linalg.norm(found, axis=0)
        kept = values > MIN_RELATIVE_PC_VARIANCE * max(float(values[0]), np.finfo(float).tiny)
        return np.asarray(found * np.where(kept, 1 / np.where(kept, lengths, 1.0), 0.0))

    def times(self, v: Floats, /) -> Floats:
        """Covariance times a vector, or vectors in columns."""
        v = v.reshape(len(self.mean), -1)
        if isinstance(self.x, Chunked):
            return self._times_read(v)
        projected = matmul(self.x, v)
        projected -= projected.mean(axis=0)
        return np.asarray(cross(self.x, projected) / (self.x.shape[0] - 1))

    def _times_read(self, v: Floats) -> Floats:
        """Multiply in one pass: dense data is centred as it is read, sparse products are centred afterwards."""
        n, mean = self.x.shape[0], self.mean if self.x.is_sparse else np.zeros_like(self.mean)
        (total,) = reduce([self.x.centered(self.mean)], partial(_gram_times, v), add_in_place)
        return np.asarray((total - n * np.outer(mean, mean @ v)) / (n - 1))


def _gram_times(v: Floats, block: Matrix, _: int, __: Ints) -> Floats:
    block = float64(block) if sp.issparse(block) else dense64(block)
    return np.asarray(block.T @ (block @ v))


def sample_covariance(x: Matrix, /) -> SampleCovariance:
    """Read the data once."""
    n, m = x.shape
    # of data that is read in row blocks, both come from one pass
    products = _gram_read(x) if gram_fits(x) else None
    mean, variance = mean_and_variance(x)
    if products is None and m <= MAX_GRAM_POINTS:
        products = gram(x)
    return SampleCovariance(x, mean, float(variance.sum()) * n / (n - 1), products)


def _gram_read(x: Chunked) -> Floats:
    (sums,) = gram_stats([x])
    return sums.gram(slice(0, x.shape[1]))
