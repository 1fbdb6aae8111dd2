"""A program of a family that names a function which neither Clump nor a library has."""

import os
import pathlib
import subprocess
import tempfile

import tool

NAME = "MPIX_Nobody_has_this"
# Calls the function if there is an argument. It is named by the call, or by its address in a table as well, or is weak.
SOURCE = """
#include <mpi.h>
#include <stdio.h>
%s int MPIX_Nobody_has_this(void);
static int (*volatile table[])(void) = {%s};
int main(int argc, char** argv) {
  int rank = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1) printf("called %%d\\n", table[0] ? table[0]() : MPIX_Nobody_has_this());
  if (rank == 0) puts("the rest works");
  return MPI_Finalize();
}
"""


def make(folder, mpicc):
    """{name: program}, linked to a library that had the function and has it no more."""
    environment = {**os.environ, "PATH": f"{mpicc.parent}:{os.environ['PATH']}"}
    other, programs = folder / "libother.so", {}

    def make_other(text):
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-x", "c", "-", "-o", other], input=text, text=True, check=True)

    make_other(f"int {NAME}(void) {{ return 1; }}")
    for name, weak, table, how in (("lazy", "", "0", "lazy"), ("now", "", "0", "now"), ("address", "", NAME, "lazy"),
                                   ("weak", "__attribute__((weak))", "0", "lazy")):  # fmt: skip
        programs[name] = folder / name
        programs[name].with_suffix(".c").write_text(SOURCE % (weak, table))
        subprocess.run([mpicc, "-fPIE", "-pie", programs[name].with_suffix(".c"), "-o", programs[name], f"-Wl,-z,{how}", other, f"-Wl,-rpath,{folder}"],
                       env=environment, check=True)  # fmt: skip
    make_other("int nothing;")
    return programs


def check_extension(case, mpicc, family):
    """A program that names an extension which Clump lacks starts, and a call of it says so."""
    folder = tempfile.TemporaryDirectory()
    case.addCleanup(folder.cleanup)
    program = pathlib.Path(folder.name, "extension")
    program.with_suffix(".c").write_text("#include <mpi.h>\nint MPIX_Comm_revoke(MPI_Comm);\nint main(int argc, char** argv) { MPI_Init(&argc, &argv);\n"
                                         "  if (argc > 1) MPIX_Comm_revoke(MPI_COMM_WORLD);\n  return MPI_Finalize(); }\n")  # fmt: skip
    environment = {**os.environ, "PATH": f"{mpicc.parent}:{os.environ['PATH']}"}
    subprocess.run([mpicc, "-fPIE", "-pie", program.with_suffix(".c"), "-o", program], env=environment, check=True)
    for way in ([], ["--ranks", "processes"]):
        shown = tool.run(*way, "-n", 2, program)
        case.assertEqual((shown.code, shown.out, shown.err), (0, "", ""), shown)
        case.assert_says(tool.run(*way, "-n", 2, program, "call"), 55, f"MPIX_Comm_revoke is an extension of {family}'s that Clump does not have")


def check_missing(case, mpicc, family):
    folder = tempfile.TemporaryDirectory()
    case.addCleanup(folder.cleanup)
    programs = make(pathlib.Path(folder.name), mpicc)
    told = f"lazy' is made for {family}'s ABI and names {NAME}, which Clump does not have: a rank that calls it ends there, and the rest works"
    for way in ([], ["--ranks", "processes"]):
        shown = tool.run(*way, "-n", 2, programs["lazy"])
        case.assert_says(shown, 0, "mpiexec: ", told)
        case.assertEqual((shown.out, len(shown.err.splitlines())), ("the rest works\n", 1), shown)
    shown = tool.run("-n", 2, programs["lazy"], "call")
    case.assert_says(shown, 127, told, f"undefined symbol: {NAME}")
    case.assertNotIn("called", shown.out)
    case.assert_says(tool.run("--ranks", "fibers", "-n", 2, programs["lazy"]), 126, "cannot share a process", NAME, "bound only when they are called")
    case.assert_says(tool.run("-n", 2, programs["lazy"], env={"LD_BIND_NOW": "1"}), 126, "lazy' cannot run with LD_BIND_NOW", NAME)
    explained = tool.run("explain", programs["lazy"], tool="clump")
    case.assertEqual(explained.code, 0, explained)
    case.assertIn("each rank is a process: ", explained.out)
    case.assertIn(f"{family}'s ABI", explained.out)
    case.assertIn(f"but for {NAME}, which the program names", explained.out)

    for name, why in ("now", "is linked with -z now: link it with -z lazy"), ("address", "takes its address"):
        shown = tool.run("-n", 2, programs[name])
        case.assert_says(shown, 126, f"{name}' cannot run: it is made for {family}'s ABI and names {NAME}, which Clump does not have", why)
        case.assertEqual((shown.out, len(shown.err.splitlines())), ("", 1), shown)
        explained = tool.run("explain", programs[name], tool="clump")
        case.assertEqual(explained.code, 1, explained)
        case.assertIn(why, explained.out)

    shown = tool.run("-n", 2, programs["weak"])
    case.assertEqual((shown.code, shown.out, shown.err), (0, "the rest works\n", ""), shown)
    case.assertIn("all ranks are fibers", tool.run("explain", programs["weak"], tool="clump").out)
