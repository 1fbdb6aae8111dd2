"""Python programs: reports name their files, lines and functions; with --ranks fibers, seeds order their messages."""

import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from tool import BUILD, Case, program, run

PROGRAM = pathlib.Path(__file__).with_name("python_program.py")
LINES = PROGRAM.read_text().splitlines()
FIBERS = ("--ranks", "fibers")


def line_with(text):
    return next(number for number, line in enumerate(LINES, 1) if text in line)


def place(text, function):
    return f"at python_program.py:{line_with(text)}, in {function}"


class Reports(Case):
    OPTIONS = ()
    RUNS = "runs"

    def start(self, what, *options, ranks=2):
        return run(*self.OPTIONS, *options, "-n", ranks, sys.executable, PROGRAM, what)

    def test_deadlock(self):
        self.assert_says(self.start("circle"), 1, "deadlock", "MPI_Recv", place("MPI.MPI_Recv(", "Solver.receive"))

    def test_deadlock_of_threads(self):
        result = self.start("thread", "--hang-after", 2)
        self.assert_says(result, 1, place("MPI.MPI_Recv(", "Solver.receive"))

    def test_time_out(self):
        result = self.start("late", "--timeout", 2)
        self.assert_says(result, 124, "rank 0 waits in MPI_Barrier " + place("MPI.MPI_Barrier(WORLD) if", "late"),
                         "rank 1 " + self.RUNS + " " + place("time.sleep", "rest"))

    def test_fault(self):
        self.assert_says(self.start("fault"), 139, "rank 1 of 2 was ended by SIGSEGV", f"fault at {PROGRAM}:{line_with('string_at')}\n", "<module> at")

    def test_end(self):
        self.assert_says(self.start("leaves"), 3, "rank 1 of 2", "before it called MPI_Finalize", f"leaves at {PROGRAM}:{line_with('_exit(3)')}\n")


    def test_left_communicators(self):
        self.assert_says(self.start("keeps", "--check"), 0, f"1 communicator each of MPI_Comm_dup {place('MPI.MPI_Comm_dup(', 'keep')}\n")

    def test_names_of_mpi(self):
        """dlsym(RTLD_DEFAULT) finds none before a library of MPI's is opened: NEURON takes what it finds for MPICH's."""
        find = "c.dlsym(None, b'MPI_Initialized') is None"
        script = "import ctypes; c = ctypes.CDLL(None); c.dlsym.restype = ctypes.c_void_p; " \
                 f"print({find}); ctypes.CDLL('libmpi_abi.so.1', ctypes.RTLD_GLOBAL); print({find})"
        result = run(*self.OPTIONS, "-n", 1, sys.executable, "-c", script)
        self.assertEqual((result.code, result.out), (0, "True\nFalse\n"), result)

    def test_names_of_mpi_in_another_rank(self):
        """What one rank opens, another one does not find."""
        with tempfile.TemporaryDirectory() as folder:
            script = "import ctypes, os, time; c = ctypes.CDLL(None); c.dlsym.restype = ctypes.c_void_p\n" \
                     f"path = '{folder}/opened'\n" \
                     "if os.environ['CLUMP_IS_RANK'] == '0/2': ctypes.CDLL('libmpi_abi.so.1', ctypes.RTLD_GLOBAL); open(path, 'w').close()\n" \
                     "while not os.path.exists(path): time.sleep(0.01)\n" \
                     "print(os.environ['CLUMP_IS_RANK'], c.dlsym(None, b'MPI_Initialized') is None)"
            result = run(*self.OPTIONS, "-n", 2, sys.executable, "-c", script)
        self.assertEqual((result.code, sorted(result.out.splitlines())), (0, ["0/2 False", "1/2 True"]), result)

    def test_long_path(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "d" * 150, "e" * 150, PROGRAM.name)
            copy.parent.mkdir(parents=True)
            shutil.copy(PROGRAM, copy)
            self.assert_says(run(*self.OPTIONS, "-n", 2, sys.executable, copy, "circle"), 1, place("MPI.MPI_Recv(", "Solver.receive"))


class Fibers(Reports):
    OPTIONS = FIBERS
    RUNS = "is outside MPI"

    def setUp(self):
        told = run("--explain", *FIBERS, "-n", 1, sys.executable, "-c", "0")
        if "there is no libpython" in told.err:
            self.skipTest(told.err)
        self.assert_says(told, 0, "1 rank as a fiber")

    def test_orders(self):
        """A program that is wrong about the order of messages fails by a seed, and by that one again."""
        self.assert_says(run("--seed", 1, "-n", 3, sys.executable, PROGRAM, "order"), 2, "with --ranks fibers those of Python are fibers")
        found = self.start("order", "--explore", 50, ranks=3)
        self.assert_says(found, 1, "RuntimeError: the first message is of rank 2")
        seed = re.search(r"mpiexec --seed (\d+)", found.err)[1]
        self.assert_says(self.start("order", "--seed", seed, ranks=3), 1, "RuntimeError: the first message is of rank 2")


class Others(Case):
    def assert_runs(self, path):
        result = run(*FIBERS, "--timeout", 2, "-n", 2, path)
        self.assert_says(result, 124, "rank 0 waits in MPI_Barrier at embeds.c:9", "rank 1 is outside MPI at embeds.c:10")

    def test_program_with_an_interpreter(self):
        """Reports name the program's own lines, whatever it has loaded."""
        self.assert_runs(program("embeds"))

    def test_program_named_like_one(self):
        """It is run itself, though it has a library of Python's."""
        with tempfile.TemporaryDirectory() as folder:
            self.assert_runs(shutil.copy(program("embeds"), pathlib.Path(folder, "python_embeds")))


class WithoutLibrary(Case):
    def test_ranks_are_processes(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "bin/python3.0")
            program.parent.mkdir()
            shutil.copy(shutil.which("true"), program)
            self.assert_says(run(*FIBERS, "-n", 2, program), 0, f"the ranks of '{program}' are processes", f"there is no libpython3.0.so.1.0 in {folder}/lib")
            library = pathlib.Path(folder, "lib/libpython3.0.so.1.0")
            library.parent.mkdir()
            shutil.copy(BUILD / "lib/libclump_malloc.so", library)
            self.assert_says(run(*FIBERS, "-n", 2, program), 0, f"the ranks of '{program}' are processes: {library} has no Py_BytesMain")

    def test_script_in_the_place_of_an_interpreter(self):
        """As pyenv has them."""
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "python3")
            script.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
            script.chmod(0o755)
            self.assert_says(run(*FIBERS, "-n", 2, script, "-c", "0"), 0, f"processes: {script} is a script that starts an interpreter")


if __name__ == "__main__":
    unittest.main()
