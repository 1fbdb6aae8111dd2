"""Where the ranks' output goes: files of their own, and equal lines once."""

import collections
import os
import pathlib
import select
import subprocess
import tempfile
import unittest

import tool

PROGRAM = tool.program("output")
LINES = ["begin", "in two pieces", "rank {}", "end"]


class Files(tool.Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def expect_files(self, folder, ranks):
        names = sorted(f"rank.{rank}.{stream}" for rank in range(ranks) for stream in ("out", "err"))
        self.assertEqual(sorted(os.listdir(folder)), names)
        for rank in range(ranks):
            self.assertEqual((folder / f"rank.{rank}.out").read_text().splitlines(), [line.format(rank) for line in LINES])
            self.assertEqual((folder / f"rank.{rank}.err").read_text(), "an error\n")

    def test_a_folder(self):
        result = tool.run("-n", "3", "--output-dir", self.path / "new" / "folder", PROGRAM)
        self.assertEqual(result[:3], (0, "", ""))
        self.expect_files(self.path / "new" / "folder", 3)

    def test_what_was_there_is_lost(self):
        for _ in range(2):
            tool.run("-n", "3", "--output-dir", "x", PROGRAM, cwd=self.folder.name)
            self.expect_files(self.path / "x", 3)

    def test_tee(self):
        result = tool.run("-n", "3", "--output-dir", self.path, "--tee", "--tag-output", PROGRAM)
        self.expect_files(self.path, 3)
        expected = collections.Counter(f"[{rank}] {line.format(rank)}" for rank in range(3) for line in LINES)
        if os.environ.get("CLUMP_RANKS") == "processes":  # the C library's buffers do not know of lines
            self.assertEqual(collections.Counter(result.out.splitlines()), expected)
        else:
            for rank in range(3):
                self.assertIn(f"[{rank}] rank {rank}\n", result.out)
        self.assertEqual(sorted(result.err.splitlines()), [f"[{rank}] an error" for rank in range(3)])

    def test_other_launchers_names(self):
        tool.run("-n", "2", "-outfile-pattern", self.path / "o-%r-%h", "-errfile-pattern", self.path / "e-%r", PROGRAM)
        host = os.uname().nodename
        self.assertEqual(sorted(os.listdir(self.path)), ["e-0", "e-1", f"o-0-{host}", f"o-1-{host}"])
        both = tool.run("-n", "2", "--output-filename", self.path / "both", PROGRAM)
        self.expect_files(self.path / "both", 2)
        self.assertIn("an error", both.err)
        quiet = tool.run("-n", "2", "--output-filename", f"{self.path}/quiet:nocopy", PROGRAM)
        self.expect_files(self.path / "quiet", 2)
        self.assertEqual(quiet.out + quiet.err, "")

    def test_a_rank_that_fails_leaves_its_last_words(self):
        result = tool.run("-n", "3", "--output-dir", self.path, PROGRAM, "fail")
        self.assert_says(result, 3, "rank 1")
        self.assertEqual((self.path / "rank.1.out").read_text().splitlines()[-1], "last words")

    def test_bad_places(self):
        (self.path / "file").write_text("")
        self.assert_says(tool.run("--output-dir", self.path / "file", "-n", "2", PROGRAM), 126, str(self.path / "file"), "--output-dir")
        self.assert_says(tool.run("--output-dir", "/proc/none", "-n", "2", PROGRAM), 126, "cannot write /proc/none", "No such file")
        self.assert_says(tool.run("--outfile-pattern", "all", "-n", "2", PROGRAM), 2, "--outfile-pattern all", "write %r")
        self.assert_says(tool.run("--tee", "-n", "2", PROGRAM), 2, "--tee", "--output-dir")
        self.assert_says(tool.run("--output", "dir=x", "-n", "2", PROGRAM), 2, "--output-dir")


class Collapse(tool.Case):
    def test_equal_lines_once(self):
        result = tool.run("-n", "4", "--collapse", PROGRAM)
        self.assertEqual(result.code, 0)
        out = result.out.splitlines()
        # A rank may be so late that its line is another one: what each rank wrote, in order, is what counts.
        for rank in range(4):
            mine = [line.split("] ", 1)[1] for line in out if rank in ranks_of(line)]
            self.assertEqual(mine, [line.format(rank) for line in LINES])
        self.assertLess(len(out), 13)  # and not 16
        self.assertEqual(sum(len(ranks_of(line)) for line in result.err.splitlines()), 4)

    def test_all_at_once(self):
        for _ in range(20):  # a machine that stands still for a tenth of a second may tear them apart
            result = tool.run("-n", "6", "--collapse", PROGRAM)
            if "[0-5] in two pieces\n" in result.out and "[0-5] an error\n" in result.err:
                return
        self.fail(result)

    def test_nobody_is_kept_waiting(self):
        words = [str(tool.TOOLS / "mpiexec"), "-n", "2", "--collapse", "sh", "-c", "echo now; exec sleep 100"]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as job:
            said = select.select([job.stdout], [], [], 20)[0]
            job.terminate()
            self.assertEqual(said, [job.stdout])
            self.assertIn(job.stdout.readline(), (b"[0-1] now\n", b"[0] now\n", b"[1] now\n"))

    def test_last_words_of_a_failed_job(self):
        result = tool.run("-n", "3", "--collapse", PROGRAM, "fail")
        self.assert_says(result, 3, "an error", "mpiexec: rank 1")
        self.assertIn("[1] last words\n", result.out)


def ranks_of(line):
    """[0-2,5] text"""
    found = set()
    for part in line[1:line.index("]")].split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


if __name__ == "__main__":
    unittest.main()
