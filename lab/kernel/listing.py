"""The AnnData objects of a kernel, for the sidebar.

The text of this file travels to the kernel and runs there, in a namespace of its own. It uses the standard library
of any Python 3.8, imports nothing that the user has not imported, and defines nothing in the user's namespace:
reading the state of a kernel must not change it.
"""

import base64
import importlib.util
import json
import keyword
import sys

# scripts/embed.mjs puts the text of that file here: the kernel may have no diffnb, or another version
from diffnb._candidates import condition_columns, could_be_sample, level_count, likely_samples

MAX_OBJECTS = 100
MAX_COLUMNS = 200
#: rows that are read to find the samples of each column of conditions
MAX_ROWS_FOR_SAMPLES = 20_000


def columns(obs):
    """Describe the columns of `obs` that could hold conditions, the ones with few levels first."""
    obs = obs.iloc[:, :MAX_COLUMNS]
    once = obs.loc[:, ~obs.columns.duplicated()]
    found = condition_columns(obs)
    return [
        {"name": name, "levels": levels, "exact": exact, "samples": samples(once, name)}
        for name, levels, exact in found
    ]


def samples(obs, name):
    """Name the columns that likely hold the samples of the conditions in another column, the likeliest first."""
    if name not in obs.columns:  # a name that is no text
        return []
    return [sample for sample, _ in likely_samples(obs, name, MAX_ROWS_FOR_SAMPLES)]


def other_columns(obs):
    """Name the columns that could hold samples, and those that could be covariates."""
    named_samples, covariates = [], []
    for place in range(min(MAX_COLUMNS, obs.shape[1])):
        column = obs.iloc[:, place]
        name, levels = column.name, level_count(column)[0]
        if not isinstance(name, str) or name in named_samples or name in covariates:
            continue
        if could_be_sample(levels, len(column)):
            named_samples.append(name)
        if column.dtype.kind in "iuf" or levels > 1:
            covariates.append(name)
    return {"sampleColumns": named_samples, "covariates": covariates}


def describe(name, adata):
    """Describe an object as its card shows it."""
    n_obs, n_vars = adata.shape
    return {
        "name": name,
        "identifier": name.isidentifier() and not keyword.iskeyword(name),
        "nObs": int(n_obs),
        "nVars": int(n_vars),
        "view": bool(adata.is_view),
        "backed": bool(adata.isbacked),
        "columns": columns(adata.obs),
        **other_columns(adata.obs),
    }


def objects(namespace):
    """Describe the AnnData objects of a namespace, in the order of their creation."""
    anndata = sys.modules.get("anndata")
    kind = getattr(anndata, "AnnData", None)
    if not isinstance(kind, type):
        return []
    found = []
    for name, value in list(namespace.items()):
        # `_` and `_12` are what IPython keeps of outputs. type(), not isinstance(): a proxy may run code when asked
        if not isinstance(name, str) or name.startswith("_") or not issubclass(type(value), kind):
            continue
        try:
            found.append(describe(name, value))
        except Exception as error:  # a closed file, a broken subclass: report it and go on with the others
            found.append({"name": name, "error": type(error).__name__})
    return found


def alias(namespace):
    """Return the name under which the user has imported diffnb, if any."""
    diffnb = sys.modules.get("diffnb")
    for name, value in list(namespace.items()):
        if diffnb is not None and value is diffnb and isinstance(name, str) and name.isidentifier():
            return name
    return None


def installed():
    """Return whether this Python has diffnb, without importing it."""
    try:
        return "diffnb" in sys.modules or importlib.util.find_spec("diffnb") is not None
    except (ImportError, ValueError):
        return False


def listing(namespace):
    """Answer in JSON, encoded so that its repr needs no escapes."""
    found = objects(namespace)
    answer = {
        "objects": found[:MAX_OBJECTS],
        "more": max(0, len(found) - MAX_OBJECTS),
        "alias": alias(namespace),
        "installed": installed(),
    }
    return base64.b64encode(json.dumps(answer).encode("ascii")).decode("ascii")
