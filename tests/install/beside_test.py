"""Beside another MPI library, whose commands are in PATH as well: each way in which the pages say that build tools find Clump finds all of Clump, in C, C++ and
Fortran, and nothing of the other library."""

import os
import pathlib
import re
import shutil
import tempfile
import unittest

import place
from build_tools_test import HERE, Project, needs

COMMANDS = ("mpicc", "mpicxx", "mpic++", "mpif90", "mpif77", "mpifort", "mpiexec", "mpirun")
PKG_CONFIG = f"{place.PREFIX}/lib/pkgconfig"


class Beside(Project):
    def setUp(self):
        if shutil.which(f"mpicc.{self.family}") is None:
            self.skipTest(f"not installed: mpicc.{self.family} (Debian: lib{self.family}-dev)")
        folder = tempfile.TemporaryDirectory(prefix="other library ")
        self.addCleanup(folder.cleanup)
        for name in COMMANDS:
            if there := shutil.which(f"{name}.{self.family}"):
                os.symlink(there, os.path.join(folder.name, name))
        system = place.environment()["PATH"].split(":", 1)[1]
        self.without = place.environment(PATH=f"{folder.name}:{system}")
        self.env = place.environment(PATH=f"{place.BIN}:{folder.name}:{system}", PKG_CONFIG_PATH=PKG_CONFIG)

    def project(self):
        source = self.copy("beside")
        for name in ("cmake/hello.c", "cmake/hello.cc", "fortran/hello.f90"):
            shutil.copy(HERE / name, source)
        return source

    def run_there(self, *words, **more):
        return self.run_here(*words, env=self.env, **more)

    def assert_ours(self, *programs):
        """They run under the mpiexec that is first in PATH; and by ldd, no library of MPI but those of the installation."""
        for program in programs:
            with self.subTest(program=program.name):
                self.assertRegex(self.run_there("mpiexec", "-n", 3, program), "^3 ranks")
                libraries = self.run_there("ldd", program).replace("/lib/pkgconfig/../..", "")
                self.assertIn(f"libmpi_abi.so.1 => {place.PREFIX}", libraries)
                for line in re.findall(r"(?m)^\s*(lib(?:mpi|open-|mpich).*) => ", libraries):
                    self.assertRegex(line, r"^lib(mpi|mpifort)_abi\.so\.1$")

    def test_other_library_is_there(self):
        """What the tests below find is not found by chance."""
        shown = self.run_here("mpicc", "-show", env=self.without)
        self.assertNotIn(str(place.PREFIX), shown)
        self.assertIn("mpi", shown)

    def test_wrappers(self):
        source = self.project()
        for wrapper, file in (("mpicc", "hello.c"), ("mpic++", "hello.cc"), ("mpicxx", "hello.cc"), ("mpifort", "hello.f90"), ("mpif90", "hello.f90")):
            self.run_there(wrapper, file, "-o", f"by {wrapper}", cwd=source)
            self.assert_ours(source / f"by {wrapper}")

    @needs("cmake")
    def test_cmake(self):
        source = self.project()
        self.run_there("cmake", "-S", source, "-B", source / "build")
        self.run_there("cmake", "--build", source / "build")
        self.assert_ours(*(source / "build" / name for name in ("hello_c", "hello_cxx", "hello_fortran", "hello_package")))

    @needs("meson", "ninja")
    def test_meson(self):
        source = self.project()
        self.run_there("meson", "setup", "build", cwd=source)
        self.run_there("ninja", "-C", "build", cwd=source)
        self.assert_ours(*(source / "build" / name for name in ("hello_c", "hello_cxx", "hello_fortran")))

    @needs("autoreconf", "make")
    @unittest.skipUnless(pathlib.Path("/usr/share/aclocal/ax_mpi.m4").exists(), "not installed: autoconf-archive")
    def test_autoconf(self):
        source = self.project()
        self.run_there("autoreconf", "-i", cwd=source)
        self.run_there("./configure", cwd=source)
        self.run_there("make", "-f", "Makefile", cwd=source)
        self.assert_ours(*(source / name for name in ("hello_c", "hello_cxx", "hello_fortran")))

    @needs("pkg-config")
    def test_pkg_config(self):
        source = self.project()
        # {pkg-config's name: what is compiled with it}; the names are Debian's alternatives and those of Open MPI.
        modules = {"mpi_abi": "c", "mpi": "c", "mpi-c": "c", "ompi": "c", "ompi-c": "c", "mpi-cxx": "cc", "ompi-cxx": "cc",
                   "mpi-fort": "f90", "ompi-fort": "f90", "ompi-f90": "f90", "ompi-f77": "f90"}
        compilers = {"c": "cc", "cc": "c++", "f90": "gfortran"}
        for module, kind in modules.items():
            with self.subTest(module=module):
                command = f'eval "{compilers[kind]} hello.{kind} -o by_{module} $(pkg-config --cflags --libs {module})"'
                self.run_there("sh", "-c", command, cwd=source)
                self.assert_ours(source / f"by_{module}")


class OpenMpi(Beside):
    family = "openmpi"


class Mpich(Beside):
    family = "mpich"


del Beside, Project  # whose tests would be run, too

if __name__ == "__main__":
    unittest.main()
