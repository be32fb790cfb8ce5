"""Check what no linter looks at: `python .ci/check_files.py [file …]`, by default every file that git tracks.

A text file ends with one newline and holds no conflict marker, JSON, TOML and YAML can be parsed, and no file is so
large that every clone pays for it. Prints one line per problem and exits with status 1 if there is any.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

MAX_FILE_BYTES = 2_000_000
CONFLICT_MARKERS = ("<" * 7 + " ", ">" * 7 + " ")
PARSERS: dict[str, Callable[[str], object]] = {
    ".cff": yaml.safe_load,
    ".ipynb": json.loads,
    ".json": json.loads,
    ".toml": tomllib.loads,
    ".yaml": yaml.safe_load,
    ".yml": yaml.safe_load,
}


def problems(path: Path) -> Iterator[str]:
    """Yield what is wrong with a file."""
    content = path.read_bytes()
    if len(content) > MAX_FILE_BYTES:
        yield f"has {len(content):,} bytes, more than {MAX_FILE_BYTES:,}"
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return
    if "\0" in text:
        return
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        yield "does not end with exactly one newline"
    if any(line.startswith(CONFLICT_MARKERS) for line in text.splitlines()):
        yield "holds a conflict marker"
    # the compiler of TypeScript takes comments in its JSON, and checks it itself
    if path.suffix in PARSERS and not path.name.startswith("tsconfig"):
        try:
            PARSERS[path.suffix](text)
        except (ValueError, yaml.YAMLError) as error:
            yield f"cannot be parsed: {' '.join(str(error).split())}"


def tracked_files() -> list[Path]:
    """Return the files that git tracks; none outside of a checkout."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True)
    return [path for name in listed.stdout.split("\0") if name and (path := Path(name)).is_file()]


def main(names: list[str]) -> int:
    """Print the problems of these files, or of all."""
    paths = [Path(name) for name in names] or tracked_files()
    found = [f"{path} {problem}" for path in paths for problem in problems(path)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
