"""What is in the installation: nothing that names where it was built or installed, no debug information, no tests; versions and places are right."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import place

TOOLS = ("mpiexec", "mpirun", "clump", "mpicc", "mpicxx", "mpic++", "mpiCC", "mpifort", "mpif90", "mpif77")


def binaries(prefix=place.PREFIX):
    for path in sorted(prefix.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF":
            yield path


class Tree(place.Case):
    def test_manifest(self):
        listed = set((place.FOLDER / "files.txt").read_text().split("\n")) - {""}
        there = {str(path.relative_to(place.PREFIX)) for path in place.PREFIX.rglob("*") if path.is_symlink() or path.is_file()}
        self.assertEqual(there, listed)
        if shutil.which("gfortran"):
            for name in ("include/mpif.h", "include/clump/fortran/gfortran/mpi_f08.mod", "lib/libmpifort_abi.so", "share/clump/fortran/mpi.f90"):
                self.assertIn(name, there)
        for name in ("include/mpi.h", "lib/libmpi_abi.so", "lib/libmpi_abi.so.1", "lib/libclump_host.so", "share/man/man1/mpiexec.1",
                     "lib/cmake/Clump/ClumpConfig.cmake", *("bin/" + tool for tool in TOOLS)):
            self.assertIn(name, there)
        self.assertFalse([name for name in there if "test" in name or "gtest" in name])
        self.assertTrue([name for name in there if name.endswith("/LICENSE")])

    def test_relocatable(self):
        forbidden = [bytes(path) for path in (place.BUILD, place.FIRST, place.PREFIX)]
        for path in place.PREFIX.rglob("*"):
            if path.is_symlink():
                self.assertFalse(os.path.isabs(os.readlink(path)), path)
            elif path.is_file():
                content = path.read_bytes()
                for word in forbidden:
                    self.assertNotIn(word, content, path)

    def test_binaries_are_stripped_and_find_each_other(self):
        found = list(binaries())
        self.assertGreater(len(found), 6)
        for path in found:
            with self.subTest(path=path.name):
                sections = self.run_here("readelf", "-SW", path)
                self.assertNotIn(".debug_info", sections)
                if "mimalloc" not in path.name:
                    self.assertIn(".gnu_debuglink", sections)
                for run_path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", self.run_here("readelf", "-d", path)):
                    self.assertTrue(all(folder.startswith("$ORIGIN") for folder in run_path.split(":")), run_path)
                self.assertNotIn("not found", self.run_here("ldd", path))

    def test_size(self):
        bytes_ = sum(path.stat().st_size for path in place.PREFIX.rglob("*") if path.is_file() and not path.is_symlink())
        print(f"size of the installation: {bytes_ / 1e6:.1f} MB")
        self.assertLess(bytes_, 40e6)

    @unittest.skipIf(shutil.which("gdb") is None, "not installed: gdb")
    def test_debug_files(self):
        """The component `debug` alone; beside the binaries, gdb finds what it holds."""
        with tempfile.TemporaryDirectory() as folder:
            files = place.install(folder, "debug")
            self.assertIn("lib/.debug/libmpi_abi.so.1.debug", files)
            self.assertTrue(all("/.debug/" in name for name in files), files)
            for path in binaries():
                if "mimalloc" not in path.name:
                    self.assertIn(f"{path.relative_to(place.PREFIX).parent}/.debug/{path.name}.debug", files)
            print(f"size of the debug files: {sum(os.path.getsize(os.path.join(folder, name)) for name in files) / 1e6:.1f} MB")
            shutil.copy(place.PREFIX / "lib" / "libclump_host.so", folder + "/lib")
            ask = ("gdb", "-nx", "-batch", "-ex", "info line clump::base::message_of", folder + "/lib/libclump_host.so")
            self.assertRegex(self.run_here(*ask), r'Line \d+ of .*status\.cc"')
            shutil.rmtree(folder + "/lib/.debug")
            self.assertNotIn("status.cc", subprocess.run(ask, capture_output=True, text=True).stdout)

    def test_versions(self):
        for tool in TOOLS:
            with self.subTest(tool=tool):
                self.assertRegex(self.run_here(tool, "--version"), r"(?m)(Clump|clump)\)? \d+\.\d+\.\d+$")

    def test_info(self):
        out = self.run_here("clump", "info")
        self.assertRegex(out, r"^Clump \d+\.\d+\.\d+\n")
        self.assertIn(f"prefix: {place.PREFIX}\n", out)
        self.assertIn(f"library: {place.PREFIX}/lib/libmpi_abi.so.1\n", out)

    def test_through_a_link(self):
        """`ln -s PREFIX/bin/mpiexec` somewhere in PATH."""
        with tempfile.TemporaryDirectory() as folder:
            for tool in ("mpicc", "mpiexec"):
                os.symlink(place.BIN / tool, os.path.join(folder, tool))
            source = pathlib.Path(__file__).parent / "make" / "hello.c"
            self.run_here(folder + "/mpicc", source, "-o", folder + "/hello")
            self.assertRegex(self.run_here(folder + "/mpiexec", "-n", 2, folder + "/hello"), "^2 ranks, Clump")

    def test_dev_install_refuses(self):
        dev = pathlib.Path(__file__).parents[2] / "dev"
        for words, code, text in ((["--help"], 0, ""), (["--prefix"], 2, "needs a folder"), (["--prefix="], 2, "needs a folder"),
                                  (["--perfix", "x"], 2, "--help"), (["--prefix", "/proc/nowhere"], 1, "no permission to write into /proc/nowhere")):
            with self.subTest(words=words):
                self.run_here(dev, "install", *words, code=code)
                self.assertIn(text, self.err)

    @unittest.skipIf(shutil.which("tclsh") is None, "not installed: tclsh")
    def test_modulefile(self):
        """As environment modules read it, with the commands that it uses put in their place."""
        [module] = (place.PREFIX / "share" / "modulefiles" / "clump").iterdir()
        script = ("proc conflict args {}\nproc module-whatis args {}\n"
                  "proc setenv {name value} {puts \"$name=$value\"}\nproc prepend-path {name value} {puts \"$name=$value\"}\n"
                  "set ModulesCurrentModulefile [lindex $argv 0]\nsource $ModulesCurrentModulefile\n")
        out = subprocess.run(["tclsh", "/dev/stdin", module], input=script, capture_output=True, text=True, check=True).stdout
        self.assertIn(f"MPI_HOME={place.PREFIX}\n", out)
        self.assertIn(f"PATH={place.BIN}\n", out)
        self.assertIn(f"PKG_CONFIG_PATH={place.PREFIX}/lib/pkgconfig\n", out)


if __name__ == "__main__":
    unittest.main()
