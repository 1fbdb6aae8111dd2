"""A program with another MPI library inside, linked from an archive."""

import os
import pathlib
import subprocess
import tempfile

import tool

# What is looked at are names: these stand for the libraries that have them. The program is no MPI program: it would say what it is asked for.
SOURCE = """
#include <stdio.h>
%s
int MPI_Init(int* argc, char*** argv) { return argc == 0 && argv == 0; }
int main(int argc, char** argv) { MPI_Init(&argc, &argv); puts("it runs"); return 0; }
"""


def check_inside(case, marker, family):
    """A program that defines MPI_Init and `marker` is refused as one of that family; without the marker, or stripped, it runs."""
    folder = tempfile.TemporaryDirectory()
    case.addCleanup(folder.cleanup)
    for name, line, options in (("inside", f"int {marker}[64];", []), ("static", f"int {marker}[64];", ["-static"]), ("serial", "", []),
                                ("stripped", f"int {marker}[64];", ["-s"])):  # fmt: skip
        path = pathlib.Path(folder.name, name)
        path.with_suffix(".c").write_text(SOURCE % line)
        subprocess.run([os.environ.get("CC", "cc"), *options, path.with_suffix(".c"), "-o", path], check=True)
        shown = tool.run("-n", 2, path)
        if name in ("serial", "stripped"):
            case.assertEqual((shown.code, shown.out), (0, "it runs\n" * 2), shown)
            continue
        case.assert_says(shown, 126, f"{name}' cannot run under Clump: it has the MPI library inside, {family}", "(libmpi.a)", "with Clump's mpicc")
        case.assertEqual(len(shown.err.splitlines()), 1, shown)
        for command in ("explain", "which"):
            explained = tool.run(command, path, tool="clump")
            case.assertEqual(explained.code, 1, explained)
            case.assertIn(f"it has the MPI library inside, {family}", explained.out + explained.err)
