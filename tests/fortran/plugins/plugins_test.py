"""Special addresses in libraries with common blocks of their own, by all ways in which these come into a program."""

import os
import pathlib
import subprocess
import sys
import unittest

import tool

PROGRAMS = pathlib.Path(os.environ["CLUMP_PROGRAMS"])
WAYS = ([], ["--ranks", "processes"])
ALL_WAYS = (*WAYS, ["--per-process", 2])


class Plugins(tool.Case):
    def look(self, program, *plugins):
        """`plugins` as PLUGINS of opens.c has them, with the names of files in the place of paths."""
        listed = " ".join(plugin[0] + str(PROGRAMS / plugin[1:]) for plugin in plugins)
        # Without MPI of its own a program's ranks are processes, whatever is asked for.
        for way in (*ALL_WAYS, *([] if program == "opens" else [["--ranks", "threads"]])):
            with self.subTest(way=way, program=program, plugins=plugins):
                shown = tool.run(*way, "-n", 3, PROGRAMS / program, env={"PLUGINS": listed})
                self.assertEqual((shown.code, shown.out, shown.err), (0, "0 failures\n" * 3, ""))

    def test_opened(self):
        for program in ("opens", "opens_mpi"):  # without MPI of its own all ranks are processes
            self.look(program, "cplain.so", "lsymbolic.so", "gother.so")
            self.look(program, "lsymbolic.so", "cplain.so", "lother_symbolic.so")
            self.look(program, "labove.so")
            self.look(program, "dplain.so", "mother.so")
            self.look(program, "msymbolic.so", "dabove.so")

    def test_opened_again(self):
        for program in ("opens", "opens_mpi"):
            self.look(program, "aplain.so", "asymbolic.so")
            self.look(program, "lplain.so", "asymbolic.so", "asymbolic.so")

    def test_linked(self):
        self.look("linked", "cplain.so")
        self.look("linked_symbolic", "cplain.so", "lother_symbolic.so")

    def test_program_in_fortran(self):
        self.look("main", "cplain.so")
        self.look("main_symbolic", "lplain.so", "lother_symbolic.so")

    def test_by_name(self):
        """Found by LD_LIBRARY_PATH."""
        for way in WAYS:
            shown = tool.run(*way, "-n", 2, PROGRAMS / "opens", env={"PLUGINS": "lplain.so", "LD_LIBRARY_PATH": str(PROGRAMS)})
            self.assertEqual((shown.code, shown.out, shown.err), (0, "0 failures\n0 failures\n", ""))

    def test_python(self):
        script = "import ctypes, sys; all = [ctypes.CDLL(name) for name in sys.argv[1:]]; print(sum(one.plug() for one in all)); all[0].leave()"
        shown = tool.run("-n", 2, sys.executable, "-c", script, PROGRAMS / "plain.so", PROGRAMS / "symbolic.so")
        self.assertEqual((shown.code, shown.out), (0, "0\n0\n"), shown)

    def test_python_for_all(self):
        """What it opens globally others find: the C library has come with it, and was not opened itself."""
        script = "import ctypes, sys; l = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL); print(l.plug()); begun = ctypes.c_int(); " \
                 "ctypes.CDLL(None).MPI_Initialized(ctypes.byref(begun)); print(begun.value); l.leave()"  # fmt: skip
        for plugin in ("plain.so", "above.so"):
            shown = tool.run("-n", 1, sys.executable, "-c", script, PROGRAMS / plugin)
            self.assertEqual((shown.code, shown.out, shown.err), (0, "0\n1\n", ""), plugin)

    def test_a_tool_that_is_linked(self):
        for way in WAYS:
            shown = tool.run(*way, "-n", 2, PROGRAMS / "wrapped")
            self.assertEqual((shown.code, sorted(shown.out.splitlines()), shown.err), (0, ["0 failures"] * 2 + ["seen in Fortran"] * 2, ""))

    def test_a_tool_behind_a_shell(self):
        """ld.so loads the library for which the program is made, if there is one here, and the process begins again over ours."""
        program = PROGRAMS / "wrapped"
        if "not found" in subprocess.run(["ldd", program], capture_output=True, text=True).stdout:
            self.skipTest("the other library is not installed")
        for preloaded in ("", PROGRAMS / "wraps.so"):
            shown = tool.run("-n", 2, "-x", f"LD_PRELOAD={preloaded}", "sh", "-c", f"exec '{program}'")
            self.assertEqual((shown.code, sorted(shown.out.splitlines()), shown.err), (0, ["0 failures"] * 2 + ["seen in Fortran"] * 2, ""))

    def test_two_programs(self):
        shown = tool.run("-n", 1, PROGRAMS / "main_symbolic", ":", "-n", 1, PROGRAMS / "main", env={"PLUGINS": "l" + str(PROGRAMS / "symbolic.so")})
        self.assertEqual((shown.code, shown.out, shown.err), (0, "0 failures\n0 failures\n", ""))


if __name__ == "__main__":
    unittest.main()
