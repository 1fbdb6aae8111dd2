#!/usr/bin/env python3
"""Writes everything that follows from the MPI standard's data: see --help. The build calls it (gen/CMakeLists.txt)."""

import argparse
import sys
from pathlib import Path

OVERLAY = Path(__file__).resolve().parent / "overlay"
BINDINGS = OVERLAY.parent.parent / "bindings"

try:
    from clump_gen import bodies, constants, entries, fortran, fortran_family, header, mpich, openmpi, overlay, standard, tables
except ImportError as missing:
    sys.exit(f"gen/generate.py: {missing}; './dev setup' installs what gen/requirements.txt names")


def write_if_changed(path: Path, text: str) -> None:
    """Leaves a file that is right alone, so that nothing is compiled again for it."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(path.suffix + ".new")
    unfinished.write_text(text)
    unfinished.replace(path)  # nobody ever reads half of it


def write_sources(folder: Path, functions) -> None:
    table = overlay.load(OVERLAY / "chapters", functions)
    for chapter in sorted({entry.chapter for entry in table.values()}):
        write_if_changed(folder / f"entry_{chapter}.cc", entries.write(chapter, functions, table))
    write_if_changed(folder / "mpi" / "bodies.h", bodies.write(functions, table))
    write_if_changed(folder / "functions.inc", tables.write_functions(functions, table))
    write_if_changed(folder / "calls.inc", tables.write_calls(functions, table))
    write_if_changed(folder / "chapters.inc", tables.write_chapters(overlay.titles(OVERLAY / "chapters")))
    write_if_changed(folder / "libmpi_abi.map", tables.write_exports(functions))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--header", type=Path, metavar="FILE", help="write mpi.h there")
    parser.add_argument("--version", metavar="X.Y.Z", default="0.0.0", help="the library's version, for mpi.h")
    parser.add_argument("--sources", type=Path, metavar="FOLDER", help="write the entry points and all that belongs to them there")
    parser.add_argument("--mpich", type=Path, metavar="FOLDER", help="write the functions and tables of the library for MPICH's ABI there")
    parser.add_argument("--openmpi", type=Path, metavar="FOLDER", help="the same for Open MPI's ABI")
    parser.add_argument("--fortran", type=Path, metavar="FOLDER", help="write the procedures, modules and mpif.h of the Fortran bindings there")
    arguments = parser.parse_args()
    standard.load()
    functions = standard.functions()
    if arguments.header:
        groups = constants.load(OVERLAY / "constants.txt")
        write_if_changed(arguments.header, header.write(functions, standard.callbacks(), groups, arguments.version))
    if arguments.sources:
        write_sources(arguments.sources, functions)
    for folder, family, module in ((arguments.mpich, "mpich", mpich), (arguments.openmpi, "openmpi", openmpi)):
        if folder:
            groups, facts = constants.load(OVERLAY / "constants.txt"), constants.load(BINDINGS / family / "facts.txt")
            files = module.write(folder, functions, groups, facts)
            files.update(fortran_family.write(folder / "fortran", fortran_family.Data(family, functions, standard.callbacks(), groups, facts)))
            for path, text in files.items():
                write_if_changed(path, text)
    if arguments.fortran:
        for path, text in fortran.write(arguments.fortran, functions, constants.load(OVERLAY / "constants.txt")).items():
            write_if_changed(path, text)


if __name__ == "__main__":
    main()
