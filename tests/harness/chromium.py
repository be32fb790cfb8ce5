"""The browser of the system, never a downloaded one."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # WebGL without a graphics card
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]


def find() -> str | None:
    """The path of a chromium, or nothing."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def must_be_there() -> bool:
    """Say whether a missing browser is a fault, as in CI, and not a reason to skip."""
    return os.environ.get("CI", "").lower() in ("1", "true", "yes")
