"""Which keys can name results: those that every file can hold."""

from __future__ import annotations

import unicodedata

#: longest key: file systems hold names of 255 bytes, and slots add to the key
MAX_KEY_BYTES = 200
#: names that h5ad and zarr keep for themselves
_RESERVED = ("_index", "zarr.json")


def check_key(argument: str, key: object, /) -> str:
    """Refuse a key that h5ad or zarr cannot hold, with the remedy."""
    if not isinstance(key, str):
        raise TypeError(f"{argument}={key!r} must be a text, got {type(key).__name__}; use for example {str(key)!r}.")
    fault = _fault(key)
    if fault:
        better = _mended(key)
        remedy = f"use for example {better!r}" if better else "use a name such as 'mine'"
        raise ValueError(f"{argument}={key!r} {fault}, so that h5ad or zarr could not hold the results; {remedy}.")
    return key


def _fault(key: str) -> str:
    """Say what is wrong with a key; an empty text if nothing is."""
    if not key.strip():
        return "is empty"
    if key != key.strip():
        return "begins or ends with a space"
    if key.startswith("."):
        return "begins with a dot"
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in key):
        return "holds a control character"
    if "/" in key or "\\" in key:
        return "holds a slash"
    if key in _RESERVED:
        return "is a reserved name"
    return f"is longer than {MAX_KEY_BYTES} bytes" if len(key.encode()) > MAX_KEY_BYTES else ""


def _mended(key: str) -> str:
    """Return the nearest key without a fault, or an empty text."""
    letters = ("_" if letter in "/\\" or unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in key)
    better = "".join(letters).strip(" ._")
    return better if better and not _fault(better) else ""
