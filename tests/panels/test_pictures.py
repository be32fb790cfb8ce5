import matplotlib.pyplot as plt
import numpy as np
import pytest

from diffnb.panels import _pictures
from diffnb.panels._pictures import draw


class Noise:
    """Stands for a `pl` call that draws very many points."""

    def __init__(self, size):
        self.size = size

    def run(self, adata):
        figure = plt.figure(figsize=(4, 3))
        image = np.random.default_rng(0).random((self.size, self.size))
        figure.add_axes((0, 0, 1, 1)).imshow(image, cmap="viridis", interpolation="nearest", aspect="auto")
        return figure


@pytest.mark.parametrize("size", [4, 200])
def test_pictures_are_light_enough_to_send_and_as_wide_as_the_figure(size):
    data, width = draw(Noise(size), None, dark=False)
    assert len(data) <= _pictures.HEAVY
    assert width == 4 * _pictures.PLAIN


def test_what_no_resolution_makes_light_is_drawn_with_the_least(monkeypatch):
    monkeypatch.setattr(_pictures, "HEAVY", 10)
    data, width = draw(Noise(4), None, dark=False)
    assert int.from_bytes(data[16:20], "big") == width == 4 * _pictures.DPI[-1]
