"""A picture of a panel for those who see no widget: saved notebooks, static pages, viewers without a kernel."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import ipywidgets as widgets
from anndata import AnnData

from ._calls import Call
from ._pictures import STILL, compose, mark_in_base64, marked, still
from ._work import in_pieces


class Pictured(widgets.VBox):  # type: ignore[misc, unused-ignore]
    """A widget that leaves a picture of itself wherever it is shown, and brings it up to date."""

    title: ClassVar[str] = ""
    question: ClassVar[str] = ""
    #: tabs whose pictures make the static picture
    pictured: ClassVar[tuple[str, ...]] = ()
    adata: AnnData

    def prepare_picture(self) -> None:
        """Choose the mark by which the page knows the picture of this panel, before anything else is made."""
        self._mark = uuid.uuid4().hex[:12]
        self._shown_as: Any = None
        self._picturing: Iterator[bool] = iter(())
        self._pictures_begun = 0

    # ---- what the picture shows ----

    @property
    def code(self) -> str:
        """The lines that reproduce what is on screen."""
        return ""

    def drawn(self) -> dict[str, Call]:
        """Return the call that draws each picture, as far as there are results."""
        return {}

    def summary(self) -> list[str]:
        """Say in a line or two what the static picture shows."""
        return []

    # ---- the picture ----

    def snapshot(self, path: str | Path | None = None) -> Any:
        """Return the panel as a picture, and write it to `path` where one is given.

        It shows the title, the leading figures and the code, on white.
        """
        from IPython.display import Image

        data = self._snapshot()
        if path is not None:
            Path(path).write_bytes(data)
        return Image(data=data, format="png", width=_width(data))

    def _snapshot(self) -> bytes:
        *_, data = self._snapshots()
        return data

    def _snapshots(self) -> Iterator[bytes]:
        """Draw one figure after the other; the last that comes is the whole picture."""
        calls = self.drawn()
        pictures = []
        for name in self.pictured:
            if name in calls:
                pictures += self._still(calls[name])
                yield b""
        head = [self.title, self.question, *self.summary()]
        yield marked(compose(head, pictures, self.code), self._mark)

    def _still(self, call: Call) -> list[Any]:
        try:
            return [still(call, self.adata)]
        except Exception:  # one figure that cannot be drawn must not cost the others
            return []

    def _ipython_display_(self) -> None:
        from IPython.display import display

        bundle = widgets.VBox._repr_mimebundle_(self)
        if bundle is None:
            raise NotImplementedError
        bundle["text/plain"] = repr(self)
        display(bundle, raw=True)
        data, metadata = self._bundle(self._snapshot())
        self._shown_as = display(data, metadata=metadata, raw=True, display_id=True)

    def _bundle(self, png: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
        data = {"image/png": base64.b64encode(png).decode(), "text/plain": f"{self!r} as a picture"}
        alt = f"diffnb {mark_in_base64(self._mark)}"
        return data, {"image/png": {"width": _width(png)}, "vscode_altText": alt}

    def leave_picture(self) -> None:
        """Bring the static picture up to date where the panel was shown, as soon as there is time."""
        if self._shown_as is not None:
            self._picturing = self._pieces_of_picture()
            in_pieces(self._picturing)

    def _pieces_of_picture(self) -> Iterator[bool]:
        """Draw piece by piece; one that comes later takes the place of this one."""
        mine = self._pictures_begun = self._pictures_begun + 1
        for png in self._snapshots():
            if self._pictures_begun != mine:
                return
            if png:
                data, metadata = self._bundle(png)
                self._shown_as.update(data, metadata=metadata, raw=True)
            yield True

    def finish_picture(self) -> None:
        """Draw what is left of a picture that was begun."""
        for _ in self._picturing:
            pass


def _width(png: bytes) -> int:
    return round(int.from_bytes(png[16:20], "big") * 90 / STILL)
