"""mpifort, mpif.h and the modules: what is there, and what is said of programs that are wrong."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

import tool

PROGRAMS = pathlib.Path(os.environ["CLUMP_PROGRAMS"])
GENERATED = pathlib.Path(os.environ["CLUMP_GENERATED"])
LIBRARY = tool.BUILD / "lib" / "libmpifort_abi.so.1"
MODULES = tool.BUILD / "include" / "clump" / "fortran" / "gfortran"


def exported():
    lines = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


class Library(unittest.TestCase):
    def test_it_has_every_procedure_of_the_modules(self):
        names = set()
        for module in ("mpi.f90", "mpi_f08.f90"):
            text = re.sub(r"&\s*\n\s*", "", (GENERATED / module).read_text())
            text = re.sub(r"ABSTRACT INTERFACE.*?END INTERFACE", "", text, flags=re.S)  # types of the program's procedures
            for match in re.finditer(r'^ +(?:SUBROUTINE|FUNCTION) (\w+)\([^)]*\)(?: BIND\(C, NAME="(\w+)"\))?', text, re.M):
                names.add(match.group(2) or match.group(1).lower() + "_")
        self.assertGreater(len(names), 2000)
        self.assertEqual(sorted(names - exported()), [])

    def test_it_needs_the_standard_abi_and_the_c_library_only(self):
        needed = subprocess.run(["readelf", "-d", LIBRARY], check=True, capture_output=True, text=True).stdout
        self.assertEqual(sorted(re.findall(r"NEEDED.*\[(.*)\]", needed)), ["libc.so.6", "libmpi_abi.so.1"])

    def test_it_exports_nothing_else(self):
        strange = [name for name in exported() if not re.match(r"p?mpi_|__mpi_f08_types_MOD_", name)]
        self.assertEqual(strange, [])


class Wrapper(tool.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, *lines):
        pathlib.Path(self.folder, name).write_text("\n".join(lines) + "\n")
        return name

    def fort(self, *words, tool_name="mpifort", **options):
        return tool.run(*words, tool=tool_name, cwd=self.folder, **options)

    def refuses(self, *lines, text="Error"):
        """A statement of `use mpi_f08` that does not compile, while without it the program does."""
        head = ("program bad", "use mpi_f08", "implicit none", "integer :: i = 0, comm", "integer(8) :: wide = 0", "real :: x(10)")
        self.assertEqual(self.fort("-c", self.write("good.f90", *head, "call MPI_Init()", "end program")).code, 0)
        self.assert_says(self.fort("-c", self.write("bad.f90", *head, *lines, "end program")), 1, text)

    def test_all_three_ways_in_both_forms(self):
        body = ("integer :: ierr", "call MPI_Init(ierr)", "call MPI_Finalize(ierr)", "print '(a)', 'over'", "end program")
        fixed = ("      program x", "      include 'mpif.h'", "      integer ierr", "      call MPI_INIT(ierr)", "      call MPI_FINALIZE(ierr)",
                 "      print '(a)', 'over'", "      end")  # fmt: skip
        self.write("free.f90", "program x", "include 'mpif.h'", *body)
        self.write("fixed.f", *fixed)
        self.write("module.f90", "program x", "use mpi", *body)
        self.write("f08.F90", "program x", "use mpi_f08", *body)
        for wrapper, source in (("mpifort", "free.f90"), ("mpif77", "fixed.f"), ("mpif90", "module.f90"), ("mpifort", "f08.F90")):
            with self.subTest(source=source):
                result = self.fort(source, "-o", "program", tool_name=wrapper)
                self.assertEqual((result.code, result.err), (0, ""))
                result = tool.run("-n", 2, "./program", cwd=self.folder)
                self.assertEqual((result.code, result.out, result.err), (0, "over\nover\n", ""))

    def test_standard_fortran(self):
        source = self.write("strict.f90", "program x", "use mpi_f08", "integer :: n(4)", "call MPI_Init()",
                            "call MPI_Send(n(1:4:2), 2, MPI_INTEGER, 0, 0, MPI_COMM_SELF)", "call MPI_Finalize()", "end program")  # fmt: skip
        self.assertEqual(self.fort("-std=f2018", "-Wall", "-Wextra", "-pedantic", "-c", source), (0, "", "") + (unittest.mock.ANY,))

    def test_wrong_calls_do_not_compile(self):
        self.refuses("call MPI_Comm_rank(comm, i)")  # an INTEGER instead of a handle
        self.refuses("call MPI_Comm_rank(MPI_INTEGER, i)")  # another handle
        self.refuses("call MPI_Comm_rank(MPI_COMM_WORLD, wide)")  # INTEGER(8)
        self.refuses("call MPI_Send(x, 10, MPI_REAL, wide, 0, MPI_COMM_WORLD)")
        self.refuses("call MPI_Send(x, 10, MPI_REAL, 0, MPI_COMM_WORLD)")  # no tag
        self.refuses("call MPI_Recv(x, 10, MPI_REAL, 0, 0, MPI_COMM_WORLD, i)")  # ierror instead of a status
        self.refuses("call MPI_Op_create(x, .true., MPI_OP_NULL)")
        self.refuses("MPI_BOTTOM = 1", text="PROTECTED")
        self.refuses("if (MPI_COMM_WORLD == MPI_INTEGER) i = 1")

    def test_use_mpi_checks_integers(self):
        source = self.write("bad.f90", "program x", "use mpi", "integer(8) :: wide", "integer :: ierr", "call MPI_Comm_rank(MPI_COMM_WORLD, wide, ierr)",
                            "end program")  # fmt: skip
        self.assert_says(self.fort("-c", source), 1, "INTEGER(8) to INTEGER(4)")

    def test_wide_integers(self):
        for line in ("use mpi", "use mpi_f08"):
            self.write("wide.f90", "program x", line, "integer :: n, ierr", "call MPI_Comm_rank(MPI_COMM_WORLD, n, ierr)", "end program")
            self.assert_says(self.fort("-fdefault-integer-8", "-c", "wide.f90"), 1, "mpifort: wide.f90, line 2",
                             "MPI's INTEGER has 4 bytes, but -fdefault-integer-8 gives it 8")  # fmt: skip
        self.write("wide.f90", "program x", "include 'mpif.h'", "end program")
        self.assert_says(self.fort("-fdefault-integer-8", "-c", "wide.f90"), 1, "mpif.h", "Division by zero", "MPI's INTEGER has 4 bytes")

    def test_mistakes_of_the_program_are_left_to_the_compiler(self):
        self.write("other.f90", "program x", "use mpitools", "end program")
        self.assertNotIn("mpifort:", self.fort("-c", "other.f90").err)
        self.write("other.f90", "program x", "use mpi", "call nowhere(", "end program")
        self.assertNotIn("mpifort:", self.fort("-c", "other.f90").err)

    def test_show(self):
        shown = self.fort("-show", "-c", "x.f90").out
        self.assertIn(f"-I{MODULES}", shown)
        self.assertNotIn("-lmpi", shown)
        self.assertIn("-lmpifort_abi -lmpi_abi", self.fort("-show", "x.f90").out)
        self.assertIn("-lmpifort_abi -lmpi_abi", self.fort("-showme:link").out)
        self.assertEqual(self.fort("-showme:libs").out, "mpifort_abi mpi_abi\n")
        self.assertEqual(self.fort("-showme:incdirs").out.split(), [str(MODULES.parents[2]), str(MODULES)])
        self.assertEqual(self.fort("-showme:incdirs", tool_name="mpicc").out.split(), [str(MODULES.parents[2])])


class ElsewhereLinked(tool.Case):
    """A program of the standard's ABI whose own folders have no library for Fortran: it gets Clump's, as it gets the C library."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def build(self, name, *lines, options=()):
        source = self.folder / f"{name}.f90"
        source.write_text("\n".join(lines) + "\n")
        done = tool.run("-fPIC", "-c", source, "-o", self.folder / f"{name}.o", tool="mpifort", cwd=str(self.folder))
        self.assertEqual((done.code, done.err), (0, ""))
        subprocess.run(["gfortran", f"{name}.o", "-o", name, f"-L{tool.BUILD / 'lib'}", "-lmpifort_abi", "-lmpi_abi", *options], cwd=self.folder, check=True)
        return self.folder / name

    def test_a_program(self):
        program = self.build("x", "program x", "use mpi_f08", "integer :: rank, sum", "call MPI_Init()", "call MPI_Comm_rank(MPI_COMM_WORLD, rank)",
                             "call MPI_Allreduce(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)", "print '(i0)', sum",
                             "call MPI_Finalize()", "end program")  # fmt: skip
        for way in ([], ["--ranks", "threads"], ["--ranks", "processes"], ["--per-process", "2"]):
            with self.subTest(way=way):
                result = tool.run("-n", 2, *way, program)
                self.assertEqual((result.code, result.out, result.err), (0, "3\n3\n", ""))


class OtherCompilers(tool.Case):
    """A copy of the wrapper, of mpif.h and of the modules, and compilers that are scripts."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        for part in ("bin", "include", "lib"):
            (self.folder / part).mkdir()
        shutil.copy(tool.BIN / "mpifort", self.folder / "bin")
        for header in ("mpi.h", "mpif.h"):
            shutil.copy(tool.BUILD / "include" / header, self.folder / "include")
        shutil.copytree(MODULES, self.folder / "include" / "clump" / "fortran" / "gfortran")
        for name in ("libmpi_abi.so", "libmpifort_abi.so"):
            os.symlink(tool.BUILD / "lib" / name, self.folder / "lib" / name)
        (self.folder / "x.f90").write_text("program x\n  use mpi\nend program\n")

    def compiler(self, name, about, code):
        path = self.folder / name
        path.write_text(f'#!/bin/sh\ncase $1 in --version) echo "{about}"; exit ;; esac\necho "cannot read module" >&2\nexit {code}\n')
        path.chmod(0o755)
        return path

    def fort(self, compiler):
        done = subprocess.run([self.folder / "bin" / "mpifort", f"-fc={compiler}", "-c", "x.f90"], cwd=self.folder, capture_output=True, text=True, timeout=120)
        return tool.Result(done.returncode, done.stdout, done.stderr, 0)

    def test_modules_of_another_version(self):
        compiler = self.compiler("newer", "GNU Fortran (Somebody) 99.1.0", 1)
        built_by = (MODULES / "built_by").read_text().strip()
        self.assert_says(self.fort(compiler), 1, "cannot read module", "mpifort: x.f90, line 2: 'use mpi'", built_by, "GNU Fortran (Somebody) 99.1.0",
                         f"'clump fortran --compiler {compiler}'")  # fmt: skip

    def test_no_modules_for_a_compiler(self):
        compiler = self.compiler("flang", "flang version 19.1.7", 1)
        built_by = (MODULES / "built_by").read_text().strip()
        self.assert_says(self.fort(compiler), 1, "there are no module files of MPI for this compiler (flang version 19.1.7)", built_by,
                         f"'clump fortran --compiler {compiler}'")  # fmt: skip

    def test_another_compiler_that_compiles_is_left_alone(self):
        result = self.fort(self.compiler("flang", "flang version 19.1.7", 0))
        self.assertEqual(result.code, 0)
        self.assertNotIn("mpifort", result.err)

    def test_the_real_compiler_with_modules_of_a_stranger(self):
        for module in (self.folder / "include" / "clump" / "fortran" / "gfortran").glob("*.mod"):
            module.write_bytes(b"something else")
        (self.folder / "include" / "clump" / "fortran" / "gfortran" / "built_by").write_text("Stranger Fortran 1\n")
        self.assert_says(self.fort("gfortran"), 1, "not a GNU Fortran module file", "Stranger Fortran 1", "GNU Fortran")


class ModulesOfOtherCompilers(tool.Case):
    """mpifort makes them once, in a cache: with a copy of the wrapper, and the real compiler under another version."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        (self.folder / "bin").mkdir()
        shutil.copy(tool.BIN / "mpifort", self.folder / "bin")
        for part in ("include", "lib", "share"):
            os.symlink(tool.BUILD / part, self.folder / part)
        (self.folder / "x.f90").write_text("program x\n  use mpi_f08\n  call MPI_Init()\n  call MPI_Finalize()\nend program\n")
        self.cache = self.folder / "cache"

    def compiler(self, name="newer", about="GNU Fortran (Somebody) 99.1.0", machine="x86_64-linux-gnu"):
        """Counts how often it compiles the module mpi_f08."""
        path = self.folder / name
        path.write_text(f'''#!/bin/sh
case $1 in --version) echo "{about}"; exit ;; -dumpmachine) echo "{machine}"; exit ;; esac
case " $* " in *" mpi_f08.f90 "*) echo x >> "{self.folder}/made" ;; esac
exec gfortran "$@"
''')
        path.chmod(0o755)
        return path

    def start(self, compiler, *words):
        environment = {**os.environ, "CLUMP_FORTRAN_CACHE": str(self.cache)}
        return subprocess.Popen([self.folder / "bin" / "mpifort", f"-fc={compiler}", *words], cwd=self.folder, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip

    def fort(self, compiler, *words):
        out, err = (process := self.start(compiler, *words)).communicate(timeout=300)
        return tool.Result(process.returncode, out, err, 0)

    def made(self):
        path = self.folder / "made"
        return path.read_text().count("x") if path.exists() else 0

    def entries(self):
        return [path for path in self.cache.iterdir() if not path.name.endswith(".lock")] if self.cache.exists() else []

    def test_once_for_builds_at_the_same_time(self):
        compiler = self.compiler()
        builds = [self.start(compiler, "-c", "x.f90", "-o", f"x{i}.o") for i in range(6)]
        for build in builds:
            self.assertEqual((build.communicate(timeout=300), build.returncode), (("", ""), 0))
        self.assertEqual(self.made(), 1)
        (entry,) = self.entries()
        self.assertEqual((entry / "built_by").read_text(), "GNU Fortran (Somebody) 99.1.0\n")
        self.assertEqual(self.fort(compiler, "x.f90", "-o", "x").code, 0)
        self.assertEqual(self.made(), 1)
        self.assertEqual(tool.run("-n", 2, self.folder / "x").code, 0)
        # Build tools ask for the folder, and call the compiler themselves.
        self.assertIn(f" -I{entry}", self.fort(compiler, "-showme:compile").out)
        self.assertIn(str(entry), self.fort(compiler, "-show", "-c", "x.f90").out)

    def test_one_for_each_version(self):
        for name, about in (("one", "GNU Fortran (Somebody) 99.1.0"), ("other", "GNU Fortran (Somebody) 99.2.0")):
            self.assertEqual(self.fort(self.compiler(name, about), "-c", "x.f90").code, 0)
        self.assertEqual(len(self.entries()), 2)

    def test_one_for_each_machine(self):
        for machine in ("x86_64-linux-gnu", "aarch64-linux-gnu"):
            self.assertEqual(self.fort(self.compiler(machine=machine), "-c", "x.f90").code, 0)
        self.assertEqual(len(self.entries()), 2, "an archive of code is among them")

    def test_a_damaged_one_is_made_again(self):
        compiler = self.compiler()
        self.assertEqual(self.fort(compiler, "-c", "x.f90").code, 0)
        (entry,) = self.entries()
        (entry / "built_by").unlink()
        self.assertEqual(self.fort(compiler, "-c", "x.f90").code, 0)
        self.assertEqual((self.made(), self.entries()), (2, [entry]))
        self.assertTrue((entry / "built_by").exists())

    @unittest.skipIf(os.geteuid() != 0, "gives a folder to another user")
    def test_none_of_another_user(self):
        compiler = self.compiler()
        self.assertEqual(self.fort(compiler, "-c", "x.f90").code, 0)
        (entry,) = self.entries()
        for module in entry.glob("*.mod"):
            module.write_bytes(b"something else")
        os.chown(entry, 1, 1)
        self.assertEqual(self.fort(compiler, "-c", "x.f90").code, 0)
        self.assertEqual((self.made(), entry.stat().st_uid), (2, 0))

    def test_the_lock_spares_what_a_link_in_its_place_names(self):
        compiler = self.compiler()
        self.assertEqual(self.fort(compiler, "-c", "x.f90").code, 0)
        (entry,) = self.entries()
        (victim := self.folder / "victim").write_text("text")
        (lock := self.cache / f".{entry.name}.lock").unlink()
        lock.symlink_to(victim)
        shutil.rmtree(entry)
        self.assertEqual(self.fort(compiler, "-c", "x.f90").code, 0)
        self.assertEqual(victim.read_text(), "text")

    def test_none_for_the_compiler_of_the_installation(self):
        self.assertEqual(self.fort("gfortran", "-c", "x.f90").code, 0)
        self.assertEqual(self.entries(), [])

    def test_one_that_cannot_be_made(self):
        path = self.compiler()
        path.write_text('#!/bin/sh\ncase $1 in --version) echo "flang version 99"; exit ;; esac\necho "broken: no such thing" >&2\nexit 1\n')
        result = self.fort(path, "-c", "x.f90")
        self.assert_says(result, 1, "mpifort: x.f90, line 2", "none could be made: broken: no such thing", "clump fortran --compiler")
        self.assertEqual(self.entries(), [], "nothing half stays")

    def test_a_cache_that_cannot_be_written(self):
        self.cache.write_text("a file")
        result = self.fort(self.compiler(), "-c", "x.f90")
        self.assertEqual((result.code, result.err), (0, ""), "the module files of the installation do")


class Reports(tool.Case):
    """Places are those of the program, not of the library that calls MPI in its place."""

    def program(self, *lines):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        head = ("program wrong", "use mpi_f08", "implicit none", "integer :: rank, x = 0", "call MPI_Init()", "call MPI_Comm_rank(MPI_COMM_WORLD, rank)")
        pathlib.Path(folder.name, "wrong.f90").write_text("\n".join((*head, *lines, "call MPI_Finalize()", "end program")) + "\n")
        done = tool.run("-g", "wrong.f90", "-o", "wrong", tool="mpifort", cwd=folder.name)
        self.assertEqual((done.code, done.err), (0, ""))
        return folder.name + "/wrong"

    def test_an_error(self):
        program = self.program("call MPI_Send(x, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD)")
        for way in ([], ["--ranks", "processes"]):
            result = tool.run("-n", 2, *way, program)
            self.assert_says(result, 2, "MPI_Send(count = -1)", "#0", "wrong.f90:7")
            self.assertNotIn("procedures", result.err)

    def test_a_deadlock(self):
        program = self.program("call MPI_Recv(x, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)")
        for way in ([], ["--ranks", "processes"]):
            self.assertIn("wait in MPI_Recv(source rank+1, tag 0, MPI_COMM_WORLD) at wrong.f90:7", tool.run("-n", 2, *way, program).err)

    def test_collective_calls_that_do_not_fit(self):
        program = self.program("if (rank == 0) call MPI_Bcast(x, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)", "if (rank == 1) call MPI_Barrier(MPI_COMM_WORLD)")
        for way in ([], ["--ranks", "processes"]):
            self.assert_says(tool.run("-n", 2, "--check", *way, program), 16, "rank 0: MPI_Bcast", "wrong.f90:7", "rank 1: MPI_Barrier", "wrong.f90:8")

    def test_what_is_left(self):
        program = self.program("block", "type(MPI_Comm) :: comm", "call MPI_Comm_dup(MPI_COMM_WORLD, comm)", "end block")
        self.assertIn("wrong.f90:9", tool.run("-n", 2, "--check", program).err)

    def test_a_freed_handle(self):
        program = self.program("block", "type(MPI_Comm) :: comm, same", "call MPI_Comm_dup(MPI_COMM_WORLD, comm)", "same = comm",
                               "call MPI_Comm_free(comm)", "call MPI_Barrier(same)", "end block")  # fmt: skip
        result = tool.run("-n", 2, program)
        self.assertNotEqual(result.code, 0)
        self.assertIn("MPI_Barrier(comm = ", result.err)


class Tools(tool.Case):
    def test_a_tool_in_c_sees_the_calls(self):
        for way in ([], ["--ranks", "processes"]):
            result = tool.run("-n", 2, *way, "-x", f"LD_PRELOAD={PROGRAMS}/libtool_c.so", PROGRAMS / "mixed", cwd=str(PROGRAMS))
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertEqual(sorted(result.out.splitlines()), ["2 ranks, 0 failures", "seen in C: 3"])

    def test_a_tool_in_fortran_goes_on_past_that_in_c(self):
        preload = f"LD_PRELOAD={PROGRAMS}/libtool_fortran.so:{PROGRAMS}/libtool_c.so"
        result = tool.run("-n", 2, "-x", preload, PROGRAMS / "mixed", cwd=str(PROGRAMS))
        self.assertEqual((result.code, result.err), (0, ""))
        # Two of the three calls of MPI_Allreduce have the name that the tool wraps; the third, from mpi_f08, is left for the one in C.
        self.assertEqual(sorted(set(result.out.splitlines())), ["2 ranks, 0 failures", "seen in Fortran", "the end is seen in Fortran"])


if __name__ == "__main__":
    unittest.main()
