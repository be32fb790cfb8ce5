"""What the sidebar asks of a kernel: which AnnData objects are there.

The text of this file travels to the kernel and runs there, in a namespace of its own. It uses the standard
library of any Python 3.8, imports nothing that the user has not imported, and names nothing in the user's
namespace: looking must not change what is looked at.
"""

import base64
import importlib.util
import json
import keyword
import sys

MOST_OBJECTS = 100
MOST_COLUMNS = 200
MOST_LEVELS = 50
MOST_ROWS = 200_000


def levels(column, n_obs):
    """Count the levels of a column; strings of very many rows are counted in every k-th row."""
    if column.dtype.kind == "f":
        return 0, True
    exact = column.dtype.name == "category" or n_obs <= MOST_ROWS
    seen = column if exact else column.iloc[:: -(-n_obs // MOST_ROWS)]
    return int(seen.nunique()), exact


def condition_columns(obs):
    """Give the columns of `obs` that could hold conditions, the ones with few levels first."""
    n_obs = len(obs)
    most = min(MOST_LEVELS, max(2, n_obs // 3))
    found = []
    for place in range(min(obs.shape[1], MOST_COLUMNS)):
        # by place: two columns may have one name
        column = obs.iloc[:, place]
        try:
            n_levels, exact = levels(column, n_obs)
        except TypeError:  # lists and the like cannot be counted, nor be conditions
            continue
        if 2 <= n_levels <= most:
            found.append({"name": str(column.name), "levels": n_levels, "exact": exact})
    return sorted(found, key=lambda column: column["levels"])


def describe(name, adata):
    """Say what the card of an object shows."""
    n_obs, n_vars = adata.shape
    return {
        "name": name,
        "identifier": name.isidentifier() and not keyword.iskeyword(name),
        "nObs": int(n_obs),
        "nVars": int(n_vars),
        "view": bool(adata.is_view),
        "backed": bool(adata.isbacked),
        "columns": condition_columns(adata.obs),
    }


def objects(namespace):
    """Describe the AnnData objects of a namespace, in the order of their birth."""
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
        except Exception as error:  # a closed file, a broken subclass: say so and go on with the others
            found.append({"name": name, "error": type(error).__name__})
    return found


def alias(namespace):
    """Give the name under which the user has diffnb, if it is there."""
    diffnb = sys.modules.get("diffnb")
    for name, value in list(namespace.items()):
        if diffnb is not None and value is diffnb and isinstance(name, str) and name.isidentifier():
            return name
    return None


def installed():
    """Say whether this Python has diffnb, without importing it."""
    try:
        return "diffnb" in sys.modules or importlib.util.find_spec("diffnb") is not None
    except (ImportError, ValueError):
        return False


def listing(namespace):
    """Answer in JSON, coded so that its repr needs no care."""
    found = objects(namespace)
    answer = {
        "objects": found[:MOST_OBJECTS],
        "more": max(0, len(found) - MOST_OBJECTS),
        "alias": alias(namespace),
        "installed": installed(),
    }
    return base64.b64encode(json.dumps(answer).encode("ascii")).decode("ascii")
