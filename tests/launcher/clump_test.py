"""The subcommands of clump."""

import os
import re
import tempfile
import unittest

import tool


def clump(*words):
    return tool.run(*words, tool="clump")


class Clump(tool.Case):
    def test_info(self):
        self.assertRegex(clump("info").out, "functions of the MPI standard .*: 664 of 664 have a body")
        self.assertRegex(clump("info").out, r"scheduler: (fibers|threads) .*\nusable cores: \d+ \([-0-9,]+\).*\nFSGSBASE: (yes|no), membarrier: (yes|no)")
        self.assertEqual(clump("info", "--missing").out, "")
        self.assertRegex(clump("--version").out, r"^clump \d+\.\d+\.\d+")
        self.assertRegex(clump("info", "--version").out, r"^clump \d+\.\d+\.\d+")

    def test_selection(self):
        table = clump("info", "--coll").out
        self.assertRegex(table, r"(?m)^allreduce +\w")
        self.assertIn("up to 32 ranks", table)
        self.assert_says(clump("info", "--coll", "--missing"), 2, "excludes")

    def test_selection_for_a_shape(self):
        across = clump("info", "--coll", "--shape", "4x4").out
        self.assertRegex(across, r"^16 ranks on 4 hosts")
        self.assertRegex(across, r"(?m)^allreduce +two-stage +$")
        self.assertRegex(across, r"(?m)^alltoall +two-stage +\n +direct +from 4 KiB$")
        self.assertIn("every rank leads", across)
        self.assertRegex(clump("info", "--coll", "--shape", "1+2+4").out, r"^7 ranks on 3 hosts")
        self.assertNotIn("two-stage", clump("info", "--coll", "--shape", "16").out)
        self.assertNotIn("two-stage", clump("info", "--coll", "--shape", "16x1").out)
        for wrong in "x4", "4x", "0", "4+0", "many":
            self.assert_says(clump("info", "--coll", "--shape=" + wrong), 2, "4x4")
        self.assert_says(clump("info", "--shape", "4x4"), 2, "requires --coll")

    def test_channels(self):
        def channels(*options, **variables):
            result = tool.run("info", "--channels", *options, tool="clump", env=variables)
            self.assertEqual((result.code, result.err), (0, ""))
            return result.out

        self.assertEqual(channels("-n", 1), "channels of 1 rank\n  from 0: self to 0\n")
        for scheduler in ("threads",) if os.environ.get("CLUMP_SANITIZE") else ("fibers", "threads"):
            self.assertEqual(channels("-n", 4, CLUMP_SCHEDULER=scheduler), "channels of 4 ranks\n  from 0-3: self to 0-3\n")
        if os.environ.get("CLUMP_SANITIZE") in ("", None, "address"):
            self.assertEqual(channels("-n", 4, "--per-process", 2),
                             "channels of 4 ranks\n  from 0-1: self to 0-1, shm to 2-3\n  from 2-3: self to 2-3, shm to 0-1\n")
            self.assertEqual(channels("-n", 3, CLUMP_RANKS="processes"),
                             "channels of 3 ranks\n  from 0: self to 0, shm to 1-2\n  from 1: self to 1, shm to 0,2\n"
                             "  from 2: self to 2, shm to 0-1\n")
            self.assertEqual(channels("-n", 20, "--ranks", "processes"),
                             "channels of 20 ranks\n  from 0-19: self to 1 rank, shm to 19 ranks\n")
        self.assert_says(clump("info", "--frobnicate"), 2, "--frobnicate")
        self.assert_says(clump("info", "--channels", "--frobnicate"), 2, "mpiexec", "--frobnicate")

    def test_explain(self):
        result = clump("explain", tool.program("show"))
        self.assertEqual(result.code, 0)
        self.assertRegex(result.out, "(threads|fibers).* of one process")
        self.assertEqual(result.out.count("\n"), 1)
        if not os.environ.get("CLUMP_SANITIZE"):
            fibers = tool.run("explain", tool.program("show"), tool="clump", env={"CLUMP_SCHEDULER": "fibers"})
            self.assertRegex(fibers.out, r"fibers on up to \d+ workers, a core each, of one process")
        self.assertIn("each rank is a process: 'sh' is not linked to an MPI library", clump("explain", "sh").out)
        self.assertIn("libmpi.so.1", clump("explain", tool.program("foreign")).out)
        if os.path.exists(tool.program("static")):
            self.assertIn("static", clump("explain", tool.program("static")).out)
        self.assert_says(clump("explain", "no-such"), 127, "not found")
        self.assertEqual(clump("explain", "sh", "x.sh", "--help").out, clump("explain", "sh").out)

    def test_which(self):
        shown = clump("which", tool.program("show"))
        self.assertEqual(shown.code, 0)
        self.assertIn(str(tool.TOOLS.parent / "lib" / "libmpi_abi.so.1"), shown.out)
        foreign = clump("which", tool.program("foreign"))
        self.assertEqual(foreign.code, 1)
        self.assertIn("refused", foreign.out)
        self.assertIn("no MPI library", clump("which", "sh").out)

    def test_doctor(self):
        result = clump("doctor")
        for line in (r"memory file \(memfd_create\) +works", r"ranks as fibers \(membarrier\) +works", r"/proc +works", "processors are usable"):
            self.assertRegex(result.out, line)
        self.assertRegex(result.out, "the limits allow a job of|raise it with")
        self.assertEqual(result.code, 1 if "PROBLEM" in result.out or "DOES NOT WORK" in result.out else 0)

    def test_doctor_looks_for_another_library_in_path(self):
        with tempfile.TemporaryDirectory(prefix="with space ") as folder:
            other, links = os.path.join(folder, "other"), os.path.join(folder, "links")
            os.mkdir(other)
            os.mkdir(links)
            for name in ("mpicc", "mpirun"):
                with open(os.path.join(other, name), "w", encoding="utf-8") as file:
                    os.fchmod(file.fileno(), 0o755)
            for name in ("mpicc", "mpicxx", "mpifort", "mpiexec", "mpirun"):
                if (tool.TOOLS / name).exists():
                    os.symlink(tool.TOOLS / name, os.path.join(links, name))

            def said(*folders):
                return tool.run("doctor", tool="clump", env={"PATH": ":".join(map(str, folders))}).out

            theirs = re.escape(os.path.join(other, "mpicc"))
            self.assertRegex(said(other, tool.TOOLS), rf"(?m)^note +PATH has another MPI library first \({theirs}.*export PATH=.*{tool.TOOLS}")
            for ours in ((tool.TOOLS, other), (links, other)):
                self.assertRegex(said(*ours), "(?m)^ok +mpicc, mpiexec and their like in PATH are those of")
            self.assertRegex(said(folder), "(?m)^note +not in PATH: mpicc, ")

    def test_help_and_mistakes(self):
        for command in ([], ["info"], ["tune"], ["explain"], ["which"], ["fortran"], ["doctor"]):
            shown = clump(*command, "--help")
            self.assertEqual(shown.code, 0)
            self.assertIn("--help", shown.out)
        self.assert_says(clump("frobnicate"), 2, "clump: there is no command 'frobnicate'; there are info, explain, which, tune, fortran, lab, doctor")
        self.assert_says(clump("infoo"), 2, "there is no command 'infoo' (did you mean 'info'?)")
        self.assertNotEqual(clump().code, 0)
        self.assertNotEqual(clump("explain").code, 0)


if __name__ == "__main__":
    unittest.main()
