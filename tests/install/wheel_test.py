"""The wheel: made from the build tree, installed into an empty environment, and used from there, with nothing else of ours in reach. Environment variable:
CLUMP_WHEEL_PYTHON, the python that has what makes wheels (packaging/wheel/requirements.txt)."""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile

import place
import tree_test

SOURCE = pathlib.Path(__file__).parents[2]
WHEEL_PYTHON = os.environ.get("CLUMP_WHEEL_PYTHON", "")
# What any Linux with Python has, as manylinux says.
OF_THE_SYSTEM = ("linux-vdso.so", "ld-linux", "libc.so", "libm.so", "libz.so", "libgcc_s.so")
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static int calls;
int main(int argc, char** argv) {
  int rank, size, sum, next, one = 1;
  MPI_Comm ring;
  char line[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ++calls;
  MPI_Allreduce(&calls, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  next = (rank + 1) % size;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &ring);
  if (rank == 0) {
    FILE* maps = fopen("/proc/self/maps", "r");
    printf("%d of %d\n", sum, size);
    while (fgets(line, sizeof line, maps) != NULL)
      if (strchr(line, '/') != NULL && strstr(line, ".so") != NULL) printf("%s", strchr(line, '/'));
    fclose(maps);
  }
  return MPI_Finalize();
}
"""


@unittest.skipIf(not os.access(WHEEL_PYTHON, os.X_OK), "not installed: what makes wheels (./dev wheel)")
class Wheel(place.Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="with space ")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.env = cls.folder / "env"
        cls.variables = {"HOME": folder.name, "PATH": f"{cls.env}/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        cls.run_once(WHEEL_PYTHON, SOURCE / "packaging/wheel/make.py", place.BUILD, cls.folder)
        [cls.wheel] = cls.folder.glob("*.whl")
        cls.run_once(sys.executable, "-m", "venv", cls.env)
        cls.run_once(cls.env / "bin/python3", "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", cls.wheel)

    @classmethod
    def run_once(cls, *words):
        done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{words}\n{done.stdout}")

    def run_there(self, *words, **more):
        return self.run_here(*words, cwd=self.folder, env=self.variables, **more)

    def test_name(self):
        self.assertRegex(self.wheel.name, r"^clump_mpi-\d+\.\d+\.\d+-py3-none-manylinux_2_\d+_x86_64\.whl$")
        self.assertLess(self.wheel.stat().st_size, 20e6)

    def test_tag_is_what_it_needs(self):
        """The C library that the name asks for has each version of symbols that the files ask it for, and no older one has."""
        named = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)_x86_64", self.wheel.name).groups()))
        needed = {}
        for path in tree_test.binaries(self.env):
            for line in self.run_here("objdump", "-T", path).splitlines():
                # Of functions of others alone, as each file's own have no section *UND*.
                if found := re.search(r"\*UND\*.*\(?GLIBC_(\d+)\.(\d+)", line):
                    needed.setdefault(tuple(map(int, found.groups())), path.name)
        print(f"{self.wheel.name} needs glibc {max(needed)}: {needed[max(needed)]}")
        self.assertEqual(max(needed), named, needed)

    def test_content(self):
        """Nothing that a zip file cannot hold; and a licence for each library of others."""
        brought, licences = set(), set()
        for entry in zipfile.ZipFile(self.wheel).infolist():
            self.assertFalse(stat.S_ISLNK(entry.external_attr >> 16), entry.filename)
            if "/data/lib/clump/lib" in entry.filename:
                brought.add(entry.filename)
            if "/LICENSE." in entry.filename:
                licences.add(entry.filename.split("/LICENSE.")[1].rstrip("0123456789.-"))
        self.assertGreater(len(brought), 10)
        for name in ("libfabric", "libpmix", "libscotch", "libatomic", "libhwloc", "libdw", "libelf", "libudev", "libibverbs", "mimalloc", "sodium"):
            self.assertTrue([licence for licence in licences if licence.startswith(name)], f"no licence of {name}: {licences}")

    def test_needs_nothing_of_the_system(self):
        """Each library and program finds what it needs in the environment, but for the C library and the like."""
        for path in tree_test.binaries(self.env):
            with self.subTest(path=path.name):
                for line in self.run_there("ldd", path).splitlines():
                    name, _, where = line.strip().partition(" => ")
                    if name == "statically linked":  # ldd's words for a library that needs none
                        continue
                    if not name.split("/")[-1].startswith(OF_THE_SYSTEM):
                        self.assertTrue(os.path.realpath(where.split(" (")[0]).startswith(os.path.realpath(self.env)), line)

    def test_run(self):
        (self.folder / "user.c").write_text(PROGRAM)
        self.run_there("mpicc", "user.c", "-o", "user")
        for ranks in ("fibers", "threads", "processes"):
            with self.subTest(ranks=ranks):
                out = self.run_there("mpirun", "-n", 4, "--ranks", ranks, "./user")
                self.assertRegex(out, r"^4 of 4\n")
                self.assertIn(f"{self.env}/lib/libmpi_abi.so.1\n", out)
        # Opened for the graph, not linked: where there are two places to choose from.
        self.assertIn(f"{self.env}/lib/clump/libscotch", self.run_there("mpirun", "-n", 4, "--workers", 2, "./user"))

    def test_moved(self):
        """Its programs find the rest from their own place, also where the environment is another folder than the one it was installed into."""
        moved = self.folder / "moved environment"
        shutil.copytree(self.env, moved, symlinks=True)
        (self.folder / "user.c").write_text(PROGRAM)
        hidden = self.env.rename(self.folder / "hidden")
        try:
            variables = {**self.variables, "PATH": f"{moved}/bin:/usr/bin:/bin"}
            self.run_here("mpicc", "user.c", "-o", "user of moved", cwd=self.folder, env=variables)
            for tool in ("mpiexec", "mpirun"):
                out = self.run_here(tool, "-n", 3, "./user of moved", cwd=self.folder, env=variables)
                self.assertIn(f"{moved}/lib/libmpi_abi.so.1\n", out)
        finally:
            hidden.rename(self.env)

    def test_words(self):
        self.assertIn(f"prefix: {self.env}\n", self.run_there("clump", "info"))


if __name__ == "__main__":
    unittest.main()
