"""Reports name lines of the user's program and nothing of Clump's own, from an installation without debug files."""

import pathlib
import tempfile
import unittest

import place

PROGRAM = r"""
#include <mpi.h>
#include <stdlib.h>
static void wait_for(int peer) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  /* line 6 */
}
static void crash(volatile int* where) {
  *where = 1;  /* line 9 */
}
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && rank == 1) crash(NULL);
  wait_for(1 - rank);
  return 0;
}
"""


class Reports(place.Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "user.c").write_text(PROGRAM)

    def setUp(self):
        self.run_here("mpicc", "-g", "user.c", "-o", "user", cwd=self.folder)

    def assert_nothing_of_ours(self):
        for word in ("clump::", "libclump", "libmpi_abi", ".cc:"):
            self.assertNotIn(word, self.err)

    def test_deadlock(self):
        for ranks in ("fibers", "threads", "processes"):
            with self.subTest(ranks=ranks):
                self.run_here("mpiexec", "-n", 2, "--ranks", ranks, "./user", cwd=self.folder, code=1)
                self.assertRegex(self.err, r"mpiexec: deadlock: (?s:.*)MPI_Recv\(source.* at user\.c:6")
                self.assert_nothing_of_ours()

    def test_crash(self):
        for ranks in ("fibers", "processes"):
            with self.subTest(ranks=ranks):
                self.run_here("mpiexec", "-n", 2, "--ranks", ranks, "./user", "crash", cwd=self.folder, code=None)
                self.assertRegex(self.err, r"(?s)rank 1 of 2 was ended by SIGSEGV.*#0  crash at \S*user\.c:9\n.*main at \S*user\.c:15\n")
                self.assert_nothing_of_ours()

    def test_check(self):
        """The message is written in the rank, with libclump_places.so."""
        (self.folder / "types.c").write_text(
            "#include <mpi.h>\nint main(void) {\n  int rank; float f = 0; int i = 0;\n  MPI_Init(0, 0);\n"
            "  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  if (rank == 0) MPI_Send(&f, 1, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);\n"
            "  else MPI_Recv(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n  return MPI_Finalize();\n}\n")
        self.run_here("mpicc", "-g", "types.c", "-o", "types", cwd=self.folder)
        self.run_here("mpiexec", "-n", 2, "--check=error", "./types", cwd=self.folder, code=None)
        self.assertRegex(self.err, r"MPI_FLOAT(?s:.*)types\.c:[67]")


if __name__ == "__main__":
    unittest.main()
