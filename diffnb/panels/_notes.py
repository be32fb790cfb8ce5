"""Sentences about results, shown beside them."""

from __future__ import annotations

import html
from collections.abc import Sequence

import ipywidgets as widgets


class Notes(widgets.HTML):  # type: ignore[misc, unused-ignore]
    """A paragraph for each note; takes no space where there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.add_class("diffnb-hint")
        self.show([])

    def show(self, notes: Sequence[str], /) -> None:
        """Replace the notes; empty ones are left out."""
        self.notes = [note for note in notes if note]
        self.value = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        self.layout.display = None if self.notes else "none"
