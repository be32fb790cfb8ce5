"""Planted groups of equally correlated features, of any size."""

from __future__ import annotations

from string import ascii_uppercase

import anndata as ad
import numpy as np

from ._blocks import Block, assemble, require_at_least, require_between, with_factor
from ._docs import documented_dataset


@documented_dataset
def planted_groups(
    *,
    n_features: int = 5000,
    n_obs: int = 200,
    group_size: int = 50,
    n_groups: int = 2,
    n_shared: int = 2,
    rho: float = 0.6,
    n_conditions: int = 2,
    random_state: int = 0,
) -> ad.AnnData:
    r"""Plant equally correlated groups in noise of unit variance, some of them in one condition only.

    A feature of a group is :math:`x_j = \sqrt{\rho}\, f + \sqrt{1 - \rho}\, e_j` with one factor
    :math:`f \sim N(0, 1)` per group and :math:`e_j \sim N(0, 1)`; elsewhere it is :math:`e_j`. Every feature
    has mean 0 and variance 1 in every condition, so that conditions differ in correlation only.

    Parameters
    ----------
    n_features
        Number of all features; those outside groups are noise and come first.
    {n_obs}
    group_size
        Features in each group.
    n_groups
        Groups particular to each condition.
    n_shared
        Groups that every condition has.
    rho
        Correlation within a group, from 0 to 1.
    n_conditions
        Conditions, named A, B, C and so on; at most 26.
    {random_state}

    Returns
    -------
    Conditions in `obs["condition"]`; `block` and one `truth_…` column for each condition in `var`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.planted_groups(n_features=100, n_obs=20, group_size=10)
    >>> adata.var["block"].value_counts(sort=False).to_dict()
    {'noise': 40, 'shared_1': 10, 'shared_2': 10, 'A1': 10, 'A2': 10, 'B1': 10, 'B2': 10}
    """
    require_at_least(1, group_size=group_size)
    require_at_least(2, n_obs=n_obs)
    require_at_least(0, n_groups=n_groups, n_shared=n_shared)
    require_between(0.0, 1.0, rho=rho)
    require_between(1, len(ascii_uppercase), n_conditions=n_conditions)
    conditions = list(ascii_uppercase[:n_conditions])
    groups = [Block(f"shared_{i + 1}", group_size) for i in range(n_shared)]
    groups += [Block(f"{c}{i + 1}", group_size, c) for c in conditions for i in range(n_groups)]
    n_noise = n_features - group_size * len(groups)
    if n_noise < 0:
        raise ValueError(
            f"n_features={n_features} is too small for {len(groups)} groups of group_size={group_size}; "
            f"choose at least {group_size * len(groups)} features, or fewer or smaller groups."
        )
    blocks = [Block("noise", n_noise), *groups] if n_noise else groups
    rng = np.random.default_rng(random_state)
    matrices = {c: _factor_model(c, blocks, n_obs, rho, rng) for c in conditions}
    return assemble(matrices, blocks)


def _factor_model(condition: str, blocks: list[Block], n_obs: int, rho: float, rng: np.random.Generator) -> np.ndarray:
    """Noise, with one factor added to each block that the condition has."""
    values = rng.standard_normal((n_obs, sum(block.size for block in blocks)))
    stop = 0
    for block in blocks:
        start, stop = stop, stop + block.size
        if block.name != "noise" and block.owner in ("", condition):
            values[:, start:stop] = with_factor(values[:, start:stop], rho, rng)
    return values
