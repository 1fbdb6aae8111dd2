"""Programs that are made for another MPI library, by whatever way they come into a job; and which library a program would have."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import tool

FOREIGN = pathlib.Path(tool.BUILD, "tests", "launcher", "foreign")
PLUGIN, LOST = FOREIGN / "launcher_foreign_plugin.so", FOREIGN / "launcher_foreign_lost_plugin.so"
LIBRARY = FOREIGN / "libmpi.so.1"
WAYS = ([], ["--ranks", "processes"])


def python(script, ranks=2):
    return tool.run("-n", ranks, sys.executable, "-c", "import ctypes, sys\n" + script)


class OtherMpi(tool.Case):
    def assert_refused(self, result, user):
        self.assert_says(result, 126, "mpiexec: rank ", f"of 2 could not start: '{user}' is made for Open MPI (it needs libmpi.so.1", str(LIBRARY),
                         "MPI standard ABI", "mpicc")
        self.assertEqual(result.err.count("is made for Open MPI"), 1)

    def test_linked(self):
        result = tool.run("-n", "2", tool.program("foreign"))
        self.assert_says(result, 126, f"mpiexec: '{tool.program('foreign')}' is made for Open MPI (it needs libmpi.so.1", str(LIBRARY), "compile it with")

    def test_behind_a_shell(self):
        foreign = tool.in_shell("foreign")
        for script in (foreign, f"exec {foreign}", f"env {foreign}"):
            self.assert_refused(tool.run("-n", "2", "sh", "-c", script), tool.program("foreign"))

    def test_a_module_of_python(self):
        self.assert_refused(python(f"ctypes.CDLL('{PLUGIN}').begin()"), PLUGIN)

    def test_a_module_whose_library_is_not_there(self):
        result = python(f"ctypes.CDLL('{LOST}')")
        self.assert_says(result, 1, f"OSError: '{LOST}' is made for Open MPI", "it needs libmpi.so.20", "(libmpi.so.20: cannot open shared")

    def test_functions_by_name(self):
        result = python(f"library = ctypes.CDLL('{LIBRARY}')\nlibrary.MPI_Comm_rank\nlibrary.MPI_Init(None, None)")
        self.assert_says(result, 1, "AttributeError: MPI_Init: ", "is made for Open MPI", str(LIBRARY))
        self.assertEqual(python("ctypes.CDLL(None).MPI_Init(None, None)\nctypes.CDLL(None).MPI_Finalize()").code, 0)

    def test_a_plugin_of_an_mpi_program(self):
        for way in WAYS:
            with self.subTest(way=way):
                lost = tool.run(*way, "-n", "1", tool.program("opens"), LOST, "begin")
                self.assert_says(lost, 3, f"'{LOST}' is made for Open MPI", "ended with exit code 3")
                result = tool.run(*way, "-n", "1", tool.program("opens"), PLUGIN, "rank_of")
                self.assert_says(result, 5, "MPI_Comm_rank(comm = 0x44000000): ", "is made for Open MPI (it needs libmpi.so.1")

    def test_a_library_that_is_there_in_vain(self):
        script = f"ctypes.CDLL('{PLUGIN}')\nif len(sys.argv) > 1: ctypes.CDLL('{tool.BUILD}/lib/libmpi_abi.so.1').MPI_Init(None, None)"
        self.assertEqual(python(script).code, 0)

    def test_a_question_for_the_abi(self):
        ask = "a, b = ctypes.c_int(), ctypes.c_int()\nctypes.CDLL(None).MPI_Abi_get_version(ctypes.byref(a), ctypes.byref(b))\n"
        self.assertEqual(python(ask)[:3], (0, "", ""))
        result = python(ask + "raise ImportError('no module for mpiabi')")
        # Where LD_PRELOAD does not take the name of the folder, the library does not know it.
        mpicc = "mpicc" if re.search("[ :]", str(tool.BIN)) else tool.BIN / "mpicc"
        self.assert_says(result, 1, "mpiexec: rank ", "ended with exit code 1 without calling MPI_Init", "MPI_Abi_get_version", "mpi4py",
                         f"MPICC={mpicc} python3 -m pip install", "--no-binary=mpi4py mpi4py")


class Which(tool.Case):
    def test_what_comes_in(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)

        def which(*words):
            return tool.run("which", *words, tool="clump", env={"TMPDIR": folder.name})
        shown = which(sys.executable, "-c", f"import ctypes; ctypes.CDLL('{PLUGIN}')")
        self.assertEqual(shown.code, 1)
        self.assertIn(f"libmpi.so.1, named by {PLUGIN}\n", shown.out)
        self.assertIn(f"started by itself:          {LIBRARY} (Open MPI)\n", shown.out)
        self.assertIn(f"refused: '{PLUGIN}' is made for Open MPI", shown.out)
        ours = which("sh", "-c", f"{tool.in_shell('show')} >/dev/null")
        self.assertEqual(ours.code, 0)
        self.assertIn(f"under Clump's mpiexec:      {tool.BUILD / 'lib' / 'libmpi_abi.so.1'}", ours.out)
        lost = which(sys.executable, "-c", f"import ctypes; ctypes.CDLL('{LOST}')")
        self.assertIn("ended with exit code 1", lost.out)
        self.assertIn("libmpi.so.20, named by", lost.out)
        self.assertIn("not found (Open MPI)", lost.out)
        none = which("true", "-x")
        self.assertEqual((none.code, none.out), (1, "true -x: no MPI library has come in\n"))
        self.assertEqual(os.listdir(folder.name), [])

    def test_an_mpi4py_that_chooses(self):
        """What mpi4py asks beside another MPI library is not what it has under mpiexec, which chooses the module for it."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        package = pathlib.Path(folder.name, "mpi4py")
        package.mkdir()
        package.joinpath("__init__.py").touch()
        asks = f"import ctypes; ctypes.CDLL('{LIBRARY}')"
        package.joinpath("MPI.py").write_text(f"{asks}; ctypes.CDLL('{package}/MPI.openmpi.cpython.so')\n", encoding="utf-8")
        for family, library in (("mpich", "libmpi.so.12"), ("openmpi", "libmpi.so.40")):
            made = pathlib.Path(folder.name, library)
            for file, words in ((made, (f"-Wl,-soname,{library}",)), (package / f"MPI.{family}.cpython.so", ("-Wl,--no-as-needed", f"-Wl,-rpath,{folder.name}", made))):
                subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-xc", "/dev/null", "-xnone", *words, "-o", file], check=True)
        shown = tool.run("which", sys.executable, "-c", "from mpi4py import MPI", tool="clump", env={"PYTHONPATH": folder.name})
        self.assertEqual(shown.code, 0, shown)
        self.assertIn(f"started by itself:          {LIBRARY} (Open MPI)\n", shown.out)
        self.assertIn(f"started by itself:          {made.parent}/libmpi.so.40 (Open MPI)\nthis Python has mpi4py with 2 modules", shown.out)
        self.assertIn("MPI.openmpi.cpython.so: libmpi.so.40 (Open MPI)\nunder Clump's mpiexec:      MPICH's: mpiexec sets MPI4PY_MPIABI=mpich", shown.out)
        self.assertNotIn("refused", shown.out)
        # Where it is only there, the library is the program's own.
        shown = tool.run("which", sys.executable, "-c", asks, tool="clump", env={"PYTHONPATH": folder.name})
        self.assertEqual(shown.code, 1, shown)
        self.assertIn("refused", shown.out)

    def test_without_running_it(self):
        shown = tool.run("which", tool.program("foreign"), tool="clump")
        self.assertEqual(shown.code, 1)
        self.assertIn(f"(Open MPI)\n  under Clump's mpiexec:      refused: '{tool.program('foreign')}' is made for Open MPI", shown.out)


if __name__ == "__main__":
    unittest.main()
