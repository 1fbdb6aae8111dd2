"""An installation that was moved, and one that is reached by a symbolic link: everything in it finds the rest from its own place."""

import os
import pathlib
import shutil
import tempfile
import unittest

import place
from build_tools_test import HERE, needs


class Moved(place.Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="with space ")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        first = cls.folder / "first"
        shutil.copytree(place.PREFIX, first, symlinks=True)
        cls.made_before = cls.folder / "made before"
        place.Case().run_here(first / "bin" / "mpicc", HERE / "cmake" / "hello.c", "-o", cls.made_before)
        cls.moved = cls.folder / "moved to another place"
        first.rename(cls.moved)
        # pkg-config's files have -Wl, which takes a comma for a separator: only the wrappers bear one.
        cls.link = cls.folder / "a link"
        cls.link.symlink_to(cls.moved.name)

    def ways(self):
        """What the user calls the prefix: each with the environment that the pages tell to set."""
        for prefix in (self.moved, self.link):
            yield prefix, place.environment(PATH=f"{prefix}/bin:{os.environ['PATH']}", PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig")

    def assert_runs(self, program, env):
        self.assertRegex(self.run_here("mpiexec", "-n", 3, program, env=env), "^3 ranks")
        self.assertRegex(self.run_here("mpiexec", "-n", 2, "--ranks", "processes", program, env=env), "^2 ranks")
        self.assertIn(os.path.realpath(self.moved), os.path.realpath(self.run_here("ldd", program).split("libmpi_abi.so.1 => ")[1].split(" (")[0]))
        self.assertRegex(self.run_here(program, env=env), "^1 ranks")

    def test_program_made_before(self):
        for prefix, _ in self.ways():
            self.assertRegex(self.run_here(prefix / "bin" / "mpiexec", "-n", 3, self.made_before), "^3 ranks, Clump")

    def test_wrappers(self):
        sources = {"mpicc": "cmake/hello.c", "mpicxx": "cmake/hello.cc"}
        if shutil.which("gfortran"):
            sources["mpifort"] = "fortran/hello.f90"
        for prefix, env in self.ways():
            for wrapper, source in sources.items():
                with self.subTest(prefix=prefix.name, wrapper=wrapper):
                    out = self.folder / f"by {wrapper}"
                    self.run_here(wrapper, HERE / source, "-o", out, env=env)
                    self.assert_runs(out, env)
                    self.run_here("sh", "-c", f'eval "$({wrapper} -show "{HERE / source}" -o shown)"', env=env, cwd=self.folder)
                    self.assertIn(f'-I"{self.moved}/include"', self.run_here(wrapper, "-show", env=env))

    def test_with_a_comma(self):
        """Which separates the arguments in -Wl,-rpath,..."""
        there = self.moved.rename(self.folder / "with, comma")
        try:
            out = self.folder / "by comma"
            for words in ([there / "bin" / "mpicc", HERE / "cmake" / "hello.c", "-o", out],
                          ["sh", "-c", f'eval "cc \'{HERE}/cmake/hello.c\' -o \'{out}\' $(\'{there}/bin/mpicc\' -showme:compile) $(\'{there}/bin/mpicc\' -showme:link)"']):
                self.run_here(*words)
                self.assertRegex(self.run_here(there / "bin" / "mpiexec", "-n", 2, out), "^2 ranks")
                self.assertRegex(self.run_here(out), "^1 ranks")
        finally:
            there.rename(self.moved)

    def test_by_its_own_folder(self):
        """Called as ./mpiexec, and through a link to the program alone."""
        out = self.folder / "by itself"
        self.run_here("./mpicc", HERE / "cmake" / "hello.c", "-o", out, cwd=self.link / "bin")
        self.assertRegex(self.run_here("./mpiexec", "-n", 2, out, cwd=self.link / "bin"), "^2 ranks")
        program = self.folder / "only mpirun"
        program.symlink_to(self.link / "bin" / "mpirun")
        self.assertRegex(self.run_here(program, "-n", 2, out), "^2 ranks")
        self.assertIn(f"prefix: {self.moved}\n", self.run_here("./clump", "info", cwd=self.link / "bin"))

    @needs("pkg-config")
    def test_pkg_config(self):
        for prefix, env in self.ways():
            with self.subTest(prefix=prefix.name):
                out = self.folder / "by pkg-config"
                self.run_here("sh", "-c", f'eval cc "\'{HERE}/cmake/hello.c\'" -o "\'{out}\'" $(pkg-config --cflags --libs mpi)', env=env)
                self.assert_runs(out, env)

    @needs("cmake")
    def test_cmake(self):
        for prefix, env in self.ways():
            with self.subTest(prefix=prefix.name):
                build = self.folder / f"build for {prefix.name}"
                out = self.run_here("cmake", "-S", HERE / "package", "-B", build, env=env)
                self.assertIn(f"{prefix}/bin/mpiexec" if prefix == self.moved else "/bin/mpiexec", out)
                self.run_here("cmake", "--build", build, env=env)
                self.assert_runs(build / "hello_c", env)


if __name__ == "__main__":
    unittest.main()
