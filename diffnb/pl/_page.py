"""The width of the page that a figure is drawn for, and what fits on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .. import _validate as validate

#: widths that may be asked for
MIN_PAGE_INCHES, MAX_PAGE_INCHES = 2.5, 40.0
#: figures that choose their own width are at least this wide, so that they fill a notebook and not a corner of it
MIN_FIGURE_INCHES = 6.0
#: share of its usual width at which a panel is still legible
MIN_PANEL_SHARE = 0.75

_page_width: ContextVar[float | None] = ContextVar("diffnb_page_width", default=None)


@contextmanager
def page(width: float | None) -> Iterator[None]:
    """Draw figures of this width in inches; `None` leaves it to them."""
    if width is not None:
        width = validate.positive("width", width)
        if not MIN_PAGE_INCHES <= width <= MAX_PAGE_INCHES:
            raise ValueError(f"width={width:g} is in inches; give {MIN_PAGE_INCHES:g} to {MAX_PAGE_INCHES:g}.")
    token = _page_width.set(width)
    try:
        yield
    finally:
        _page_width.reset(token)


def page_width() -> float | None:
    """Return the width in inches that was asked for."""
    return _page_width.get()


def figure_width(usual: float) -> float:
    """Return the width of a figure that would be this wide by itself."""
    return page_width() or max(usual, MIN_FIGURE_INCHES)


def columns_that_fit(n_panels: int, usual_inches: float, max_columns: int | None = None) -> int:
    """Return how many panels of this usual width stand next to each other."""
    most = min(n_panels, max_columns or n_panels)
    width = page_width()
    return most if width is None else min(most, max(1, int(width / (MIN_PANEL_SHARE * usual_inches))))


def is_narrow(usual_inches: float) -> bool:
    """Whether the page is too narrow for what usually has this width."""
    width = page_width()
    return width is not None and width < MIN_PANEL_SHARE * usual_inches
