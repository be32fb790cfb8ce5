"""A named logger that is quiet unless asked, and follows scanpy's verbosity when scanpy is in use; and warnings."""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path
from types import FrameType

_logger = logging.getLogger("diffnb")
_HINT = 3  # scanpy's numbers: 0 error, 1 warning, 2 info, 3 hint
_PACKAGE = str(Path(__file__).parent)


def _verbosity() -> int:
    # never import scanpy for this: ask it only where the user already has
    settings = getattr(sys.modules.get("scanpy"), "settings", None)
    level = getattr(settings, "verbosity", 1)
    return int(getattr(level, "value", level))


def info(message: str) -> None:
    """Log what was chosen or done: shown at `sc.settings.verbosity = 2` or by the `diffnb` logger."""
    _logger.info(message)
    if _verbosity() >= 2 and not _logger.isEnabledFor(logging.INFO):
        print(f"diffnb: {message}", file=sys.stderr)


def hint(message: str) -> None:
    """Log a detail: shown at `sc.settings.verbosity = 3` or by the `diffnb` logger at DEBUG."""
    _logger.debug(message)
    if _verbosity() >= _HINT and not _logger.isEnabledFor(logging.DEBUG):
        print(f"diffnb: {message}", file=sys.stderr)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the line outside this package that led here."""
    warnings.warn(message, category, stacklevel=_stacklevel())


def _stacklevel() -> int:
    level, frame = 0, sys._getframe(0)
    outer: FrameType | None = frame
    while outer is not None and outer.f_code.co_filename.startswith(_PACKAGE):
        level, outer = level + 1, outer.f_back
    # the frame of `_stacklevel` itself is not on the stack when `warn` warns
    return level
