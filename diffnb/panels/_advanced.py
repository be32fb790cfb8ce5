"""The settings that few users need: folded away, with the ones that are not as by default in the heading."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets as widgets

from ._controls import Control, control_row, shown_value


class Advanced(widgets.Accordion):  # type: ignore[misc, unused-ignore]
    """Folded controls."""

    def __init__(self, controls: Sequence[Control], defaults: dict[str, str]) -> None:
        super().__init__(selected_index=None)
        self._controls, self._defaults = list(controls), defaults
        if controls:
            self.children = [control_row([control.widget for control in controls])]
        else:
            self.layout.display = "none"
        self.update_title()

    def update_title(self) -> None:
        """Name the settings that are not as by default, with the default."""
        shown = {control.name: shown_value(control) for control in self._controls}
        changed = [
            f"{control.widget.description} {shown[control.name]} (default {self._defaults[control.name]})"
            for control in self._controls
            if shown[control.name] != self._defaults[control.name]
        ]
        if self._controls:
            self.set_title(0, f"Advanced: {'; '.join(changed) or 'all as by default'}")
