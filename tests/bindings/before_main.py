"""MPI before main() and after it, in a library that is linked to a facade only: before_main.c."""

import pathlib
import subprocess
import tempfile

import tool

SOURCE = pathlib.Path(__file__).with_suffix(".c")
WAYS = ([], ["--ranks", "threads"], ["--ranks", "processes"], ["--per-process", 2])


def check_before_main(case, cc):
    folder = tempfile.TemporaryDirectory()
    case.addCleanup(folder.cleanup)
    there = pathlib.Path(folder.name)
    subprocess.run([cc, "-DLIBRARY", "-shared", "-fPIC", SOURCE, "-o", there / "libearly.so"], check=True)
    for name, options in (("library", []), ("preinit", ["-DPREINIT"])):
        subprocess.run([cc, *options, SOURCE, "-o", there / name, "-L", there, "-learly", f"-Wl,-rpath,{there}"], check=True)
        for way in WAYS:
            with case.subTest(name=name, way=way):
                shown = tool.run(*way, "-n", 3, there / name)
                case.assertEqual((shown.code, shown.out, shown.err), (0, "3\n" * 3, ""), shown)
