import matplotlib.pyplot as plt
import numpy as np
import pytest

from diffnb.panels import _pictures
from diffnb.panels._pictures import render_png


class Noise:
    """Replaces a `pl` call that draws very many points."""

    def __init__(self, size):
        self.size = size

    def run(self, adata):
        figure = plt.figure(figsize=(4, 3))
        image = np.random.default_rng(0).random((self.size, self.size))
        figure.add_axes((0, 0, 1, 1)).imshow(image, cmap="viridis", interpolation="nearest", aspect="auto")
        return figure


@pytest.mark.parametrize("size", [4, 200])
def test_pictures_are_small_enough_to_send_and_as_wide_as_the_figure(size):
    data, width = render_png(Noise(size), None, dark=False)
    assert len(data) <= _pictures.MAX_PICTURE_BYTES
    assert width == 4 * _pictures.SCREEN_DPI


def test_pictures_that_are_always_too_large_have_the_lowest_resolution(monkeypatch):
    monkeypatch.setattr(_pictures, "MAX_PICTURE_BYTES", 10)
    data, width = render_png(Noise(4), None, dark=False)
    assert int.from_bytes(data[16:20], "big") == width == 4 * _pictures.PICTURE_DPIS[-1]
