"""Interactive panels, which show the code that reproduces them."""

from ._compare import compare
from ._disc import disc
from ._dufs import dufs
from ._explore import explore
from ._informed import informed
from ._scorecard import scorecard
from ._sparda import sparda

__all__ = ["compare", "disc", "dufs", "explore", "informed", "scorecard", "sparda"]
