"""The library for Open MPI's ABI: what it exports, how programs find it, and what is said of those that it does not serve."""

import os
import pathlib
import re
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

PEER = pathlib.Path(os.environ["CLUMP_PEER_OPENMPI"])
PROGRAMS = pathlib.Path(os.environ["CLUMP_PROGRAMS"])
FACADE = tool.BUILD / "lib" / "clump" / "openmpi" / "libmpi.so.40"
MPIFH = pathlib.Path(os.environ["CLUMP_DEBIAN_MPIFH"])
WAYS = ([], ["--ranks", "processes"])


def compile_text(text, *options):
    subprocess.run([os.environ.get("CC", "cc"), "-x", "c", "-", "-x", "none", *options], input=text, text=True, check=True)


def each_way(text):
    """What a program of one rank, made for Open MPI 5, does in each of WAYS."""
    with tempfile.TemporaryDirectory() as folder:
        compile_text(text, f"-I{PEER / 'include'}", FACADE, "-o", f"{folder}/program")
        return [tool.run("-n", "1", *way, f"{folder}/program") for way in WAYS]


class Exports(unittest.TestCase):
    def test_functions_of_the_header(self):
        declared = set(re.findall(r"^OMPI_DECLSPEC\b[^;(]*?\b(\w+)\(", (PEER / "include" / "mpi.h").read_text(), re.M))
        self.assertGreater(len(declared), 850)
        self.assertEqual(sorted(declared - exported(FACADE).keys()), [])

    def test_all_that_the_library_of_open_mpi_has_and_headers_name(self):
        # Names in capitals are Fortran's.
        theirs = {name for name in exported(PEER / "lib" / "libmpi.so.40") if re.match(r"P?MPIX?_[A-Z][a-z]|P?MPI_T_|OMPI_(C|Affinity)_", name)}
        self.assertGreater(len(theirs), 850)
        self.assertEqual(sorted(theirs - exported(FACADE).keys()), [])

    def test_objects_have_the_sizes_that_programs_have_room_for(self):
        theirs, ours = exported(PEER / "lib" / "libmpi.so.40"), exported(FACADE)
        objects = {name for name in theirs.keys() & ours.keys() if re.match(r"ompi_(mpi|request|message)_(?!init$|finalize$|abort$)", name)}
        self.assertGreater(len(objects), 90)
        self.assertEqual({name: ours[name] for name in objects}, {name: theirs[name] for name in objects})

    def test_it_stands_alone(self):
        self.assertEqual(needed(FACADE), ["libc.so.6"])

    def test_fortran_stands_on_it(self):
        self.assertEqual(needed(FACADE.with_name("libmpi_mpifh.so.40")), ["libmpi.so.40", "libc.so.6"])
        for name in ("libmpi_usempi_ignore_tkr.so.40", "libmpi_usempif08.so.40"):
            self.assertIn("libmpi_mpifh.so.40", needed(FACADE.with_name(name)))

    def test_procedures_of_fortran(self):
        if not MPIFH.exists():
            self.skipTest("Open MPI's libraries for Fortran are not installed (libopenmpi3)")
        ours = exported(FACADE.with_name("libmpi_mpifh.so.40"))
        for name in ("libmpi_mpifh.so.40", "libmpi_usempi_ignore_tkr.so.40", "libmpi_usempif08.so.40"):
            theirs = exported(MPIFH.with_name(name))
            # Not ours: what the types of the modules bring for CLASS(*), spellings that gfortran does not have, functions of Open MPI's own parts.
            theirs = {each: size for each, size in theirs.items() if re.match(r"p?mpix?_|P?MPIX?_[A-Z_0-9]+$|ompi_f08_|__mpi", each)}
            theirs = {each: size for each, size in theirs.items() if not re.search(r"_MOD___|_cptr(__)?$|_CPTR$", each)}
            self.assertGreater(len(theirs), 300)
            self.assertEqual(sorted(theirs.keys() - ours.keys()), [], name)
            objects = {each for each in theirs if re.match(r"mpi_fortran_|ompi_f08_mpi_|__mpi_f08_types_MOD_mpi_", each)}
            self.assertEqual({each: ours[each] for each in objects}, {each: theirs[each] for each in objects}, name)

    def test_no_library_of_a_program_is_moved_before_its_others(self):
        # What a preloaded library needs stands before the program's own libraries, and ld.so relocates these first. If one of them has a
        # reference to a function of libm that has variants (IFUNC), and does not name libm, the program then ends in ld.so.
        for name in ("libmpi_abi.so.1", "libclump_host.so"):
            plain = {library for library in needed(tool.BUILD / "lib" / name) if not re.match(r"libclump_|libgcc_s|libc\.|ld-linux", library)}
            self.assertEqual(plain, set(), name)


class Programs(tool.Case):
    def test_run_path_and_library_path_do_not_count(self):
        for way in WAYS:
            shown = tool.run(*way, "-n", 2, PROGRAMS / "basics_5_pie", env={"LD_LIBRARY_PATH": str(PEER / "lib")})
            self.assertEqual((shown.code, shown.out), (0, "all of it holds for 2 ranks\n"), shown)

    def test_behind_a_shell(self):
        for env in {}, {"LD_LIBRARY_PATH": str(FACADE.parent)}:
            shown = tool.run("-n", 2, "sh", "-c", f"exec {PROGRAMS / 'basics_5_pie'}", env=env)
            self.assertEqual((shown.code, shown.out), (0, "all of it holds for 2 ranks\n"), shown)

    def test_two_families(self):
        shown = tool.run("-n", 2, PROGRAMS / "two_families")
        self.assert_says(shown, 126, "two_families' cannot run: it needs two MPI libraries", "libmpi_abi.so.1")

    def test_a_library_inside_the_program(self):
        inside.check_inside(self, "ompi_mpi_comm_world", "Open MPI")

    def test_fortran(self):
        for way in WAYS:
            shown = tool.run(*way, "-n", 3, PROGRAMS / "fortran")
            self.assertEqual((shown.code, shown.out), (0, "all of it holds for 3 ranks\n"), shown)
        shown = tool.run("-n", 2, "sh", "-c", f"exec {PROGRAMS / 'fortran'}", env={"LD_LIBRARY_PATH": str(PROGRAMS)})
        self.assertEqual((shown.code, shown.out), (0, "all of it holds for 2 ranks\n"), shown)
        explained = tool.run("explain", PROGRAMS / "fortran", tool="clump")
        self.assertIn("all ranks are fibers", explained.out)
        self.assertNotIn("but for", explained.out)

    def test_only_the_library_of_mpi_f08_is_named(self):
        """Its procedures are in the library that it stands on."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            stub = folder / "libmpi_usempif08.so.40"
            calls = ("init", "barrier", "finalize")  # with COMM = MPI_COMM_WORLD where there is one
            compile_text("".join(f"void mpi_{call}_f08_(void) {{}}\n" for call in calls), "-shared", "-fPIC", f"-Wl,-soname,{stub.name}", "-o", stub)
            compile_text("void mpi_init_f08_(int*); void mpi_barrier_f08_(int*, int*); void mpi_finalize_f08_(int*);\n"
                         "int main(void) { int world = 0, code = 0; mpi_init_f08_(&code); mpi_barrier_f08_(&world, &code); mpi_finalize_f08_(&code); return code; }\n",
                         "-fPIE", "-pie", stub, "-o", folder / "program")  # fmt: skip
            shown = tool.run("-n", 2, folder / "program")
            self.assertEqual((shown.code, shown.err), (0, ""), shown)
            explained = tool.run("explain", folder / "program", tool="clump")
            self.assertIn("all ranks are fibers", explained.out)

    def test_a_procedure_that_no_library_has(self):
        explained = tool.run("explain", PROGRAMS / "fortran_more", tool="clump")
        self.assertIn("but for mpi_not_there_, which the program names", explained.out)
        shown = tool.run("-n", 2, PROGRAMS / "fortran_more")
        self.assert_says(shown, 0, "Open MPI's ABI and names mpi_not_there_, which Clump does not have")
        self.assertEqual(shown.out, "all of it holds for 2 ranks\n", shown)
        self.assert_says(tool.run("-n", 2, PROGRAMS / "fortran_more", *range(9)), 127, "undefined symbol: mpi_not_there_")

    def test_a_function_that_no_library_has(self):
        missing.check_missing(self, PEER / "bin/mpicc", "Open MPI")

    def test_the_library_that_the_cxx_bindings_need_brings_nothing_else(self):
        self.assertEqual(needed(FACADE.with_name("libopen-pal.so.40")), ["libc.so.6"])
        explained = tool.run("explain", PROGRAMS / "opal", tool="clump")
        self.assertIn("all ranks are fibers", explained.out)
        for way in WAYS:
            shown = tool.run(*way, "-n", 2, PROGRAMS / "opal")
            self.assertEqual((shown.code, shown.out), (0, "all of it holds for 2 ranks\n"), shown)

    def test_a_program_that_needs_more_of_that_library_gets_open_mpis(self):
        explained = tool.run("explain", PROGRAMS / "opal_more", tool="clump")
        self.assertIn("all ranks are fibers", explained.out)  # libopen-pal imports signalfd(), and does not call it
        for way in WAYS:
            shown = tool.run(*way, "-n", 2, PROGRAMS / "opal_more")
            self.assertEqual((shown.code, shown.out), (0, "all of it holds for 2 ranks\n"), shown)

    def test_a_library_that_needs_more_of_that_library_gets_open_mpis_for_all(self):
        """As programs that Debian's mpifort.openmpi links with -Wl,--no-as-needed."""
        explained = tool.run("explain", PROGRAMS / "opal_and_rte", tool="clump")
        self.assertIn("all ranks are fibers", explained.out)  # libopen-pal imports signalfd(), and does not call it
        for way in WAYS:
            shown = tool.run(*way, "-n", 2, PROGRAMS / "opal_and_rte")
            self.assertEqual((shown.code, shown.out), (0, "all of it holds for 2 ranks\n"), shown)

    def test_errors_are_classes(self):
        """Programs compare what a function returns; the text is that of the failure."""
        text = """#include <mpi.h>
            #include <stdio.h>
            int main(void) {
              char text[MPI_MAX_ERROR_STRING];
              int size, error_class, own, buffer = 0;
              MPI_Status status;
              MPI_Init(NULL, NULL);
              MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
              int wrong = MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD);
              MPI_Error_class(wrong, &error_class);
              MPI_Error_string(wrong, text, &size);
              printf("%d %d %s\\n", wrong == MPI_ERR_RANK, error_class == MPI_ERR_RANK, text);
              MPI_Request request;
              MPI_Irecv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
              MPI_Send(&buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
              wrong = MPI_Waitall(1, &request, &status);
              printf("%d %d\\n", wrong == MPI_ERR_IN_STATUS, status.MPI_ERROR == MPI_ERR_TRUNCATE);
              MPI_Add_error_code(MPI_ERR_RANK, &own);
              MPI_Error_class(own, &error_class);
              printf("%d\\n", error_class == MPI_ERR_RANK);
              MPI_Error_string(MPI_ERR_TAG, text, &size);
              printf("%s\\n", text);
              MPI_Finalize();
            }"""
        for result in each_way(text):
            lines = result.out.splitlines()
            self.assertEqual((result.code, len(lines)), (0, 4), result)
            self.assertRegex(lines[0], "^1 1 MPI_Send.*99")
            self.assertEqual(lines[1:3], ["1 1", "1"])
            self.assertRegex(lines[3], "^MPI_ERR_TAG")

    def test_the_handler_of_the_cxx_bindings_returns(self):
        text = """#include <mpi.h>
            #include <stdio.h>
            extern struct ompi_predefined_errhandler_t ompi_mpi_errors_throw_exceptions;
            int main(void) {
              MPI_Errhandler set = (MPI_Errhandler)&ompi_mpi_errors_throw_exceptions;
              MPI_Init(NULL, NULL);
              int code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, set), wrong = MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD);
              printf("%d %d\\n", code, wrong == MPI_ERR_RANK);
              MPI_Finalize();
            }"""
        for result in each_way(text):
            self.assertEqual((result.code, result.out), (0, "0 1\n"), result)

    def test_an_extension_that_clump_lacks(self):
        missing.check_extension(self, PEER / "bin/mpicc", "Open MPI")

    def test_reports_name_the_program_s_lines(self):
        waits, makes = lines_of_places()
        for way in WAYS:
            shown = tool.run(*way, "-n", 2, PROGRAMS / "places")
            self.assertIn(f"wait in MPI_Recv(source rank+1, tag 0, MPI_COMM_WORLD) at places.c:{waits}: ", shown.err)
            shown = tool.run(*way, "--check", "-n", 2, PROGRAMS / "places", "leave")
            self.assertRegex(shown.err, rf"1 communicator each of MPI_Comm_dup at \S*places\.c:{makes}\n")

    def test_which_and_explain(self):
        shown = tool.run("which", PROGRAMS / "basics_5_pie", tool="clump")
        self.assertEqual(shown.code, 0)
        self.assertIn(f"under Clump's mpiexec:      {FACADE}, which has Open MPI's ABI", shown.out)
        explained = tool.run("explain", PROGRAMS / "basics_5_pie", tool="clump")
        self.assertEqual(explained.code, 0)
        self.assertIn("Open MPI's ABI", explained.out)


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
                 "r = ctypes.c_int(-1); l.MPI_Comm_rank(ctypes.byref(ctypes.c_char.in_dll(l, 'ompi_mpi_comm_world')), ctypes.byref(r)); print(r.value); l.MPI_Finalize()"
        shown = tool.run("-n", 2, sys.executable, "-c", script)
        self.assertEqual((shown.code, sorted(shown.out.split())), (0, ["0", "1"]), shown)

    def test_mpi_before_main(self):
        check_before_main(self, PEER / "bin" / "mpicc")

    def test_found_at_run_time(self):
        check_at_run_time(self, PEER / "include", "libmpi.so.40", "Open MPI v4.", "ompi_mpi_init", "MPIX_Comm_agree",
                          "libmpi.so", "libmpi.so.40.30.4", PEER / "lib" / "libmpi.so.40", "libmpi.so.40")  # fmt: skip

    def test_by_the_name_of_the_library(self):
        script = "import ctypes; l = ctypes.CDLL('libmpi.so.40'); l.MPI_Init(None, None); r = ctypes.c_int(-1); " \
                 "l.MPI_Comm_rank(ctypes.byref(ctypes.c_char.in_dll(l, 'ompi_mpi_comm_world')), ctypes.byref(r)); print(r.value); l.MPI_Finalize()"
        shown = tool.run("-n", 2, sys.executable, "-c", script)
        self.assertEqual((shown.code, sorted(shown.out.split())), (0, ["0", "1"]), shown)

    def test_by_the_name_of_the_library_for_fortran(self):
        script = "import ctypes; l = ctypes.CDLL('libmpi_mpifh.so.40'); e, r, w = ctypes.c_int(-1), ctypes.c_int(-1), ctypes.c_int(0); " \
                 "l.mpi_init_(ctypes.byref(e)); l.mpi_comm_rank_(ctypes.byref(w), ctypes.byref(r), ctypes.byref(e)); print(r.value); " \
                 "l.mpi_finalize_(ctypes.byref(e))"
        shown = tool.run("-n", 2, sys.executable, "-c", script)
        self.assertEqual((shown.code, sorted(shown.out.split())), (0, ["0", "1"]), shown)


if __name__ == "__main__":
    unittest.main()
