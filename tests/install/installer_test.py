"""packaging/tree.py over folders in which there is something else already: files of others, links that lead elsewhere, what an interrupted call has left.
A script stands for cmake; it installs the few files of the folder `build/files`."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).parents[2] / "packaging" / "tree.py"
MANIFEST, CHECKSUMS = "share/clump/install_manifest.txt", "share/clump/install_checksums.txt"


class Installer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="with space ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(os.path.realpath(folder.name))
        self.prefix, self.out = self.folder / "prefix", self.folder / "out"
        for path in (self.prefix, self.out, self.folder / "tools", self.folder / "build/files"):
            path.mkdir(parents=True)
        cmake = self.folder / "tools/cmake"
        cmake.write_text('#!/bin/sh\nmkdir -p "$DESTDIR$4"\ncp -a "$2/files/." "$DESTDIR$4"\n')
        cmake.chmod(0o755)
        self.version("bin/mpicc", "lib/libmpi.so", text="one")

    def version(self, *names, text):
        """These files are what is installed from here on."""
        subprocess.run(["rm", "-r", self.folder / "build/files"], check=True)
        for name in names:
            self.write(self.folder / "build/files" / name, text)

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def tree(self, *words, code=0):
        env = {name: value for name, value in os.environ.items() if name != "DESTDIR"}
        env["PATH"] = f"{self.folder}/tools:{env['PATH']}"
        done = subprocess.run([sys.executable, "-B", TREE, *words], env=env, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done)
        return done.stdout + done.stderr

    def install(self, code=0):
        return self.tree("install", self.folder / "build", self.prefix, "runtime", code=code)

    def uninstall(self, code=0):
        return self.tree("uninstall", self.prefix, code=code)

    def there(self):
        return {str(path.relative_to(self.prefix)): path.read_text() for path in self.prefix.rglob("*") if path.is_file() and "share/clump/" not in str(path)}

    def test_uninstall_stays_inside(self):
        """A folder that has become a link, and a manifest without checksums."""
        self.install()
        (self.out / "empty").mkdir()
        self.write(self.out / "precious", "mine")
        self.write(self.prefix / MANIFEST, "bin/\nbin/mpicc\nlib/empty/\nlib/precious\nlib/libmpi.so\n")
        (self.prefix / CHECKSUMS).unlink()
        (self.prefix / "lib/libmpi.so").unlink()
        (self.prefix / "lib").rmdir()
        (self.prefix / "lib").symlink_to("../out")
        said = self.uninstall()
        self.assertIn(f"left {self.prefix}/lib/precious: {self.prefix}/lib leads out of {self.prefix}", said)
        self.assertIn(f"left {self.prefix}/lib/empty: ", said)
        self.assertEqual({path.name for path in self.out.iterdir()}, {"precious", "empty"})
        self.assertFalse((self.prefix / "bin").exists())

    def test_uninstall_does_not_follow_the_manifest_out(self):
        self.install()
        (self.prefix / "share").rename(self.out / "share")
        (self.prefix / "share").symlink_to(self.out / "share")
        self.assertIn("outside of", self.uninstall(code=1))
        self.assertTrue((self.out / MANIFEST).exists())
        self.assertIn("bin/mpicc", self.there())

    def test_install_stays_inside(self):
        (self.prefix / "lib").symlink_to(self.out)
        said = self.install(code=1)
        self.assertIn(f"{self.prefix}/lib leads to {self.out}", said)
        self.assertIn("--prefix", said)
        self.assertEqual((list(self.out.iterdir()), self.there()), ([], {}))

    def test_links_inside(self):
        (self.prefix / "lib64").mkdir()
        (self.prefix / "lib").symlink_to("lib64")
        self.install()
        self.assertTrue((self.prefix / "lib64/libmpi.so").exists())
        self.uninstall()
        self.assertEqual({path.name for path in self.prefix.iterdir()}, {"lib", "lib64"})

    def test_files_of_others(self):
        """Also what can be no file of ours; a file that is the same is no obstacle."""
        self.write(self.prefix / "bin/mpicc", "another library's")
        self.write(self.prefix / "lib/libmpi.so", "one")
        said = self.install(code=1)
        self.assertIn(f"{self.prefix}/bin/mpicc,", said)
        self.assertIn("--prefix", said)
        self.assertNotIn("libmpi", said)
        self.assertEqual(self.there(), {"bin/mpicc": "another library's", "lib/libmpi.so": "one"})
        (self.prefix / "bin/mpicc").unlink()
        (self.prefix / "bin/mpicc").mkdir()
        self.assertIn(f"{self.prefix}/bin/mpicc is a folder", self.install(code=1))
        self.assertFalse((self.prefix / MANIFEST).exists())

    def test_folder_in_the_place_of_a_file_of_version_0_1(self):
        self.install()
        (self.prefix / CHECKSUMS).unlink()
        (self.prefix / "lib/libmpi.so").unlink()
        self.write(self.prefix / "lib/libmpi.so/mine", "mine")
        self.version("bin/mpicc", text="two")
        self.assertIn(f"left {self.prefix}/lib/libmpi.so: it was changed", self.install())
        self.assertEqual(self.there(), {"bin/mpicc": "two", "lib/libmpi.so/mine": "mine"})

    def test_many_files_of_others(self):
        self.version("a", "b", "c", "d", text="ours")
        for name in "abcd":
            self.write(self.prefix / name, "theirs")
        self.assertIn(f"{self.prefix}/a, {self.prefix}/b, {self.prefix}/c and 1 more", self.install(code=1))

    def test_changed_file_is_kept(self):
        self.install()
        for text, kept in (("mine", "bin/mpicc.before"), ("mine again", "bin/mpicc.before2")):
            self.write(self.prefix / "bin/mpicc", text)
            self.assertIn(f"kept {self.prefix}/{kept}: ", self.install())
            self.assertEqual(self.there()[kept], text)
        self.assertNotIn("kept", self.install())
        self.uninstall()
        self.assertEqual(self.there(), {"bin/mpicc.before": "mine", "bin/mpicc.before2": "mine again"})

    def interrupt(self, names):
        """An installation that ends after `names`, in the midst of the next file."""
        ends = ("import os, sys; sys.argv[0:1] = []; sys.path.insert(0, os.path.dirname(sys.argv[0])); import tree\n"
                "whole = tree.shutil.copy2\n"
                "def copy2(source, target, **more):\n"
                f"  if target.name not in {names}:\n"
                "    target.write_text('half'); os._exit(9)\n"
                "  whole(source, target, **more)\n"
                "tree.shutil.copy2 = copy2\ntree.main()\n")
        env = {**os.environ, "PATH": f"{self.folder}/tools:{os.environ['PATH']}"}
        words = [sys.executable, "-B", "-c", ends, TREE, "install", self.folder / "build", self.prefix, "runtime"]
        self.assertEqual(subprocess.run(words, env=env, check=False).returncode, 9)

    def test_interrupted_upgrade(self):
        """Uninstall knows the files of both versions; a file NAME.new is the user's."""
        for again in (False, True):
            for checksums in (True, False):  # version 0.1 has none
                with self.subTest(again=again, checksums=checksums):
                    self.version("bin/mpicc", "bin/mpiexec", "bin/old", text="one")
                    self.install()
                    if not checksums:
                        (self.prefix / CHECKSUMS).unlink()
                    self.write(self.prefix / "bin/mpicc.new", "mine")
                    self.version("bin/mpicc", "bin/mpiexec", text="two")
                    self.interrupt(["mpicc"])
                    self.interrupt(["mpiexec"])
                    if again:
                        self.assertNotIn("kept", self.install())
                        self.assertEqual(self.there(), {"bin/mpicc": "two", "bin/mpiexec": "two", "bin/mpicc.new": "mine"})
                    self.assertNotIn(": it was changed", self.uninstall())
                    self.assertEqual({str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*")}, {"bin", "bin/mpicc.new"})
                    (self.prefix / "bin/mpicc.new").unlink()

    def test_empty_build(self):
        self.install()
        before = self.there()
        for path in (self.folder / "build/files").rglob("*"):
            if path.is_file():
                path.unlink()
        self.assertIn("build the target 'installed' first", self.install(code=1))
        self.assertEqual(self.there(), before)


if __name__ == "__main__":
    unittest.main()
