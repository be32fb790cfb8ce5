"""A named logger that is quiet unless asked, and follows scanpy's verbosity when scanpy is in use."""

from __future__ import annotations

import logging
import sys

_logger = logging.getLogger("diffnb")
_HINT = 3  # scanpy's numbers: 0 error, 1 warning, 2 info, 3 hint


def _verbosity() -> int:
    # never import scanpy for this: ask it only where the user already has
    settings = getattr(sys.modules.get("scanpy"), "settings", None)
    level = getattr(settings, "verbosity", 1)
    return int(getattr(level, "value", level))


def info(message: str) -> None:
    """Tell what was chosen or done: shown at `sc.settings.verbosity = 2` or by the `diffnb` logger."""
    _logger.info(message)
    if _verbosity() >= 2 and not _logger.isEnabledFor(logging.INFO):
        print(f"diffnb: {message}", file=sys.stderr)


def hint(message: str) -> None:
    """Tell a detail: shown at `sc.settings.verbosity = 3` or by the `diffnb` logger at DEBUG."""
    _logger.debug(message)
    if _verbosity() >= _HINT and not _logger.isEnabledFor(logging.DEBUG):
        print(f"diffnb: {message}", file=sys.stderr)
