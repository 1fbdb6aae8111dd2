"""Programs that find an MPI library while they run: at_run_time.c. Their plugin, unnamed.c, is linked to none."""

import os
import pathlib
import subprocess
import tempfile

import tool

HERE = pathlib.Path(__file__).parent
WAYS = ([], ["--ranks", "threads"], ["--ranks", "processes"], ["--per-process", 2])


def check_at_run_time(case, include, library, begin, known, absent, *names):
    """`names` are others of the library: of links to it, and of files to which these lead."""
    folder = tempfile.TemporaryDirectory()
    case.addCleanup(folder.cleanup)
    there = pathlib.Path(folder.name)
    cc = [os.environ.get("CC", "cc"), "-Wall", "-Werror", "-Wno-stringop-overread"]
    subprocess.run([*cc, HERE / "at_run_time.c", "-o", there / "alone"], check=True)
    # Linked to MPI its ranks can share a process.
    subprocess.run([tool.BIN / "mpicc", HERE / "at_run_time.c", "-o", there / "linked", "-DLINKED", "-Wl,--no-as-needed"], check=True)
    subprocess.run([*cc, "-shared", "-fPIC", f"-I{include}", HERE / "unnamed.c", "-o", there / "unnamed.so"], check=True)
    # A library without a name of its own, in which nothing is MPI's but what it needs.
    (there / "above.c").write_text("int run(void);\nint (*above)(void) = run;\n")
    subprocess.run([*cc, "-shared", "-fPIC", there / "above.c", "-o", there / "above.so", "-L", there, "-l:unnamed.so", f"-Wl,-rpath,{there}"], check=True)
    for plugin in ("unnamed.so", "above.so"):
        for program, ways in (("alone", WAYS[::2]), ("linked", WAYS)):
            for way in ways:
                with case.subTest(plugin=plugin, program=program, way=way):
                    shown = tool.run(*way, "-n", 4, there / program, library, begin, known, absent, there / plugin, *names)
                    case.assertEqual((shown.code, shown.out, shown.err), (0, "0 failures\n" * 4, ""), shown)
