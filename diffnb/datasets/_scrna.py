"""Simulated single-cell counts with genes that differ in mean, spread, distribution or only in correlation."""

from __future__ import annotations

from dataclasses import dataclass

import anndata as ad
import numpy as np
import pandas as pd
from scipy import sparse

from .._keys import BACKGROUND_GROUP
from ._blocks import numbered_names, require_at_least
from ._docs import documented_simulation

SCRNA_CONDITIONS = ("control", "stimulated")
GENE_ROLES = ("null", "mean", "spread", "module_stimulated", "module_shared", "distribution")


@documented_simulation
def scrna(
    *,
    n_cells: int = 1000,
    n_genes: int = 2000,
    n_donors: int = 6,
    paired: bool = False,
    n_cell_types: int = 1,
    n_mean: int = 100,
    n_spread: int = 100,
    n_distribution: int = 0,
    module_size: int = 50,
    mean_shift: float = 0.8,
    spread: float = 0.8,
    distribution: float = 2.0,
    module_strength: float = 0.8,
    donor_effect: float = 0.1,
    dispersion: float = 0.1,
    dropout: float = 0.2,
    library_size: float = 5000.0,
    random_state: int = 0,
) -> ad.AnnData:
    r"""Simulate cells of two conditions from several donors, with every kind of differences between genes.

    The model is that of splatter [Zappia et al., 2017], which the DiSC paper uses in App. E.3, with spread
    and modules added. Cell :math:`c` of donor :math:`d` has library size
    :math:`L_c \sim \operatorname{LogNormal}(\log L, 0.25)`, gene :math:`g` has mean
    :math:`\mu_g \sim \operatorname{Gamma}(0.6, 1/0.3)`, and

    .. math::

        \eta_{cg} &= \log \mu_g + \delta_{dg} + \text{shift}_g + \text{latent}_{cg}, \\
        \lambda_{cg} &= L_c\, e^{\eta_{cg}} / {\textstyle\sum_h} e^{\eta_{ch}}, \\
        y_{cg} &\sim \operatorname{NegBin}(\text{mean } \lambda_{cg}, \text{variance }
        \lambda_{cg} + \phi \lambda_{cg}^2), \\
        P(y_{cg} \text{ lost}) &= m / (m + \lambda_{cg}),

    the last being logistic in :math:`\log \lambda`. Donor effects are :math:`\delta \sim N(0, s_d^2)`. The
    effect of the condition depends on the role of a gene, assigned at random among genes above the median mean:

    - mean: `shift` is half the `log_fold_change` of the gene in stimulated cells and minus half in control
      cells; fold changes are ±\ `mean_shift` with a standard deviation of 0.2;
    - spread: `latent` is :math:`\tau \varepsilon_{cg}` in one condition and 0 in the other, :math:`\tau`
      being `spread`, so that the mean log rate does not change; half of the genes have it in each condition;
    - module_stimulated: `latent` is :math:`w_g \varepsilon_c` in stimulated cells, one :math:`\varepsilon_c`
      for all genes, and :math:`w_g \varepsilon_{cg}` in control cells, so that each gene has the same marginal
      distribution and only the correlation differs;
    - module_shared: one :math:`\varepsilon_c` for all genes in both conditions;
    - distribution: `latent` is :math:`\kappa \varepsilon_{cg}` in one condition, :math:`\kappa` being
      `distribution`, and :math:`\pm \kappa \sqrt{2 / \pi}` with equal probability in the other: one peak or two,
      with the same mean and mean absolute deviation; half of the genes have two peaks in each condition.

    All :math:`\varepsilon \sim N(0, 1)`; :math:`w_g` is `module_strength` times a number between 0.8 and 1.2.

    Parameters
    ----------
    n_cells
        Number of cells in each condition, distributed evenly over donors.
    n_genes
        Number of genes.
    n_donors
        Number of donors in total.
    paired
        Whether each donor has cells in both conditions. Otherwise the first half is control and the second
        stimulated, and `n_donors` must be even.
    n_cell_types
        Number of cell types, in equal proportions. With more than one, each has markers: 5 % of the null genes
        have 1 added to their log mean in that type.
    n_mean, n_spread, n_distribution
        Numbers of genes that differ in mean, in spread, and in the shape of their distribution.
    module_size
        Number of genes in each of the two modules.
    mean_shift, spread, distribution, module_strength
        Sizes of the four differences, in natural logarithms of the rate.
    donor_effect
        Standard deviation of the donor effects on the log rate.
    dispersion
        :math:`\phi`; 0 for Poisson counts.
    dropout
        :math:`m`, the rate at which half of the counts are lost; 0 for no dropout.
    library_size
        Median library size :math:`L`.
    random_state

    Returns
    -------
    `X` holds log1p of counts scaled to 10,000 per cell, `layers["counts"]` the counts, both CSR float32. `obs`
    has `condition`, `donor` and `cell_type`. `var` has the role of each gene in `truth`, its `log_fold_change`, in
    `spread_in` the condition in which it has the larger spread, in `marker_of` the cell type that it marks, and in
    `truth_control` and `truth_stimulated` the groups whose connectivity is particular to a condition; with
    `n_distribution`, also in `two_peaks_in` the condition in which it has two peaks.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.scrna(n_cells=60, n_genes=800)
    >>> adata.shape
    (120, 800)
    >>> adata.var["truth"].value_counts(sort=False).to_dict()
    {'null': 500, 'mean': 100, 'spread': 100, 'module_stimulated': 50, 'module_shared': 50}
    """
    require_at_least(0, n_mean=n_mean, n_spread=n_spread, n_distribution=n_distribution, module_size=module_size)
    require_at_least(0, spread=spread, distribution=distribution)
    require_at_least(0, donor_effect=donor_effect, dispersion=dispersion, dropout=dropout)
    require_at_least(1, n_cell_types=n_cell_types, library_size=library_size)
    donors = _donors_of(n_donors, paired)
    require_at_least(max(map(len, donors.values())), n_cells=n_cells)

    rng = np.random.default_rng(random_state)
    log_mean = np.log(rng.gamma(0.6, 1 / 0.3, size=n_genes) + 1e-8)
    role = _assign_roles(log_mean, [n_mean, n_spread, module_size, module_size, n_distribution], rng)
    genes = _Genes(
        role=role,
        log_mean=log_mean,
        log_fold_change=np.where(
            role == "mean", rng.choice([-1, 1], n_genes) * rng.normal(mean_shift, 0.2, n_genes), 0.0
        ),
        spread_in=_alternate(role == "spread", rng),
        weight=module_strength * rng.uniform(0.8, 1.2, n_genes),
        marker_of=_assign_markers(role, n_cell_types, rng),
        two_peaks_in=_alternate(role == "distribution", rng),
    )
    donor_shift = donor_effect * rng.standard_normal((n_donors, n_genes))

    batches, obs = [], []
    for condition in SCRNA_CONDITIONS:
        for donor, size in zip(donors[condition], _shares(n_cells, len(donors[condition])), strict=True):
            cell_type = rng.integers(n_cell_types, size=size)
            eta = genes.log_rate(condition, cell_type, spread, distribution, rng) + donor_shift[donor]
            depth = rng.lognormal(np.log(library_size), 0.25, size=(size, 1))
            batches.append(_draw_counts(eta, depth, dispersion, dropout, rng))
            obs.append(_describe(condition, donor, cell_type))
    return _annotate(sparse.vstack(batches, format="csr"), pd.concat(obs), genes, n_cells, n_donors)


@dataclass(frozen=True, slots=True)
class _Genes:
    """Properties of genes that do not depend on the cell."""

    role: np.ndarray
    log_mean: np.ndarray
    log_fold_change: np.ndarray
    spread_in: np.ndarray  # condition, or "none"
    weight: np.ndarray
    marker_of: np.ndarray  # number of the cell type, −1 for none
    two_peaks_in: np.ndarray  # condition, or "none"

    def log_rate(
        self, condition: str, cell_type: np.ndarray, spread: float, distribution: float, rng: np.random.Generator
    ) -> np.ndarray:
        """Log rate of each cell and gene before donor and depth; cells × genes."""
        stimulated = condition == "stimulated"
        eta = np.tile(self.log_mean, (len(cell_type), 1))
        eta += self.marker_of == cell_type[:, None]
        # half in each direction, so that totals of cells, and with them normalised null genes, do not change
        eta += self.log_fold_change * (0.5 if stimulated else -0.5)
        _add_latent(eta, self.spread_in == condition, np.full(eta.shape[1], spread), rng, common=False)
        _add_latent(eta, self.role == "module_stimulated", self.weight, rng, common=stimulated)
        _add_latent(eta, self.role == "module_shared", self.weight, rng, common=True)
        shaped, peaked = self.role == "distribution", self.two_peaks_in == condition
        _add_latent(eta, shaped & ~peaked, np.full(eta.shape[1], distribution), rng, common=False)
        # the mean of |κε|, so that the mean absolute deviation is that of one peak
        height = distribution * np.sqrt(2 / np.pi)
        eta[:, peaked] += height * rng.choice([-1.0, 1.0], size=(len(eta), np.count_nonzero(peaked)))
        return eta


def _add_latent(
    eta: np.ndarray, genes: np.ndarray, weight: np.ndarray, rng: np.random.Generator, *, common: bool
) -> None:
    """Add w ε to some genes, with one ε per cell or one per entry."""
    epsilon = rng.standard_normal((len(eta), 1 if common else np.count_nonzero(genes)))
    eta[:, genes] += weight[genes] * epsilon


def _donors_of(n_donors: int, paired: bool) -> dict[str, list[int]]:
    """Donors of each condition, counted from zero."""
    everyone = list(range(n_donors))
    if paired:
        require_at_least(1, n_donors=n_donors)
        return dict.fromkeys(SCRNA_CONDITIONS, everyone)
    if n_donors < 2 or n_donors % 2:
        raise ValueError(
            f"n_donors={n_donors} cannot be halved between two conditions; choose an even number, "
            "or paired=True, with which each donor has both conditions."
        )
    return dict(zip(SCRNA_CONDITIONS, (everyone[: n_donors // 2], everyone[n_donors // 2 :]), strict=True))


def _shares(total: int, parts: int) -> list[int]:
    """Split `total` into integers that differ by at most one."""
    return [total // parts + (i < total % parts) for i in range(parts)]


def _assign_roles(log_mean: np.ndarray, sizes: list[int], rng: np.random.Generator) -> np.ndarray:
    """Assign the roles after the first to random genes above the median mean."""
    expressed = np.flatnonzero(log_mean >= np.median(log_mean))
    if sum(sizes) > len(expressed):
        raise ValueError(
            f"n_genes={len(log_mean)} is too small: n_mean + n_spread + n_distribution + 2 * module_size = "
            f"{sum(sizes)} genes need a role, which only the higher expressed half can have; "
            f"choose at least {2 * sum(sizes)}."
        )
    chosen = rng.permutation(expressed)
    role = np.full(len(log_mean), GENE_ROLES[0], dtype=object)
    for name, genes in zip(GENE_ROLES[1:], np.split(chosen, np.cumsum(sizes)), strict=False):
        role[genes] = name
    return role


def _alternate(chosen: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Distribute the chosen genes over the conditions, in random order."""
    condition = np.full(len(chosen), "none", dtype=object)
    genes = rng.permutation(np.flatnonzero(chosen))
    for i, name in enumerate(SCRNA_CONDITIONS):
        condition[genes[i::2]] = name
    return condition


def _assign_markers(role: np.ndarray, n_cell_types: int, rng: np.random.Generator) -> np.ndarray:
    """Cell type that each null gene marks, −1 for none."""
    marker_of = np.full(len(role), -1)
    null = rng.permutation(np.flatnonzero(role == "null"))
    if n_cell_types > 1:
        size = min(len(null) // 20, len(null) // n_cell_types)
        for cell_type in range(n_cell_types):
            marker_of[null[cell_type * size : (cell_type + 1) * size]] = cell_type
    return marker_of


def _draw_counts(
    eta: np.ndarray, depth: np.ndarray, dispersion: float, dropout: float, rng: np.random.Generator
) -> sparse.csr_matrix:
    """Draw counts from log rates, with dropout."""
    share = np.exp(eta)
    rate = depth * share / share.sum(axis=1, keepdims=True)
    if dispersion > 0:
        counts = rng.poisson(rng.gamma(1 / dispersion, dispersion * rate))
    else:
        counts = rng.poisson(rate)
    if dropout > 0:
        counts[rng.random(counts.shape) < dropout / (dropout + rate)] = 0
    return sparse.csr_matrix(counts, dtype=np.float32)


def _describe(condition: str, donor: int, cell_type: np.ndarray) -> pd.DataFrame:
    """`obs` of one batch of cells."""
    return pd.DataFrame(
        {
            "condition": condition,
            "donor": f"donor_{donor + 1}",
            "cell_type": [f"type_{t + 1}" for t in cell_type],
        }
    )


def _annotate(counts: sparse.csr_matrix, obs: pd.DataFrame, genes: _Genes, n_cells: int, n_donors: int) -> ad.AnnData:
    """Normalise the counts, and add names and truth."""
    obs.index = pd.Index(numbered_names(SCRNA_CONDITIONS, [n_cells, n_cells]))
    obs["condition"] = pd.Categorical(obs["condition"], categories=list(SCRNA_CONDITIONS))
    obs["donor"] = pd.Categorical(obs["donor"], categories=[f"donor_{i + 1}" for i in range(n_donors)])
    obs["cell_type"] = pd.Categorical(obs["cell_type"])
    module = np.where(genes.role == "module_stimulated", "module_stimulated", BACKGROUND_GROUP)
    marker = [f"type_{t + 1}" if t >= 0 else "none" for t in genes.marker_of]
    planted = "distribution" in genes.role
    var = pd.DataFrame(
        {
            "truth": pd.Categorical(genes.role, categories=list(GENE_ROLES if planted else GENE_ROLES[:-1])),
            "log_fold_change": genes.log_fold_change,
            "spread_in": pd.Categorical(genes.spread_in, categories=["none", *SCRNA_CONDITIONS]),
            "marker_of": pd.Categorical(marker),
            "truth_control": pd.Categorical(np.full(len(module), BACKGROUND_GROUP)),
            "truth_stimulated": pd.Categorical(module, categories=[BACKGROUND_GROUP, "module_stimulated"]),
        },
        index=numbered_names(["gene"], [len(module)]),
    )
    if planted:
        var["two_peaks_in"] = pd.Categorical(genes.two_peaks_in, categories=["none", *SCRNA_CONDITIONS])
    totals = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1)
    scaled = (sparse.diags(1e4 / totals) @ counts).log1p().astype(np.float32)
    return ad.AnnData(scaled.tocsr(), obs=obs, var=var, layers={"counts": counts})
