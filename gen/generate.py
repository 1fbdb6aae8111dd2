#!/usr/bin/env python3
"""Writes everything that follows from the MPI standard's data: see --help. The build calls it (gen/CMakeLists.txt)."""

import argparse
import sys
from pathlib import Path

OVERLAY = Path(__file__).resolve().parent / "overlay"

try:
    from clump_gen import constants, header, standard
except ImportError as missing:
    sys.exit(f"gen/generate.py: {missing}; './dev setup' installs what gen/requirements.txt names")


def write_if_changed(path: Path, text: str) -> None:
    """Leaves a file that is right alone, so that nothing is compiled again for it."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--header", type=Path, metavar="FILE", help="write mpi.h there")
    arguments = parser.parse_args()
    standard.load()
    functions = standard.functions()
    if arguments.header:
        groups = constants.load(OVERLAY / "constants.txt")
        write_if_changed(arguments.header, header.write(functions, standard.callbacks(), groups))


if __name__ == "__main__":
    main()
