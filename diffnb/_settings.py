"""Settings of the package, `dn.settings`."""

from __future__ import annotations

import re
from numbers import Integral
from typing import Any

from .core.runtime import budget

UNIT_BYTES = {
    "B": 1,
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("kMGT", 1)},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGT", 1)},
}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")


class PackageSettings:
    """Settings that hold for all calls in this process.

    >>> import diffnb as dn
    >>> dn.settings.memory = "2 GiB"
    >>> dn.settings
    Settings: memory = 2147483648 bytes (2 GiB)
    >>> dn.settings.memory = 2**30
    """

    __slots__ = ()

    @property
    def memory(self) -> int:
        """Bytes that the arrays of one step may take; sizes of blocks follow it.

        Data that does not fit is worked on block by block. A smaller number saves memory, a larger one saves passes
        over the data; results are the same to rounding. Give bytes, or a text such as `"500 MB"` or `"2 GiB"`. It does
        not bound the data that an AnnData holds in memory.
        """
        return budget.memory()

    @memory.setter
    def memory(self, value: int | str) -> None:
        budget.set_memory(_bytes(value))

    def __repr__(self) -> str:
        return f"Settings: memory = {self.memory} bytes ({_shown(self.memory)})"


def _bytes(value: Any) -> int:
    if isinstance(value, str):
        return _parsed(value)
    whole = isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        raise TypeError(f"memory={value!r} must be a number of bytes or a text such as '2 GB'.")
    if value < budget.MIN_MEMORY_BYTES:
        raise ValueError(f"memory={value!r} must be at least {budget.MIN_MEMORY_BYTES} bytes.")
    return int(value)


def _parsed(text: str) -> int:
    found = _AMOUNT.fullmatch(text)
    units = {unit.lower(): size for unit, size in UNIT_BYTES.items()}
    if found is None or found[2].lower() not in units:
        raise ValueError(f"memory={text!r} must be a number with a unit ({', '.join(UNIT_BYTES)}), such as '2 GB'.")
    return _bytes(round(float(found[1]) * units[found[2].lower()]))


def _shown(n_bytes: int) -> str:
    binary = {unit: size for unit, size in UNIT_BYTES.items() if "i" in unit}
    unit, size = max(((u, s) for u, s in binary.items() if s <= n_bytes), key=lambda item: item[1])
    return f"{n_bytes / size:.3g} {unit}"


settings = PackageSettings()
