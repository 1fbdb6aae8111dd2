"""Build tools find the installation that is first in PATH, where the system has another MPI too; programs run with it and without mpiexec."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import place

HERE = pathlib.Path(__file__).parent
OPEN_MPI = shutil.which("mpicc.openmpi")


def needs(*programs):
    missing = [name for name in programs if shutil.which(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class Project(place.Case):
    def copy(self, name):
        folder = tempfile.TemporaryDirectory(prefix="with space ")
        self.addCleanup(folder.cleanup)
        return pathlib.Path(shutil.copytree(HERE / name, pathlib.Path(folder.name, name)))

    def assert_runs(self, program):
        """Under the mpiexec of PATH, and alone; linked to the library of the installation."""
        self.assertRegex(self.run_here("mpiexec", "-n", 3, program), "^3 ranks, Clump")
        self.assertRegex(self.run_here(program), "^1 ranks, Clump")
        self.assertIn(f"libmpi_abi.so.1 => {place.PREFIX}", self.run_here("ldd", program).replace("/lib/pkgconfig/../..", ""))


class CMake(Project):
    @needs("cmake")
    def test_find_mpi(self):
        source = self.copy("cmake")
        out = self.run_here("cmake", "-S", source, "-B", source / "build", "-DCMAKE_INSTALL_PREFIX=" + str(source / "to"))
        self.assertIn(f"MPI 5.0 5.0 {place.BIN}/mpiexec", out)
        self.run_here("cmake", "--build", source / "build")
        self.run_here("cmake", "--install", source / "build")
        for program in ("build/hello_c", "build/hello_cxx", "to/bin/hello_c"):
            self.assert_runs(source / program)

    @needs("cmake")
    def test_our_package(self):
        source = self.copy("package")
        out = self.run_here("cmake", "-S", source, "-B", source / "build")  # found by PATH alone
        self.assertRegex(out, rf"Clump \d+\.\d+\.\d+ {place.BIN}/mpiexec")
        self.run_here("cmake", "--build", source / "build")
        for program in ("hello_c", "hello_cxx"):
            self.assert_runs(source / "build" / program)
        self.assertIn("100% tests passed", self.run_here("ctest", "--test-dir", source / "build"))

    @needs("cmake")
    def test_version_of_our_package(self):
        source = self.copy("package")
        text = (source / "CMakeLists.txt").read_text()
        (source / "CMakeLists.txt").write_text(text.replace("Clump 0.1", "Clump 7.3"))
        self.run_here("cmake", "-S", source, "-B", source / "build", code=1)
        self.assertRegex(self.err, r'compatible\s+with\s+requested\s+version\s+"7.3"')

    @unittest.skipUnless(OPEN_MPI, "Open MPI is not installed (Debian: libopenmpi-dev)")
    @needs("cmake")
    def test_other_library_without_our_path(self):
        """What the tests above find is found because of PATH."""
        source = self.copy("cmake")
        path = place.environment()["PATH"].split(":", 1)[1]
        out = self.run_here("cmake", "-S", source, "-B", source / "build", env=place.environment(PATH=path))
        self.assertNotIn(str(place.PREFIX), out)


class Meson(Project):
    @needs("meson", "ninja")
    def test_dependency(self):
        source = self.copy("meson")
        # It asks pkg-config before it looks for mpicc.
        env = place.environment(PKG_CONFIG_PATH=f"{place.PREFIX}/lib/pkgconfig")
        self.run_here("meson", "setup", "build", cwd=source, env=env)
        self.run_here("ninja", "-C", "build", cwd=source, env=env)
        for program in ("hello_c", "hello_cxx"):
            self.assert_runs(source / "build" / program)

    @needs("meson", "ninja")
    def test_by_the_wrappers(self):
        source = self.copy("meson")
        text = (source / "meson.build").read_text()
        (source / "meson.build").write_text(text.replace("language:", "method: 'config-tool', language:"))
        self.run_here("meson", "setup", "build", cwd=source)
        self.run_here("ninja", "-C", "build", cwd=source)
        for program in ("hello_c", "hello_cxx"):
            self.assert_runs(source / "build" / program)


class Autoconf(Project):
    @needs("autoreconf", "make")
    @unittest.skipUnless(pathlib.Path("/usr/share/aclocal/ax_mpi.m4").exists(), "not installed: autoconf-archive")
    def test_acx_mpi(self):
        source = self.copy("autoconf")
        self.run_here("autoreconf", "-i", cwd=source)
        self.assertRegex(self.run_here("./configure", cwd=source), "checking for mpicc... mpicc")
        self.run_here("make", cwd=source)
        self.assert_runs(source / "hello_c")


class Make(Project):
    @needs("make", "pkg-config")
    def test_pkg_config(self):
        for module in ("mpi", "mpi-c", "mpi_abi"):
            with self.subTest(module=module):
                source = self.copy("make")
                self.run_here("make", f"MODULE={module}", cwd=source, env=place.environment(PKG_CONFIG_PATH=f"{place.PREFIX}/lib/pkgconfig"))
                self.assert_runs(source / "hello_c")


class Wrappers(Project):
    def test_compile_and_run(self):
        source = self.copy("cmake")
        for wrapper, file in (("mpicc", "hello.c"), ("mpicxx", "hello.cc"), ("mpic++", "hello.cc"), ("mpiCC", "hello.cc")):
            self.run_here(wrapper, file, "-o", f"by {wrapper}", cwd=source)
            self.assert_runs(source / f"by {wrapper}")

    def test_shown_commands_work_in_a_shell(self):
        source = self.copy("cmake")
        self.run_here("sh", "-c", 'eval "`mpicc -show hello.c -o shown`"', cwd=source)
        self.run_here("sh", "-c", 'eval "cc `mpicc -showme:compile` hello.c -o flags `mpicc -showme:link`"', cwd=source)
        self.assertEqual(self.run_here("mpicc", "-compile_info"), self.run_here("mpicc", "-showme:compile"))
        self.assertEqual(self.run_here("mpicc", "-link_info"), self.run_here("mpicc", "-showme:link"))
        for program in ("shown", "flags"):
            self.assert_runs(source / program)

    def test_unknown_question(self):
        self.run_here("mpicc", "-showme:everything", code=2)
        self.assertIn("mpicc --help", self.err)

    @needs("gfortran")
    def test_fortran(self):
        source = self.copy("cmake")
        (source / "plain.f90").write_text("program plain\n  print *, 'no MPI'\nend program\n")
        for wrapper in ("mpifort", "mpif90", "mpif77"):
            self.run_here(wrapper, "plain.f90", "-o", wrapper, cwd=source)
            self.assertIn("no MPI", self.run_here("mpiexec", "-n", 1, source / wrapper))
        for line in ("use mpi", "use mpi_f08, only: MPI_Init, MPI_Finalize", "include 'mpif.h'", '#include "mpif.h"'):
            with self.subTest(line=line):
                text = f"program with\n  {line}\ninteger :: e\ncall MPI_Init(e)\nprint '(a)', 'over'\ncall MPI_Finalize(e)\nend program\n"
                (source / "with.F90").write_text(text.replace("  #", "#"))
                self.run_here("mpifort", "with.F90", "-o", "with", cwd=source)
                self.assertEqual("over\n" * 3, self.run_here("mpiexec", "-n", 3, source / "with"))
                self.assertEqual("over\n", self.run_here(source / "with"))
                self.assertIn(f"libmpifort_abi.so.1 => {place.PREFIX}", self.run_here("ldd", source / "with"))

    @needs("gfortran", "cmake")
    def test_cmake_finds_all_ways_of_fortran(self):
        source = self.copy("fortran")
        out = self.run_here("cmake", "-S", source, "-B", source / "build")
        self.assertIn("Fortran: mpif.h TRUE, mpi TRUE, mpi_f08 TRUE", out)
        self.run_here("cmake", "--build", source / "build")
        self.assertEqual("3 ranks\n", self.run_here("mpiexec", "-n", 3, source / "build" / "hello_fortran"))


if __name__ == "__main__":
    unittest.main()
