"""A static picture of a panel, for saved notebooks, exported pages and viewers without a kernel."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import ipywidgets as widgets
from anndata import AnnData

from .._calls import Call
from ._pictures import SCREEN_DPI, SNAPSHOT_DPI, compose, mark_in_base64, marked, png_width, render_image
from ._work import run_in_steps


class WithSnapshot(widgets.VBox):  # type: ignore[misc, unused-ignore]
    """A widget that stores a picture of itself in the notebook, and keeps it up to date."""

    title: ClassVar[str] = ""
    #: what the panel answers, below the title
    question: str = ""
    #: tabs whose pictures are part of the static picture
    pictured: ClassVar[tuple[str, ...]] = ()
    adata: AnnData

    def prepare_picture(self) -> None:
        """Choose the mark by which the page identifies the picture of this panel; to be called first."""
        self._mark = uuid.uuid4().hex[:12]
        self._display_handle: Any = None
        self._picture_steps: Iterator[bool] = iter(())
        self._n_pictures_started = 0

    # ---- contents of the picture ----

    @property
    def code(self) -> str:
        """The lines that reproduce what is on screen."""
        return ""

    def drawn(self) -> dict[str, Call]:
        """Return the call that draws each picture for which there are results."""
        return {}

    def summary(self) -> list[str]:
        """Describe the static picture in a line or two."""
        return []

    # ---- the picture ----

    def snapshot(self, path: str | Path | None = None) -> Any:
        """Return the panel as a picture, and write it to `path` if given.

        It shows the title, the main figures and the code, on white.
        """
        from IPython.display import Image

        data = self._snapshot()
        if path is not None:
            Path(path).write_bytes(data)
        return Image(data=data, format="png", width=_screen_width(data))

    def _snapshot(self) -> bytes:
        *_, data = self._snapshots()
        return data

    def _snapshots(self) -> Iterator[bytes]:
        """Draw one figure after the other; the last item is the complete picture, all others are empty."""
        calls = self.drawn()
        pictures = []
        for name in self.pictured:
            if name in calls:
                pictures += self._rendered(calls[name])
                yield b""
        head = [self.title, self.question, *self.summary()]
        yield marked(compose(head, pictures, self.code), self._mark)

    def _rendered(self, call: Call) -> list[Any]:
        try:
            return [render_image(call, self.adata)]
        except Exception:  # the other figures are drawn even if one fails
            return []

    def _ipython_display_(self) -> None:
        from IPython.display import display

        bundle = widgets.VBox._repr_mimebundle_(self)
        if bundle is None:
            raise NotImplementedError
        bundle["text/plain"] = repr(self)
        display(bundle, raw=True)
        data, metadata = self._bundle(self._snapshot())
        self._display_handle = display(data, metadata=metadata, raw=True, display_id=True)

    def _bundle(self, png: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
        data = {"image/png": base64.b64encode(png).decode(), "text/plain": f"{self!r} as a picture"}
        alt = f"diffnb {mark_in_base64(self._mark)}"
        return data, {"image/png": {"width": _screen_width(png)}, "vscode_altText": alt}

    def update_picture(self) -> None:
        """Update the static picture where the panel was shown, when the kernel is idle."""
        if self._display_handle is not None:
            self._picture_steps = self._draw_in_steps()
            run_in_steps(self._picture_steps)

    def _draw_in_steps(self) -> Iterator[bool]:
        """Draw step by step; stop when a later picture was started."""
        number = self._n_pictures_started = self._n_pictures_started + 1
        for png in self._snapshots():
            if self._n_pictures_started != number:
                return
            if png:
                data, metadata = self._bundle(png)
                self._display_handle.update(data, metadata=metadata, raw=True)
            yield True

    def finish_picture(self) -> None:
        """Complete a picture that was started."""
        for _ in self._picture_steps:
            pass


def _screen_width(png: bytes) -> int:
    return round(png_width(png) * SCREEN_DPI / SNAPSHOT_DPI)
