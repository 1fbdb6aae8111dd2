"""Nothing is loaded or run from the folder that the user stands in because its name is that of something Clump, or what it starts, needs. Each test puts there
what would tell that it was run."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import tool

SANITIZED = os.environ.get("CLUMP_SANITIZE")
VERSION = next(word for word in tool.run("--version").out.split() if word[0].isdigit())
LIBRARIES = ("libmpi_abi.so.1", "libclump_host.so", "libclump_places.so", "libclump_malloc.so", "libclump_mimalloc.so", "libfabric.so.1", "libpmix.so.2",
             "libscotch-7.0.so", "libhwloc.so.15", "libdw.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libtell.so.1")
MODULES = ("json", "argparse", "signal", "pathlib", "statistics", "dataclasses", "html", "glob", "struct", "tempfile", "contextlib", "sitecustomize", "clump_lab",
           "clump_gdb", "start")
TELLING = '#include <fcntl.h>\n__attribute__((constructor)) void tell(void) { (void)!open(PATH, O_CREAT | O_WRONLY, 0666); }\n'


class Folder(tool.Case):
    """`where` is that folder, and `told` the file that is made there."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.where = pathlib.Path(cls.folder.name) / "here"
        cls.where.mkdir()
        cls.told = cls.where / "told"
        telling = cls.where / LIBRARIES[0]
        subprocess.run(["cc", "-shared", "-fPIC", f'-DPATH="{cls.told}"', "-x", "c", "-", "-o", telling], input=TELLING, text=True, check=True)
        for library in LIBRARIES[1:]:
            shutil.copy(telling, cls.where / library)
        for module in MODULES:
            (cls.where / f"{module}.py").write_text(f"open({str(cls.told)!r}, 'w').close()\n")
        (cls.where / ".gdbinit").write_text(f"shell touch {cls.told}\n")
        for program in ("mpiexec", "mpicc", "prterun", "python3", "gdb", "cc", "ssh"):
            (cls.where / program).write_text(f"#!/bin/sh\ntouch {cls.told}\n")
            (cls.where / program).chmod(0o755)

    def here(self, *words, env=None, unset=("LD_LIBRARY_PATH", "PYTHONPATH"), **more):
        """Runs a tool in the folder; whether something there has told."""
        kept = {name: value for name, value in os.environ.items() if name not in unset}
        self.told.unlink(missing_ok=True)
        done = subprocess.run([str(word) for word in words], cwd=self.where, env={**kept, **(env or {})}, capture_output=True, text=True, timeout=240,
                              check=False, **more)
        return done, self.told.exists()

    def assert_safe(self, *words, ends_well=True, **more):
        done, told = self.here(*words, **more)
        self.assertFalse(told, f"{words}: {done}")
        if ends_well:
            self.assertEqual(done.returncode, 0, f"{words}: {done}")
        return done

    def test_that_it_would_tell(self):
        self.assertTrue(self.here("python3", "-c", "import json")[1])
        self.assertTrue(self.here("python3", "-c", "0", env={"LD_PRELOAD": str(self.where / "libtell.so.1")})[1])
        self.assertTrue(self.here("sh", "-c", "./gdb")[1])

    def test_lab(self):
        for path in (None, "", ":", ".", ":/nowhere", "/nowhere:", str(self.where)):
            env = {} if path is None else {"PYTHONPATH": path}
            self.assertIn("ring", self.assert_safe(tool.TOOLS / "clump", "lab", "list", env=env).stdout)

    def test_which(self):
        done = self.assert_safe(tool.TOOLS / "clump", "which", shutil.which("python3"), "-c", "0", ends_well=False)
        self.assertRegex(done.stdout, "no MPI library has come in")

    @unittest.skipIf(SANITIZED, "a sanitizer has to be first")
    def test_programs(self):
        program = tool.program("rights")
        for words in ((program,), (tool.TOOLS / "mpiexec", "-n", "2", program), (tool.TOOLS / "mpiexec", "-n", "2", "--ranks", "processes", program),
                      (tool.TOOLS / "mpiexec", "-n", "2", "sh", "-c", f"exec {program}"), (tool.TOOLS / "clump", "info"),
                      (tool.TOOLS / "clump", "info", "--channels")):
            self.assert_safe(*words)
        self.assert_safe(tool.TOOLS / "clump", "doctor", ends_well=False)  # what it says is the machine's

    def test_hosts(self):
        """What runs on other hosts of a job, in the folder where a shell begins there."""
        self.assert_safe(tool.TOOLS / "mpiexec", "--try-host", VERSION, ends_well=False)
        done = self.assert_safe(tool.TOOLS / "mpiexec", "--proxy", "0", ends_well=False, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout.splitlines()[:2]), (1, ["", f"clump-proxy {VERSION} {tool.TOOLS / 'mpiexec'}"]))

    @unittest.skipIf(SANITIZED, "a sanitizer has to be first")
    def test_own_folder_is_the_one_of_the_start(self):
        """ld.so names libraries by relative paths if LD_LIBRARY_PATH has some. A program that goes elsewhere takes no mpiexec from there."""
        (self.where / "lib").mkdir(exist_ok=True)
        (self.where / "bin").mkdir(exist_ok=True)
        shutil.copy(self.where / "mpiexec", self.where / "bin" / "mpiexec")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CLUMP_")}
        self.told.unlink(missing_ok=True)
        done = subprocess.run([tool.program("rights"), "spawn", str(self.where), tool.program("rights")], cwd=tool.BUILD, env={**kept, "LD_LIBRARY_PATH": "lib"}, capture_output=True,
                              text=True, timeout=240, check=False)
        self.assertEqual((done.returncode, self.told.exists()), (0, False), done)
        self.assertIn("spawned: yes\n", done.stdout)

    @unittest.skipUnless(shutil.which("gdb"), "there is no gdb")
    @unittest.skipIf(SANITIZED, "a sanitizer looks at its own")
    def test_gdb(self):
        commands = self.where / "commands.gdb"
        commands.write_text("clump ranks\nkill\n")
        done = self.assert_safe(tool.TOOLS / "mpiexec", "--gdb-command", commands, "-n", "2", tool.program("rights"), ends_well=False)
        self.assertIn("rank", done.stdout)

    def test_rules(self):
        """By which collectives choose: a home that is no absolute path is none, as it is for XDG_CONFIG_HOME."""
        rules = self.where / ".config" / "clump" / "collectives"
        rules.parent.mkdir(parents=True)
        rules.write_text("no rules\n")
        for env in ({"HOME": "."}, {"HOME": ""}, {"HOME": "/nowhere", "XDG_CONFIG_HOME": ".config"}):
            self.assert_safe(tool.TOOLS / "mpiexec", "-n", "1", "true", env=env)
        self.assertNotEqual(self.here(tool.TOOLS / "mpiexec", "-n", "1", "true", env={"HOME": str(self.where)}, unset=("XDG_CONFIG_HOME",))[0].returncode, 0)

    def test_wrappers(self):
        source = self.where / "hello.c"
        source.write_text("#include <mpi.h>\nint main(void) { return MPI_SUCCESS; }\n")
        self.assert_safe(tool.TOOLS / "mpicc", source, "-o", self.where / "hello")
        self.assert_safe(self.where / "hello")


if __name__ == "__main__":
    unittest.main()
