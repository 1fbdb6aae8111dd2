"""packaging/tree.py, which `./dev install` and `./dev uninstall` call: it puts the files of the build tree into a folder, brings an older version there up to
date, and removes what it has put there and nothing else."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import place

SOURCE = pathlib.Path(__file__).parents[2]
TREE = SOURCE / "packaging" / "tree.py"
MANIFEST = "share/clump/install_manifest.txt"


def content(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


class Uninstall(place.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="with space ")
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name, "prefix")

    def tree(self, *words, **more):
        env = {**place.environment(), "PATH": f"{pathlib.Path(os.environ['CLUMP_CMAKE']).parent}:{os.environ['PATH']}", **more}
        if "DESTDIR" not in more:
            env.pop("DESTDIR", None)
        return self.run_here(sys.executable, "-B", TREE, *words, env=env)

    def install(self, *options, **more):
        return self.tree("install", *options, place.BUILD, self.prefix, *place.COMPONENTS, **more)

    def test_nothing_is_left(self):
        self.install("--made")
        files = {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if path.is_symlink() or path.is_file()}
        listed = set((self.prefix / MANIFEST).read_text().split("\n")) - {""}
        self.assertEqual(files, {name for name in listed if not name.endswith("/")})
        self.assertIn("bin/mpiexec", files)
        self.tree("uninstall", self.prefix)
        self.assertFalse(self.prefix.exists())

    def test_what_was_there_before_stays(self):
        for name in ("bin/mine", "lib/pkgconfig/mine.pc", "share/man/man1/mine.1"):
            (self.prefix / name).parent.mkdir(parents=True)
            (self.prefix / name).write_text("mine")
        (self.prefix / "include").mkdir()  # empty, and not ours
        before = content(self.prefix)
        self.install()
        self.install()
        self.assertLess(before, content(self.prefix))
        self.tree("uninstall", self.prefix)
        self.assertEqual(content(self.prefix), before)

    def test_over_version_0_1(self):
        """Its manifest lists files alone. One that there is no more is removed; one of the user's beside it stays."""
        self.install("--made")
        lines = (self.prefix / MANIFEST).read_text().split("\n")
        (self.prefix / "share/clump/install_checksums.txt").unlink()
        (self.prefix / "lib/clump/old").mkdir()
        (self.prefix / "lib/clump/old/libold.so").write_text("old")
        (self.prefix / "lib/libmine.so").write_text("mine")
        names = [line for line in lines if line and not line.endswith("/") and "checksums" not in line]
        (self.prefix / MANIFEST).write_text("\n".join([*names, "lib/clump/old/libold.so", "../outside", "/etc/hostname"]) + "\n")
        (self.prefix.parent / "outside").write_text("not ours")
        self.assertIn("removed 1 of an older version", self.install())
        self.assertFalse((self.prefix / "lib/clump/old").exists())
        self.assertNotIn("libold", (self.prefix / MANIFEST).read_text())
        self.tree("uninstall", self.prefix)
        self.assertTrue((self.prefix.parent / "outside").exists())
        self.assertEqual({path.name for path in self.prefix.rglob("*") if path.is_file()}, {"libmine.so"})
        self.assertFalse([name for name in content(self.prefix) if "clump" in name.lower()])

    def test_what_was_changed_stays(self):
        self.install("--made")
        (self.prefix / "bin/mpicc").write_text("#!/bin/sh\nexec another_library\n")
        (self.prefix / "bin/mpirun").unlink()
        (self.prefix / "bin/mpirun").symlink_to("orterun")
        (self.prefix / "include/clump/fortran/flang").mkdir()
        (self.prefix / "include/clump/fortran/flang/mpi.mod").write_text("made by clump fortran")
        out = self.tree("uninstall", self.prefix)
        for name in ("bin/mpicc: it was changed", "bin/mpirun: it was changed", "include/clump/fortran: it has files"):
            self.assertIn(f"left {self.prefix}/{name}", out)
        self.assertEqual(out.count("left "), 3)
        self.assertEqual({str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if path.is_symlink() or path.is_file()},
                         {"bin/mpicc", "bin/mpirun", "include/clump/fortran/flang/mpi.mod"})

    def test_while_a_job_runs(self):
        """It keeps the files that it has opened."""
        self.install("--made")
        command = [str(self.prefix / "bin/mpiexec"), "-n", "1", "cat"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=place.environment()) as job:
            job.stdin.write("begun\n")
            job.stdin.flush()
            self.assertEqual(job.stdout.readline(), "begun\n")
            self.install()
            out, _ = job.communicate("and over\n", timeout=100)
        self.assertEqual((out, job.returncode), ("and over\n", 0))

    def test_destdir(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix, self.prefix = self.prefix, pathlib.Path("/opt/clump")
            self.install("--made", DESTDIR=folder)
            self.assertTrue(pathlib.Path(folder, "opt/clump/bin/mpiexec").exists())
            self.tree("uninstall", self.prefix, DESTDIR=folder)
            self.assertFalse(pathlib.Path(folder, "opt/clump").exists())
            self.assertFalse(prefix.exists())

    def test_dev_uninstall_refuses(self):
        dev = SOURCE / "dev"
        for words, code, text in ((["--help"], 0, ""), (["--prefix"], 2, "needs a folder"), (["--debug-files"], 2, "--help"),
                                  (["--prefix", self.prefix], 1, "nothing was installed")):
            with self.subTest(words=words):
                self.run_here(dev, "uninstall", *words, code=code)
                self.assertIn(text, self.err)


if __name__ == "__main__":
    unittest.main()
