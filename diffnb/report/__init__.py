"""A report of what an AnnData holds, as one page that opens anywhere: `dn.report(adata, "report.html")`."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from ._report import report

__all__ = ["report"]


class _CallableModule(ModuleType):
    """Lets `dn.report(…)` be a call, though `diffnb.report` is also the folder of its modules."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Path:
        return report(*arguments, **keywords)


sys.modules[__name__].__class__ = _CallableModule
