"""Simulated hyperspectral scene with a tarp that appears on the grass."""

from __future__ import annotations

from dataclasses import dataclass

import anndata as ad
import numpy as np
import pandas as pd
from scipy.ndimage import gaussian_filter

from .._keys import BACKGROUND_GROUP
from ._blocks import require_at_least
from ._docs import documented_dataset
from ._import import from_image_pair

#: condition with the tarp
CHANGE = "oct-change"
#: standard deviation of the noise of the sensor, in units of reflectance
SENSOR_NOISE = 0.002
MATERIALS = ("grass", "trees", "metal", "tarp")


@dataclass(frozen=True, slots=True)
class _Season:
    """Conditions of a day: illumination, shadow and greenness of the plants."""

    gain: float
    slope: float  # reddening of the light over the whole range of wavelengths
    shadow: float  # share of light lost in the darkest corner
    direction: float  # of the shadow, in degrees
    green: float


_SEASONS = {
    "aug": _Season(1.10, -0.04, 0.10, 20.0, 1.0),
    "sep": _Season(1.00, 0.00, 0.18, 60.0, 0.92),
    "oct": _Season(0.88, 0.05, 0.25, 100.0, 0.80),
    "nov": _Season(0.70, 0.12, 0.35, 150.0, 0.60),
    CHANGE: _Season(0.91, 0.06, 0.22, 110.0, 0.79),
}


@documented_dataset
def hyperspectral_tarp(
    *,
    month: str = "oct",
    size: int = 100,
    n_bands: int = 124,
    noise: float = 0.0,
    random_state: int = 0,
) -> ad.AnnData:
    r"""Simulate a scene in one month, and in October with a tarp on the grass (after DiSC, Sec. 4.3).

    Features are pixels and observations are bands. Trees are above grass, on which there is a metal frame with
    the tarp inside. Pixel :math:`i` at wavelength :math:`\lambda` of a day has

    .. math:: x_i(\lambda) = g\,\bigl(1 + s\,\tfrac{\lambda - 700}{600}\bigr)\,(1 - h\,r_i)\,
              (1 + \tau_i)\, R_{m(i)}(\lambda) + \text{noise},

    with gain :math:`g`, slope :math:`s` and shadow :math:`h` of the day, a ramp :math:`r_i` from 0 to 1
    across the image, and a smooth texture :math:`\tau`, most of which is common to all days.
    Reflectances :math:`R_m` are sums of smooth steps and Gaussian bumps over 400–1000 nm; see
    :func:`reflectance`.

    Parameters
    ----------
    month
        Month to compare with: `"aug"`, `"sep"`, `"oct"` or `"nov"`; light and greenness differ most between
        August and November.
    size
        Number of rows and of columns of the image; at least 20.
    n_bands
        Number of bands, evenly spaced from 400 to 1000 nm.
    noise
        Standard deviation of noise in addition to that of the sensor (0.002). App. E.1 of the paper uses 0.01.
    {random_state}

    Returns
    -------
    Bands × pixels in float32. `obs` has `condition` (`month` and `"oct-change"`) and `wavelength`; `var` has
    `row`, `col`, the `material` of each pixel with the tarp in place, `material_before`, and one `truth_…`
    column for each condition; only the tarp is particular to one of them.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.hyperspectral_tarp(month="nov", size=40, n_bands=30)
    >>> adata.shape
    (60, 1600)
    >>> adata.var["material"].cat.categories.tolist()
    ['grass', 'trees', 'metal', 'tarp']
    """
    months = [name for name in _SEASONS if name != CHANGE]
    if month not in months:
        raise ValueError(f"month={month!r} was not simulated; choose one of {', '.join(map(repr, months))}.")
    require_at_least(20, size=size)
    require_at_least(2, n_bands=n_bands)
    require_at_least(0, noise=noise)
    rng = np.random.default_rng(random_state)
    wavelengths = np.linspace(400.0, 1000.0, n_bands)
    bare = _scene(size, rng)
    covered = np.where(_tarp(size), MATERIALS.index("tarp"), bare)
    texture = _texture(size, 2.0, rng)
    before, after = (
        _photograph(scene, _SEASONS[day], wavelengths, texture, noise, rng)
        for scene, day in ((bare, month), (covered, CHANGE))
    )
    adata = from_image_pair(before, after, wavelengths=wavelengths, names=[month, CHANGE])
    names = np.array(MATERIALS)
    adata.var["material"] = pd.Categorical(names[covered.ravel()], categories=list(MATERIALS))
    adata.var["material_before"] = pd.Categorical(names[bare.ravel()], categories=list(MATERIALS[:3]))
    adata.var[f"truth_{month}"] = pd.Categorical(np.full(size**2, BACKGROUND_GROUP))
    truth = np.where(_tarp(size).ravel(), "tarp", BACKGROUND_GROUP)
    adata.var[f"truth_{CHANGE}"] = pd.Categorical(truth, categories=[BACKGROUND_GROUP, "tarp"])
    return adata


def reflectance(material: str, wavelengths: np.ndarray, *, green: float = 1.0) -> np.ndarray:
    """Reflectance of a material, between 0 and 1.

    Plants have the green bump at 550 nm, the chlorophyll dip at 675 nm, the red edge near 715 nm and the
    water dip at 970 nm, in proportion to `green`; the red increases as they wither. Metal is flat. The tarp is
    blue, with a dip at 880 nm.

    Examples
    --------
    >>> import numpy as np
    >>> from diffnb.datasets._hyperspectral import reflectance
    >>> red, infrared = reflectance("grass", np.array([675.0, 800.0]))
    >>> bool(infrared > 8 * red)
    True
    """
    w = np.asarray(wavelengths, dtype=float)
    if material == "metal":
        return 0.34 + 0.04 * (w - 700) / 300
    if material == "tarp":
        return 0.16 + 0.20 * _bump(w, 460, 45) + 0.08 * _step(w, 740, 25) - 0.06 * _bump(w, 880, 30)
    height, edge, width = {"grass": (0.42, 712, 11), "trees": (0.27, 720, 13)}[material]
    living = (
        0.16 * height * _bump(w, 550, 32)
        - 0.05 * height * _bump(w, 675, 18)
        + height * _step(w, edge, width)
        - 0.12 * height * _bump(w, 970, 25)
    )
    withered = height * (0.10 + 0.55 * _step(w, 650, 60))
    return np.asarray(0.10 * height + green * living + (1 - green) * withered)


def _bump(w: np.ndarray, centre: float, width: float) -> np.ndarray:
    return np.asarray(np.exp(-0.5 * ((w - centre) / width) ** 2))


def _step(w: np.ndarray, centre: float, width: float) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-(w - centre) / width)))


def _scene(size: int, rng: np.random.Generator) -> np.ndarray:
    """Material of each pixel without the tarp, as its index in `MATERIALS`."""
    row, col = np.indices((size, size)) / size
    phase = rng.uniform(0, 2 * np.pi, size=3)
    edge = 0.3 + sum(0.03 * np.sin(2 * np.pi * k * col + phase[k - 1]) / k for k in (1, 2, 3))
    scene = np.where(row < edge, MATERIALS.index("trees"), MATERIALS.index("grass"))
    outer = _rectangle(size, (0.48, 0.88), (0.26, 0.78))
    inner = _rectangle(size, (0.51, 0.85), (0.29, 0.75))
    return np.where(outer & ~inner, MATERIALS.index("metal"), scene)


def _tarp(size: int) -> np.ndarray:
    """Return the mask of the tarp, on grass inside the frame."""
    return _rectangle(size, (0.60, 0.74), (0.40, 0.62))


def _rectangle(size: int, rows: tuple[float, float], cols: tuple[float, float]) -> np.ndarray:
    row, col = np.indices((size, size)) / size
    return np.asarray((rows[0] <= row) & (row < rows[1]) & (cols[0] <= col) & (col < cols[1]))


def _texture(size: int, width: float, rng: np.random.Generator) -> np.ndarray:
    """Smooth random field with mean 0 and standard deviation 1."""
    field = gaussian_filter(rng.standard_normal((size, size)), width, mode="wrap")
    return np.asarray((field - field.mean()) / field.std())


def _photograph(
    scene: np.ndarray,
    season: _Season,
    wavelengths: np.ndarray,
    texture: np.ndarray,
    noise: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the image of one day, rows × columns × bands."""
    size = len(scene)
    spectra = np.stack([reflectance(m, wavelengths, green=season.green) for m in MATERIALS])
    light = season.gain * (1 + season.slope * (wavelengths - 700) / 600)
    row, col = np.indices((size, size)) / (size - 1) - 0.5
    angle = np.deg2rad(season.direction)
    ramp = 0.5 + (row * np.sin(angle) + col * np.cos(angle)) / np.sqrt(2)
    roughness = np.array([0.06, 0.15, 0.02, 0.02])[scene]
    mixed = 0.95 * texture + np.sqrt(1 - 0.95**2) * _texture(size, 2.0, rng)
    brightness = (1 - season.shadow * ramp) * (1 + roughness * mixed)
    image = brightness[..., None] * (light * spectra)[scene]
    image += np.hypot(SENSOR_NOISE, noise) * rng.standard_normal(image.shape)
    return np.asarray(image, dtype=np.float32)
