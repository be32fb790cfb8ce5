"""Simulated working-memory fMRI: parcels in networks whose coupling follows the task."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
from scipy.signal import lfilter
from scipy.stats import gamma

from .._keys import BACKGROUND_GROUP
from ._blocks import require_at_least, require_between
from ._import import from_parcels

#: time between scans, as in the Human Connectome Project
T_R_SECONDS = 0.72
#: delay of the response that is assigned to a block (4.3 s)
DELAY_SCANS = 6
#: rest after each block, which is left out
REST_SCANS = 10

#: parcels in each network, from the 268-parcel atlas and the ten networks of its authors
NETWORK_SIZES = {
    "MF": 29,
    "FP": 34,
    "DMN": 20,
    "Mot": 50,
    "VI": 18,
    "VII": 9,
    "VAs": 18,
    "SAL": 30,
    "SC": 29,
    "CBL": 31,
}
# mean squared loading of a parcel on its network outside the contrast of the task
_COUPLING = {"VI": 0.55, "VAs": 0.5, "Mot": 0.45}
_USUAL_COUPLING = 0.4
# share of each network's signal that is common to the whole brain
_GLOBAL_SHARE = 0.1
# right-hemisphere centres in millimetres, placed by anatomy
_CENTRES = {
    "MF": [(8, 46, 22), (46, 26, -2), (54, -42, 14)],
    "FP": [(42, 28, 32), (46, -52, 44), (36, 52, 4), (60, -36, -12)],
    "DMN": [(7, -54, 26), (44, -64, 32), (7, 50, -6)],
    "Mot": [(38, -22, 54), (54, -8, 26), (9, -14, 62), (46, -18, 8)],
    "VI": [(11, -76, 8), (16, -58, 0)],
    "VII": [(26, -88, -8)],
    "VAs": [(40, -66, -8), (30, -62, 44)],
    "SAL": [(36, 18, 2), (7, 18, 36), (28, 44, 26)],
    "SC": [(11, -16, 8), (22, 4, 0), (25, -20, -16)],
    "CBL": [(20, -56, -32), (36, -60, -42), (8, -66, -24)],
}


def nback_fmri(
    *,
    n_subjects: int = 10,
    n_blocks: int = 8,
    block_length: int = 38,
    contrast: float = 0.4,
    noise: float = 0.5,
    random_state: int = 0,
) -> ad.AnnData:
    r"""Simulate subjects who do blocks of 0-back and 2-back in turn (after DiSC, Sec. 4.4).

    There are 268 parcels in ten networks. In network :math:`k`, at scan :math:`t` of condition :math:`c`, the
    input of parcel :math:`j` is

    .. math:: a_{jt} = \sqrt{\rho_{kc}}\, b_j\, u_{kt} + \sqrt{1 - \rho_{kc}}\, e_{jt},
              \qquad u_k = \sqrt{0.9}\, v_k + \sqrt{0.1}\, v_0,

    with white :math:`v, e \sim N(0, 1)` and loadings :math:`b_j \sim N(1, 0.15^2)`, drawn for each subject. The
    signal is :math:`a_j` convolved with the double-gamma response
    :math:`h(t) = t^5 e^{-t}/5! - t^{15} e^{-t}/(6 \cdot 15!)`, plus white measurement noise, and is
    standardised for each subject. The condition enters through the coupling alone: :math:`\rho` of the
    fronto-parietal network FP is :math:`0.4 + q/2` in 2-back and :math:`0.4 - q/2` in 0-back, :math:`q`
    being `contrast`; that of the visual network VII has the opposite signs. Elsewhere it does not change: 0.55
    in VI, 0.5 in VAs, 0.45 in Mot, 0.4 in the rest. The visual networks are therefore the strongest, and the
    differences between tasks are not among the leading components of variance.

    Coordinates are plausible positions, mirrored left and right, not those of a real atlas.

    Parameters
    ----------
    n_subjects
        Number of subjects.
    n_blocks
        Blocks of each condition for each subject; every other subject begins with 2-back.
    block_length
        Scans in a block, 0.72 s each.
    contrast
        How much the coupling of FP and VII differs between conditions, from 0 (no difference) to 0.8.
    noise
        Standard deviation of the measurement noise relative to a signal of 1; varies by subject.
    random_state
        Seed; the same seed gives the same numbers. Coordinates do not depend on it.

    Returns
    -------
    Scans × parcels in float32. `obs` has `condition`, `subject`, `block` and `time` in seconds; `var` has
    `network`, `hemisphere`, `x`, `y`, `z`, and in `truth_0-back` and `truth_2-back` the networks whose
    coupling is stronger in a condition.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nback_fmri(n_subjects=2, n_blocks=1)
    >>> adata.shape
    (152, 268)
    >>> adata.var["truth_2-back"].value_counts().to_dict()
    {'background': 234, 'FP': 34}
    """
    require_at_least(1, n_subjects=n_subjects, n_blocks=n_blocks, block_length=block_length)
    require_between(0.0, 0.8, contrast=contrast)
    require_at_least(0, noise=noise)
    rng = np.random.default_rng(random_state)
    networks = np.repeat(list(NETWORK_SIZES), list(NETWORK_SIZES.values()))
    coupling = {task: _coupling(networks, task, contrast) for task in ("0-back", "2-back")}

    runs, designs = [], []
    for subject in range(n_subjects):
        design = _design(n_blocks, block_length, first=("0-back", "2-back")[subject % 2])
        runs.append(_record(design, networks, coupling, noise, rng))
        designs.append(design.loc[design["block"] > 0])
    coordinates = _parcel_centres()
    adata = from_parcels(
        [run.astype(np.float32) for run in runs],
        conditions=[design["condition"].to_numpy() for design in designs],
        subjects=[f"subject_{i + 1:02d}" for i in range(n_subjects)],
        networks=networks,
        coordinates=coordinates,
    )
    timing = pd.concat(designs)
    adata.obs["block"] = timing["block"].to_numpy()
    adata.obs["time"] = timing["time"].to_numpy()
    del adata.obs["run"]
    adata.obs_names = [f"{s}_{t:.2f}s" for s, t in zip(adata.obs["subject"], adata.obs["time"], strict=True)]
    adata.var["hemisphere"] = pd.Categorical(np.where(coordinates[:, 0] > 0, "R", "L"))
    for task, network in (("0-back", "VII"), ("2-back", "FP")):
        truth = np.where((networks == network) & (contrast > 0), network, BACKGROUND_GROUP)
        adata.var[f"truth_{task}"] = pd.Categorical(truth, categories=[BACKGROUND_GROUP, network])
    return adata


def haemodynamic_response() -> np.ndarray:
    """Double-gamma response over 32 s, sampled at each scan; unit energy preserves the variance of white noise."""
    time = np.arange(0, 32, T_R_SECONDS)
    response = gamma.pdf(time, 6) - gamma.pdf(time, 16) / 6
    return np.asarray(response / np.linalg.norm(response))


def _coupling(networks: np.ndarray, task: str, contrast: float) -> np.ndarray:
    """ρ of each parcel in a condition."""
    half = contrast / 2 if task == "2-back" else -contrast / 2
    by_network = _COUPLING | {"FP": _USUAL_COUPLING + half, "VII": _USUAL_COUPLING - half}
    return np.array([by_network.get(str(network), _USUAL_COUPLING) for network in networks])


def _design(n_blocks: int, block_length: int, *, first: str) -> pd.DataFrame:
    """One row per scan: its time, condition and block, 0 during rest."""
    second = {"0-back": "2-back", "2-back": "0-back"}[first]
    period = block_length + REST_SCANS
    scan = np.arange(2 * n_blocks * period)
    order = np.array([first, second])
    in_block = scan % period < block_length
    return pd.DataFrame(
        {
            "time": T_R_SECONDS * (scan + DELAY_SCANS),
            "condition": order[scan // period % 2],
            "block": np.where(in_block, scan // period + 1, 0),
        }
    )


def _record(
    design: pd.DataFrame,
    networks: np.ndarray,
    coupling: dict[str, np.ndarray],
    noise: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Signal of one subject at the scans within blocks, each parcel standardised."""
    lead_in = len(haemodynamic_response())
    n_scans, n_parcels = len(design), len(networks)
    names, network_of = np.unique(networks, return_inverse=True)
    tasks = design["condition"].to_numpy()
    # the task begins before the first scan, so that the response is stationary from there on
    tasks = np.concatenate([np.repeat(tasks[:1], lead_in), tasks, np.repeat(tasks[-1:], DELAY_SCANS)])
    rho = np.where((tasks == "2-back")[:, None], coupling["2-back"], coupling["0-back"])

    common = rng.standard_normal((len(tasks), 1))
    own = rng.standard_normal((len(tasks), len(names)))
    latent = np.sqrt(1 - _GLOBAL_SHARE) * own + np.sqrt(_GLOBAL_SHARE) * common
    loading = rng.normal(1.0, 0.15, size=n_parcels)
    private = rng.standard_normal((len(tasks), n_parcels))
    neural = np.sqrt(rho) * loading * latent[:, network_of] + np.sqrt(1 - rho) * private

    bold = lfilter(haemodynamic_response(), [1.0], neural, axis=0)[lead_in + DELAY_SCANS :][:n_scans]
    bold += noise * rng.lognormal(0.0, 0.2) * rng.standard_normal(bold.shape)
    bold = bold[design["block"].to_numpy() > 0]
    return np.asarray((bold - bold.mean(axis=0)) / bold.std(axis=0))


def _parcel_centres() -> np.ndarray:
    """Coordinates of the parcels, right then left in each network, from a fixed seed."""
    rng = np.random.default_rng(268)
    places = []
    for network, size in NETWORK_SIZES.items():
        centres = np.array(_CENTRES[network], dtype=float)
        n_right = size - size // 2
        right = centres[np.arange(n_right) % len(centres)] + rng.normal(0.0, 6.0, size=(n_right, 3))
        # neither across the midline nor outside the head
        right = np.clip(right, [3.0, -98.0, -54.0], [64.0, 66.0, 72.0])
        places += [right, right[: size // 2] * [-1.0, 1.0, 1.0]]
    return np.concatenate(places).round(1)
