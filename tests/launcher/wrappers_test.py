"""mpicc, mpicxx, mpifort, from the build tree and from another place."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import tool

HELLO = "#include <mpi.h>\nint main(int argc, char** argv) { MPI_Init(&argc, &argv); return MPI_Finalize(); }\n"


class Wrappers(tool.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in ("hello.c", "hello.cc"):
            pathlib.Path(self.folder, name).write_text(HELLO)

    def wrap(self, name, *words, **options):
        return tool.run(*words, tool=name, cwd=self.folder, **options)

    def test_show(self):
        shown = self.wrap("mpicc", "-show", "hello.c", "-o", "with space", "-O2").out
        self.assertRegex(shown, r"^cc -I\S+/include hello.c -o 'with space' -O2 -Wl,-rpath,\S+ -L\S+ .*-lmpi_abi\n$")
        self.assertNotIn("-lmpi_abi", self.wrap("mpicc", "-show", "-c", "hello.c").out)
        self.assertIn("-lmpi_abi", self.wrap("mpicc", "-show").out)

    def test_words_for_the_linker_are_no_options(self):
        for words in (("-Xlinker", "-E"), ("-Xlinker", "-M"), ("-Xpreprocessor", "-M"), ("-Xlinker", "-show"), ("-Xlinker", "-Xlinker", "-Xlinker", "-c")):
            with self.subTest(words=words):
                shown = self.wrap("mpicc", "-show", "hello.c", *words).out
                self.assertRegex(shown, " hello.c " + " ".join(words) + " -Wl,-rpath,.*-L.*-lmpi_abi")

    def test_showme(self):
        self.assertRegex(self.wrap("mpicc", "-showme:compile").out, r"^-I\S+\n$")
        self.assertIn("-lmpi_abi", self.wrap("mpicxx", "--showme:link").out)
        self.assertTrue(os.path.exists(self.wrap("mpicc", "-showme:incdirs").out.strip() + "/mpi.h"))

    def test_compiler_can_be_chosen(self):
        self.assertTrue(self.wrap("mpicc", "-show", "-c", "x.c", env={"CLUMP_CC": "ccache gcc"}).out.startswith("ccache gcc -I"))
        self.assertTrue(self.wrap("mpicxx", "-cxx=clang++", "-show", "-c", "x.cc").out.startswith("clang++ -I"))

    def test_version(self):
        version = self.wrap("mpicc", "--version")
        self.assertEqual(version.code, 0)
        self.assertRegex(version.out.splitlines()[-1], r"mpicc: Clump \d")

    @unittest.skipIf(os.environ.get("CLUMP_SANITIZE"), "the wrappers add no sanitizer")
    def test_build_and_run(self):
        for name, source in (("mpicc", "hello.c"), ("mpicxx", "hello.cc"), ("mpic++", "hello.cc")):
            self.assertEqual(self.wrap(name, source, "-o", "a b").code, 0)
            self.assertEqual(tool.run("-n", "2", "./a b", cwd=self.folder).code, 0)
            self.assertEqual(subprocess.run([self.folder + "/a b"], timeout=120).returncode, 0)
        self.assertNotEqual(self.wrap("mpicc", "missing.c").code, 0)

    @unittest.skipIf(os.environ.get("CLUMP_SANITIZE"), "the wrappers add no sanitizer")
    def test_interposer_in_a_folder_with_a_space(self):
        """mpiexec preloads it before its own libraries, and ld.so divides LD_PRELOAD at spaces and colons."""
        for folder in ("a b", "a:b"):
            with self.subTest(folder=folder):
                os.mkdir(os.path.join(self.folder, folder))
                pathlib.Path(self.folder, "tool.c").write_text(
                    '#include <mpi.h>\n#include <stdio.h>\nint MPI_Barrier(MPI_Comm comm) { printf("seen\\n"); return PMPI_Barrier(comm); }\n')
                pathlib.Path(self.folder, "user.c").write_text(HELLO.replace("return", "MPI_Barrier(MPI_COMM_WORLD); return"))
                self.assertEqual(self.wrap("mpicc", "-shared", "-fPIC", "tool.c", "-o", folder + "/libtool.so").code, 0)
                # ld.so takes no colon in a run path either; a name with a slash it takes as it is.
                self.assertEqual(self.wrap("mpicc", "user.c", "./" + folder + "/libtool.so", "-o", "user").code, 0)
                for ranks in ("fibers", "processes"):
                    result = tool.run("-n", 2, "--ranks", ranks, "./user", cwd=self.folder)
                    self.assertEqual((result.code, result.out, result.err), (0, "seen\nseen\n", ""))

    def test_in_another_place(self):
        for part in ("bin", "include", "lib"):
            os.mkdir(os.path.join(self.folder, part))
        shutil.copy(tool.BIN / "mpicc", self.folder + "/bin")
        self.assert_says(self.moved(), 1, "missing")
        shutil.copy(tool.BUILD / "include" / "mpi.h", self.folder + "/include")
        os.symlink(tool.BUILD / "lib" / "libmpi_abi.so", self.folder + "/lib/libmpi_abi.so")
        self.assertIn(os.path.realpath(self.folder) + "/include", self.moved().out)

    def moved(self):
        done = subprocess.run([self.folder + "/bin/mpicc", "-show"], capture_output=True, text=True, timeout=120)
        return tool.Result(done.returncode, done.stdout, done.stderr, 0)

    @unittest.skipIf(shutil.which("gfortran") is None, "not installed: gfortran")
    def test_fortran(self):
        # Programs that use MPI: tests/fortran.
        pathlib.Path(self.folder, "without.f90").write_text("program without\nend program\n")
        self.assertEqual(self.wrap("mpifort", "without.f90", "-o", "without").code, 0)

    def test_static_is_refused_with_the_reason(self):
        pathlib.Path(self.folder, "user.c").write_text(HELLO)
        for word in ("-static", "--static", "-static-pie"):
            self.assert_says(self.wrap("mpicc", word, "user.c", "-o", "user"), 1, f"mpicc: {word}: there is no static MPI library")
        self.assertEqual(self.wrap("mpicc", "-static", "-c", "user.c").code, 0)
        self.assertEqual(self.wrap("mpicc", "-static-libgcc", "user.c", "-o", "user").code, 0)

    def test_help(self):
        self.assertIn("-showme:compile", self.wrap("mpicc", "--help").out)
        self.assertIn("-W", self.wrap("mpicc", "--help=warnings").out)  # the compiler's


if __name__ == "__main__":
    unittest.main()
