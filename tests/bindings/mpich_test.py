"""The library for MPICH's ABI: what it exports, how programs find it, and what is said of those that it does not serve."""

import ctypes.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import inside
import missing
import tool
from at_run_time import check_at_run_time
from before_main import check_before_main
from libraries import exported, lines_of_places, needed

PEER = pathlib.Path(os.environ["CLUMP_PEER_MPICH"])
PROGRAMS = pathlib.Path(os.environ["CLUMP_PROGRAMS"])
INTEL = pathlib.Path(os.environ["CLUMP_PEER_INTEL"])
FACADES = tool.BUILD / "lib" / "clump" / "mpich"
DEBIAN = "/usr/lib/x86_64-linux-gnu"
WAYS = ([], ["--ranks", "processes"])


class Exports(unittest.TestCase):
    def test_functions_of_the_header(self):
        declared = set(re.findall(r"^\w[\w *]*?\b(P?MPI_[A-Z]\w+)\(", (PEER / "include" / "mpi_proto.h").read_text(), re.M)) - {"MPI_DUP_FN"}
        self.assertGreater(len(declared), 1300)
        for name in ("libmpi.so.12", "libmpich.so.12"):
            self.assertEqual(sorted(declared - exported(FACADES / name).keys()), [])

    def test_all_that_the_library_of_mpich_has_and_headers_name(self):
        theirs = {name for name in exported(PEER / "lib" / "libmpi.so.12") if re.match(r"P?MPIX?_[A-Z]", name)}
        self.assertEqual(sorted(theirs - exported(FACADES / "libmpi.so.12").keys()), [])

    def test_it_stands_alone(self):
        self.assertEqual(needed(FACADES / "libmpi.so.12"), ["libc.so.6"])

    def test_fortran_stands_on_it(self):
        self.assertEqual(needed(FACADES / "libmpifort.so.12"), ["libmpi.so.12", "libc.so.6"])
        self.assertEqual(needed(FACADES / "libmpichfort.so.12"), ["libmpich.so.12", "libc.so.6"])

    def test_procedures_of_fortran(self):
        if not (INTEL / "lib" / "libmpifort.so.12").exists():
            self.skipTest("Intel MPI's libmpifort.so.12 is not installed ('./dev setup')")
        # Not ours: MPI_X_TOINT, which is Intel's alone, and what the modules for Intel's compilers name.
        theirs = {name for name in exported(INTEL / "lib" / "libmpifort.so.12") if re.match(r"p?mpi_[a-z0-9_]*_$|P?MPI_[A-Z_0-9]+$|mpipriv|mpifcmb", name)}
        theirs = {name for name in theirs if not re.search(r"_f08(ts)?_$|_mp_|_cdesc|MPI_F_|^mpi_sizeof|_toint_|_TOINT$|^P.*_FN|^pmpi_.*_fn_", name)}
        self.assertGreater(len(theirs), 2000)
        self.assertEqual(sorted(theirs - exported(FACADES / "libmpifort.so.12").keys()), [])


class Programs(tool.Case):
    def test_run_path_and_library_path_do_not_count(self):
        for way in WAYS:
            shown = tool.run(*way, "-n", 2, PROGRAMS / "basics", env={"LD_LIBRARY_PATH": str(PEER / "lib")})
            self.assertEqual((shown.code, shown.out), (0, "all of it holds for 2 ranks\n"), shown)

    def test_linked_to_the_library_of_debian(self):
        """It needs libmpich.so.12, and finds one of MPICH by its run path and by LD_LIBRARY_PATH. With that each rank would be alone."""
        for tags in ("disable", "enable"):
            for kind in ("pie", "no-pie"):
                program = PROGRAMS / f"debian_{tags}_{kind}"
                found = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
                self.assertIn(f"libmpich.so.12 => {PROGRAMS}/other/libmpich.so.12", found)
                for way in WAYS:
                    with self.subTest(program=program.name, way=way):
                        shown = tool.run(*way, "-n", 2, program, env={"LD_LIBRARY_PATH": str(PROGRAMS / "other")})
                        self.assertEqual((shown.code, shown.out), (0, "all of it holds for 2 ranks\n"), shown)

    @unittest.skipIf(shutil.which("mpicc.mpich") is None, "not installed: mpicc.mpich (Debian: libmpich-dev)")
    def test_made_by_debian(self):
        """With the system's folder in either kind of run path, and behind a shell."""
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(__file__).parent / "mpich" / "basics.c", os.path.join(folder, "program")
            for flags in ([], ["-Wl,--disable-new-dtags"], ["-Wl,--enable-new-dtags", "-no-pie"]):
                run_path = [f"-Wl,-rpath,{DEBIAN}"] if flags else []
                subprocess.run(["mpicc.mpich", "-w", source, "-o", program, *flags, *run_path], check=True)
                self.assertIn("libmpich.so.12", needed(program))
                for words in ([program], ["sh", "-c", f"exec {program}"]):
                    for way in WAYS:
                        with self.subTest(flags=flags, words=words, way=way):
                            shown = tool.run(*way, "-n", 2, *words, env={"LD_LIBRARY_PATH": DEBIAN})
                            self.assertEqual((shown.code, shown.out), (0, "all of it holds for 2 ranks\n"), shown)

    def test_at_a_fixed_address(self):
        shown = tool.run("-n", 3, PROGRAMS / "fixed")
        self.assertEqual((shown.code, shown.out), (0, "all of it holds for 3 ranks\n"), shown)

    def test_behind_a_shell(self):
        for env in {}, {"LD_LIBRARY_PATH": str(FACADES)}:
            shown = tool.run("-n", 2, "sh", "-c", f"exec {PROGRAMS / 'basics'}", env=env)
            self.assertEqual((shown.code, shown.out), (0, "all of it holds for 2 ranks\n"), shown)

    def test_a_library_for_fortran_in_vain(self):
        for way in WAYS:
            shown = tool.run(*way, "-n", 2, PROGRAMS / "in_vain")
            self.assertEqual((shown.code, shown.out), (0, "all of it holds for 2 ranks\n"), shown)

    def test_two_families(self):
        shown = tool.run("-n", 2, PROGRAMS / "two_families")
        self.assert_says(shown, 126, "two_families' cannot run: it needs two MPI libraries", "libmpi_abi.so.1")

    def test_a_library_inside_the_program(self):
        inside.check_inside(self, "MPIR_Process", "MPICH or a relative of it")

    def test_fortran(self):
        for way in WAYS:
            shown = tool.run(*way, "-n", 3, PROGRAMS / "fortran")
            self.assertEqual((shown.code, shown.out), (0, "all of it holds for 3 ranks\n"), shown)
        shown = tool.run("which", PROGRAMS / "fortran", tool="clump")
        self.assertEqual(shown.code, 0, shown)
        explained = tool.run("explain", PROGRAMS / "fortran", tool="clump")
        self.assertIn("all ranks are fibers", explained.out)
        self.assertNotIn("but for", explained.out)

    def test_a_procedure_that_no_library_has(self):
        explained = tool.run("explain", PROGRAMS / "fortran_more", tool="clump")
        self.assertIn("but for mpi_not_there_, which the program names", explained.out)
        shown = tool.run("-n", 2, PROGRAMS / "fortran_more")
        self.assert_says(shown, 0, "MPICH's ABI and names mpi_not_there_, which Clump does not have")
        self.assertEqual(shown.out, "all of it holds for 2 ranks\n", shown)
        self.assert_says(tool.run("-n", 2, PROGRAMS / "fortran_more", *range(9)), 127, "undefined symbol: mpi_not_there_")

    def test_a_function_that_no_library_has(self):
        missing.check_missing(self, PEER / "bin/mpicc", "MPICH")

    def test_an_extension_that_clump_lacks(self):
        missing.check_extension(self, PEER / "bin/mpicc", "MPICH")

    def test_reports_name_the_program_s_lines(self):
        waits, makes = lines_of_places()
        for way in WAYS:
            shown = tool.run(*way, "-n", 2, PROGRAMS / "places")
            self.assertIn(f"wait in MPI_Recv(source rank+1, tag 0, MPI_COMM_WORLD) at places.c:{waits}: ", shown.err)
            shown = tool.run(*way, "--check", "-n", 2, PROGRAMS / "places", "leave")
            self.assertRegex(shown.err, rf"1 communicator each of MPI_Comm_dup at \S*places\.c:{makes}\n")

    def test_which_and_explain(self):
        shown = tool.run("which", PROGRAMS / "basics", tool="clump")
        self.assertEqual(shown.code, 0)
        self.assertIn(f"under Clump's mpiexec:      {FACADES / 'libmpi.so.12'}, which has MPICH's ABI", shown.out)
        explained = tool.run("explain", PROGRAMS / "basics", tool="clump")
        self.assertEqual(explained.code, 0)
        self.assertIn("MPICH's ABI", explained.out)


class Plugins(tool.Case):
    def test_of_a_program_for_the_standard_abi(self):
        for way in WAYS:
            shown = tool.run(*way, "-n", 3, tool.program("opens"), PROGRAMS / "plugin.so", "multiply")
            self.assertEqual((shown.code, shown.out), (0, "the product is 24\n"), shown)

    def test_of_python(self):
        shown = tool.run("-n", 3, sys.executable, "-c", f"import ctypes, sys; sys.exit(ctypes.CDLL('{PROGRAMS / 'plugin.so'}').multiply())")
        self.assertEqual((shown.code, shown.out), (0, "the product is 24\n"), shown)

    def test_by_the_name_without_a_number(self):
        """As Rmpi opens it: the library that is there already."""
        script = f"import ctypes; ctypes.CDLL('{PROGRAMS / 'plugin.so'}'); l = ctypes.CDLL('libmpi.so', ctypes.RTLD_GLOBAL); l.MPI_Init(None, None); " \
                 "r = ctypes.c_int(-1); l.MPI_Comm_rank(0x44000000, ctypes.byref(r)); print(r.value); l.MPI_Finalize()"
        shown = tool.run("-n", 2, sys.executable, "-c", script)
        self.assertEqual((shown.code, sorted(shown.out.split())), (0, ["0", "1"]), shown)

    def test_mpi_before_main(self):
        check_before_main(self, PEER / "bin" / "mpicc")

    def test_found_at_run_time(self):
        libraries = PEER / "lib"
        check_at_run_time(self, PEER / "include", "libmpi.so.12", "MPICH Version:\t5.", "MPIR_Dup_fn", "MPIX_Stream_create",
                          "libmpi.so", "libmpi.so.12.5.2", libraries / "libmpi.so.12", "libmpi.so.12")  # fmt: skip
        check_at_run_time(self, PEER / "include", "libmpich.so.12", "MPICH Version:\t5.", "MPIR_Dup_fn", "MPIX_Comm_agree",
                          "libmpich.so", "libmpich.so.12.1.0", "libmpi.so")  # fmt: skip

    @unittest.skipIf(ctypes.util.find_library("mpi"), "this system has an MPI library")
    def test_found_without_a_number(self):
        check_at_run_time(self, PEER / "include", "libmpi.so", "MPICH Version:\t5.", "MPIR_Dup_fn", "MPIX_Stream_create", "libmpi.so.12")

    @unittest.skipIf(ctypes.util.find_library("mpi"), "this system has an MPI library")
    def test_of_a_child_of_python(self):
        """What a rank starts is a job of one rank, and finds the library as mpi4py's module needs it: by its name."""
        child = "import ctypes; l = ctypes.CDLL('libmpi.so.12'); l.MPI_Init(None, None); n = ctypes.c_int(-1); " \
                "l.MPI_Comm_size(0x44000000, ctypes.byref(n)); print(n.value); l.MPI_Finalize()"
        for way in ((), ("--ranks", "fibers")):
            rank = "import ctypes, subprocess, sys; l = ctypes.CDLL('libmpi.so.12'); l.MPI_Init(None, None); " \
                   f"subprocess.check_call([sys.executable, '-c', \"{child}\"]); l.MPI_Finalize()"
            shown = tool.run(*way, "-n", 2, sys.executable, "-c", rank, env={"MPI4PY_MPIABI": "mpich"})
            self.assertEqual((shown.code, "".join(shown.out.split())), (0, "11"), shown)  # two writers

    def test_by_the_name_of_the_library(self):
        script = "import ctypes; l = ctypes.CDLL('libmpi.so.12'); l.MPI_Init(None, None); r = ctypes.c_int(-1); " \
                 "l.MPI_Comm_rank(0x44000000, ctypes.byref(r)); print(r.value); l.MPI_Finalize()"
        shown = tool.run("-n", 2, sys.executable, "-c", script)
        self.assertEqual((shown.code, sorted(shown.out.split())), (0, ["0", "1"]), shown)


if __name__ == "__main__":
    unittest.main()
