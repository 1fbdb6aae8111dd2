"""Files where the system has no room, allows no writing, or kills a rank: every rank gets the error, what was written before is there, and nothing
but the file is left. Small file systems are mounted where nobody else sees them, which needs root."""

import fcntl
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

import tool

TMPFS = 'mount -t tmpfs -o "$1" tmpfs "$2"'
# The kernel takes the loop device away with the mount. Quota groups count for root, too; of the limit, a part is for the folder itself.
BTRFS = ('truncate -s 256M "$2.disk" && mkfs.btrfs -q "$2.disk" && mount -o loop "$2.disk" "$2" && btrfs quota enable "$2" && '
         'btrfs qgroup limit "$1" "$2"')


def on_file_system(mount, options, *words):
    """Runs the program on four ranks, with a small file system at ./there. `mount` makes it, with `options` and the place."""
    with tempfile.TemporaryDirectory() as folder:
        there = pathlib.Path(folder, "there")
        there.mkdir()
        # A mount namespace of its own: nothing is left whatever ends this.
        script = f'{{ {mount}; }} || exit 77; shift 2; exec "$@"'
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", options, there,
                   tool.TOOLS / "mpiexec", "-n", 4, tool.program("files"), words[0], there / "file"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=240, check=False)
        return done, sorted(path.name for path in there.iterdir())


class Files(tool.Case):
    def run_on(self, options, *words, mount=TMPFS):
        if os.geteuid() != 0:
            self.skipTest("only root can mount a file system")
        done, left = on_file_system(mount, options, *words)
        if done.returncode in (77, 32) or "unshare:" in done.stderr:
            self.skipTest(f"no file system of its own can be mounted: {done.stderr.strip()}")
        self.assertEqual(left, [])  # nothing went to the folder below
        return done

    def test_no_space_in_the_middle_of_a_collective_write(self):
        done = self.run_on("size=4500k", "fill")  # four whole calls, and a part of the fifth
        self.assertEqual((done.returncode, done.stdout), (0, "no space after 4 calls, the same at all ranks, intact\n"), done.stderr)

    def test_quota_in_the_middle_of_a_collective_write(self):
        for program in ("mkfs.btrfs", "btrfs"):
            if shutil.which(program) is None:
                self.skipTest(f"there is no {program}, which makes a file system with a quota (Debian: btrfs-progs)")
        done = self.run_on("6M", "fill", mount=BTRFS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^quota exceeded after [1-9]\d* calls, the same at all ranks, intact\n$")

    def test_read_only(self):
        done = self.run_on("size=1m,ro", "open")
        self.assertEqual((done.returncode, done.stdout), (0, "read only\n" * 4), done.stderr)

    def test_a_rank_is_killed_during_a_collective_write(self):
        for milliseconds in (0, 1, 7, 50):
            with self.subTest(milliseconds=milliseconds), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "file")
                result = tool.run("-n", 4, tool.program("files"), "kill", file, milliseconds)
                self.assertEqual((result.code, result.out), (137, "writing\n"), result.err)
                self.assertIn("SIGKILL", result.err)
                self.assertEqual(os.listdir(folder), ["file"])
                with file.open("r+b") as again:  # no lock has been left
                    fcntl.fcntl(again, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))


if __name__ == "__main__":
    unittest.main()
