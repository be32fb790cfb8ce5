"""Find the features, and the groups of features, that make conditions differ.

>>> import diffnb as dn
>>> adata = dn.datasets.newly_connected(n_obs=500)
>>> dn.tl.disc(adata, "condition")
>>> dn.get.disc(adata, group="A").query("feature_group != 'background'").shape[0] > 20
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import core, datasets, get, panels, pl, pp, report, sklearn, tl  # noqa: F401
    from ._settings import settings
    from ._warnings import StaleResultsWarning

_SUBPACKAGES = ("core", "datasets", "get", "panels", "pl", "pp", "report", "sklearn", "tl")
__all__ = ["StaleResultsWarning", "__version__", "settings", *_SUBPACKAGES]


def __getattr__(name: str) -> Any:
    # subpackages load on first use, so that `import diffnb` costs nothing beyond itself
    if name in _SUBPACKAGES:
        return importlib.import_module(f".{name}", __name__)
    if name == "settings":
        return importlib.import_module("._settings", __name__).settings
    if name == "StaleResultsWarning":
        return importlib.import_module("._warnings", __name__).StaleResultsWarning
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
