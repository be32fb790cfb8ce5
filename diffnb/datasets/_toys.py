"""The toy problems of the DiSC paper."""

from __future__ import annotations

import anndata as ad
import numpy as np

from ._blocks import (
    Block,
    correlated_covariance,
    gaussian_toy,
    noise_covariance,
    random_basis,
    random_covariance,
    require_between,
)
from ._docs import documented_dataset

_NEWLY_CONNECTED = [
    Block("noise", 100),
    Block("shared_1", 25),
    Block("shared_2", 25),
    Block("A1", 25, "A"),
    Block("A2", 25, "A"),
    Block("B1", 25, "B"),
    Block("B2", 25, "B"),
]


@documented_dataset
def newly_connected(*, n_obs: int = 10_000, random_state: int = 0) -> ad.AnnData:
    r"""Connect features in one condition that are noise in the other (DiSC, Sec. 4.1, Fig. 2).

    Of 250 features, 1–100 are noise in both conditions, 101–125 and 126–150 are correlated in both with the
    same covariance, 151–175 and 176–200 are correlated in A only, 201–225 and 226–250 in B only.

    A correlated block of :math:`b` features has covariance :math:`C C^\top`,
    :math:`C = |V \operatorname{diag}(\lambda) V^\top|` entry by entry, :math:`V` random orthogonal,
    :math:`\lambda_i \propto e^{-i}` and :math:`\sum_i \lambda_i = b`. Noise is :math:`N(0, 0.8^2)`. All
    values are multiplied by 0.005.

    Parameters
    ----------
    {n_obs}
    {random_state}

    Returns
    -------
    Conditions in `obs["condition"]`; in `var`, the `block` of each feature and the group that is particular
    to each condition (`truth_A`, `truth_B`); the covariances themselves in `varp["covariance_A"]` and so on.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=100)
    >>> adata.shape
    (200, 250)
    >>> adata.var["truth_A"].value_counts().to_dict()
    {'background': 200, 'A1': 25, 'A2': 25}
    """
    rng = np.random.default_rng(random_state)
    bases = [random_basis(25, rng) for _ in range(6)]
    covariances = _newly_connected_covariances(bases, [noise_covariance(25)] * 2)
    return gaussian_toy(_NEWLY_CONNECTED, covariances, n_obs=n_obs, scale=0.005, rng=rng)


@documented_dataset
def partial_correlation(p: float = 1.0, *, n_obs: int = 10_000, random_state: int = 0) -> ad.AnnData:
    r"""Connect features in A and, to a varying degree, in B (DiSC, App. E.4, Fig. 12).

    As :func:`newly_connected`, except that features 151–200 in B are not noise but have covariance
    :math:`C C^\top`, :math:`C = |V \operatorname{diag}(\lambda) V^\top|`, with the :math:`V` of A and
    :math:`\lambda_i \propto e^{-ip}`, where A has :math:`p = 1`.

    Parameters
    ----------
    p
        Correlation of features 151–200 in B: independent at 0, the same as in A at 1.
    {n_obs}
    random_state
        Seed; the same seed gives the same bases for every `p`, so that only the correlation changes.

    Returns
    -------
    As :func:`newly_connected`. At `p=1` nothing is particular to A and `truth_A` is background throughout.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.partial_correlation(0.5, n_obs=100)
    >>> float(adata.uns["simulation"]["p"])
    0.5
    """
    require_between(0.0, 1.0, p=p)
    rng = np.random.default_rng(random_state)
    bases = [random_basis(25, rng) for _ in range(6)]
    partly = [correlated_covariance(basis, decay=p) for basis in bases[2:4]]
    covariances = _newly_connected_covariances(bases, partly)
    blocks = _NEWLY_CONNECTED
    if p == 1.0:
        blocks = [Block(b.name, b.size) if b.owner == "A" else b for b in blocks]
    adata = gaussian_toy(blocks, covariances, n_obs=n_obs, scale=0.005, rng=rng)
    adata.uns["simulation"] = {"p": float(p)}
    return adata


@documented_dataset
def subsets_of_connected(*, n_obs: int = 10_000, split: int = 25, random_state: int = 0) -> ad.AnnData:
    """Split a group of A into two in B (DiSC, Sec. 4.1, Fig. 3).

    Of 200 features, 1–100 are one correlated block in both conditions. Features 101–200 are one block in A;
    in B the first `split` of them and the rest are independent of one another. Within each part B has the
    covariance of A, so that only the connection between the parts differs. Nothing is particular to A.

    Covariances are drawn as in :func:`newly_connected`; all values are multiplied by 0.001.

    Parameters
    ----------
    {n_obs}
    split
        Number of features of the first part, 1–99. The paper states 25, its published code uses 20.
    {random_state}

    Returns
    -------
    As :func:`newly_connected`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.subsets_of_connected(n_obs=100)
    >>> adata.var["truth_B"].value_counts().to_dict()
    {'background': 100, 'B2': 75, 'B1': 25}
    """
    require_between(1, 99, split=split)
    rng = np.random.default_rng(random_state)
    shared, whole = random_covariance(100, rng), random_covariance(100, rng)
    blocks = [Block("shared_1", 100), Block("B1", split, "B"), Block("B2", 100 - split, "B")]
    covariances = {"A": [shared, whole], "B": [shared, *_split_covariance(whole, split)]}
    return gaussian_toy(blocks, covariances, n_obs=n_obs, scale=0.001, rng=rng)


@documented_dataset
def split_both_ways(*, n_obs: int = 10_000, random_state: int = 0) -> ad.AnnData:
    """Split a group of each condition into two in the other (DiSC, App. E, Fig. 7).

    Of 200 features, 1–100 are one correlated block in B and two, 1–75 and 76–100, in A; 101–200 are one block
    in A and two, 101–125 and 126–200, in B. Each part has the covariance that it has within the whole.

    Covariances are drawn as in :func:`newly_connected`; all values are multiplied by 0.001.

    Parameters
    ----------
    {n_obs}
    {random_state}

    Returns
    -------
    As :func:`newly_connected`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.split_both_ways(n_obs=100)
    >>> adata.var["block"].value_counts(sort=False).to_dict()
    {'A1': 75, 'A2': 25, 'B1': 25, 'B2': 75}
    """
    rng = np.random.default_rng(random_state)
    first, second = random_covariance(100, rng), random_covariance(100, rng)
    blocks = [Block("A1", 75, "A"), Block("A2", 25, "A"), Block("B1", 25, "B"), Block("B2", 75, "B")]
    covariances = {"A": [*_split_covariance(first, 75), second], "B": [first, *_split_covariance(second, 25)]}
    return gaussian_toy(blocks, covariances, n_obs=n_obs, scale=0.001, rng=rng)


@documented_dataset
def three_conditions(*, n_obs: int = 10_000, random_state: int = 0) -> ad.AnnData:
    """Give groups to one, two or all of three conditions (DiSC, App. D, Fig. 6).

    Of 400 features, 1–100 are noise. Then come pairs of correlated blocks of 25 features: 101–150 in all
    conditions, 151–200 in A and C, 201–250 in B only, 251–300 in B and C, 301–350 in A only, 351–400 in C
    only. A block has the same covariance in every condition that has it and is noise in the others.

    Covariances are drawn as in :func:`newly_connected`; all values are multiplied by 0.005.

    Parameters
    ----------
    {n_obs}
    {random_state}

    Returns
    -------
    As :func:`newly_connected`, with conditions A, B and C.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.three_conditions(n_obs=100)
    >>> adata.var_names[adata.var["truth_B"] == "B1"][[0, -1]].tolist()
    ['feature_201', 'feature_225']
    """
    rng = np.random.default_rng(random_state)
    blocks = [Block("noise", 100)]
    covariances = {condition: [noise_covariance(100)] for condition in "ABC"}
    for members in ("ABC", "AC", "B", "BC", "A", "C"):
        for number in (1, 2):
            own = len(members) == 1
            name = f"{members}{number}" if own else f"shared_{members}_{number}"
            blocks.append(Block(name, 25, members if own else ""))
            covariance = random_covariance(25, rng)
            for condition, sigmas in covariances.items():
                sigmas.append(covariance if condition in members else noise_covariance(25))
    return gaussian_toy(blocks, covariances, n_obs=n_obs, scale=0.005, rng=rng)


def _newly_connected_covariances(
    bases: list[np.ndarray], groups_of_a_in_b: list[np.ndarray]
) -> dict[str, list[np.ndarray]]:
    """Covariances of the blocks of `newly_connected` in both conditions."""
    shared_1, shared_2, a1, a2, b1, b2 = (correlated_covariance(basis) for basis in bases)
    common, noise = [noise_covariance(100), shared_1, shared_2], noise_covariance(25)
    return {"A": [*common, a1, a2, noise, noise], "B": [*common, *groups_of_a_in_b, b1, b2]}


def _split_covariance(covariance: np.ndarray, split: int) -> list[np.ndarray]:
    """Return the two diagonal blocks of a covariance, which are then no longer connected."""
    return [covariance[:split, :split], covariance[split:, split:]]
