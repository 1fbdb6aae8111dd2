"""What people see: lines as wide as their terminal, colour, what stands in front of lines, and what is said about the number of ranks."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest

import tool

RED = "\x1b[1;31m"
TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} "


def on_terminal(columns: int, *words: object, **env: str) -> str:
    """What a tool shows on a terminal of that width."""
    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    job = subprocess.Popen([str(word) for word in words], stdin=its, stdout=its, stderr=its, env={**environment, "TERM": "xterm", **env})
    os.close(its)
    shown = b""
    try:
        while more := os.read(mine, 65536):
            shown += more
    except OSError:  # all have closed the other end
        pass
    os.close(mine)
    job.wait(tool.HANGS)
    return shown.decode().replace("\r\n", "\n")


def widest(text: str) -> int:
    """But for lines of one word, and those with a word that is too long for any."""
    lines = re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()
    return max((len(line) for line in lines if " " in line.strip() and not re.search(r"/\S{24}", line)), default=0)


class Widths(tool.Case):
    def test_help_fits(self):
        for columns in (60, 80, 200):
            for words in (("mpiexec", "--help"), ("clump", "--help"), ("clump", "doctor", "--help")):
                with self.subTest(columns=columns, words=words):
                    shown = on_terminal(columns, tool.TOOLS / words[0], *words[1:])
                    self.assertLessEqual(widest(shown), columns)
                    self.assertGreater(widest(shown), columns - 25 if columns < 200 else 100)

    def test_what_is_told_fits(self):
        program = tool.program("sums")
        told = [("mpiexec", "--explain", "-n", 2, program), ("mpiexec", "--check", "-n", 2, tool.program("check"), "bcast_root"), ("clump", "explain", program),
                ("clump", "which", program), ("clump", "doctor"), ("clump", "info"), ("clump", "info", "--coll"), ("clump", "info", "--cvars")]
        for words in told:
            with self.subTest(words=words):
                shown = {columns: on_terminal(columns, tool.TOOLS / words[0], *words[1:]) for columns in (60, 80, 200)}
                for columns, text in shown.items():
                    self.assertLessEqual(widest(text), columns, text)
                self.assertEqual(*(re.sub(r"\d+", "", shown[columns]).split() for columns in (60, 80)))
                self.assertGreater(shown[60].count("\n"), shown[200].count("\n"))

    @unittest.skipIf(os.environ.get("CLUMP_SANITIZE"), "--explore needs fibers, which a sanitizer does not know")
    def test_a_command_to_copy_stays_one_line(self):
        shown = on_terminal(40, tool.TOOLS / "mpiexec", "--explore", 1, "-n", 2, tool.program("fail"), "exit", 1)
        self.assertRegex(shown, r"(?m)^  mpiexec --seed \d+ -n 2 \S*launcher_fail exit 1$")

    def test_help_in_a_pipe_has_80_columns_or_what_is_said(self):
        self.assertLessEqual(widest(tool.run("--help", env={"COLUMNS": ""}).out), 80)
        self.assertLessEqual(widest(tool.run("--help", env={"COLUMNS": "50"}).out), 50)
        words = tool.run("--help").out.split()
        for columns in (1, 20, 32, 33, 40):
            self.assertEqual(tool.run("--help", env={"COLUMNS": str(columns)}).out.split(), words, columns)

    def test_reports_fit(self):
        for columns in (60, 80):
            shown = on_terminal(columns, tool.TOOLS / "mpiexec", "-n", 2, tool.program("wait"), "cycle")
            self.assertIn("deadlock", shown)
            self.assertLessEqual(widest(shown), columns, shown)

    def test_reports_in_a_pipe_are_not_broken(self):
        self.assertGreater(widest(tool.run("-n", 2, tool.program("wait"), "cycle", env={"COLUMNS": "40"}).err), 60)

    def test_profiles_fit(self):
        for columns, column in ((60, "time"), (80, "waiting"), (200, "no core")):
            with tempfile.TemporaryDirectory() as folder:
                shown = on_terminal(columns, tool.TOOLS / "mpiexec", "-n", 2, f"--profile={folder}/x", tool.program("sums"))
            table = shown[shown.index("profile of"):shown.index("  written:")]
            self.assertLessEqual(widest(table), columns, table)
            self.assertRegex(table, rf"calls, of all ranks .*\b{column}\b")
        self.assertNotRegex(table, r"calls, of all ranks.*\n.{102}")


class Colors(tool.Case):
    JOB = (tool.TOOLS / "mpiexec", "-n", 2)

    def test_the_first_line_of_a_failure_stands_out(self):
        for words in ((tool.program("fail"), "exit", 1), (tool.program("wait"), "cycle")):
            shown = on_terminal(200, *self.JOB, *words)
            self.assertTrue(shown.startswith(RED + "mpiexec: "), shown)
            self.assertEqual(shown.count("\x1b"), 2)
            self.assertTrue(shown.splitlines()[0].endswith("\x1b[0m"), shown)

    def test_where_there_is_none(self):
        failing = (tool.program("fail"), "exit", 1)
        self.assertNotIn("\x1b", on_terminal(200, *self.JOB, *failing, NO_COLOR="1"))
        self.assertNotIn("\x1b", on_terminal(200, *self.JOB, *failing, TERM="dumb"))
        self.assertNotIn("\x1b", on_terminal(200, *self.JOB, "--color=never", *failing))
        self.assertNotIn("\x1b", tool.run("-n", 2, *failing).err)
        self.assertIn(RED, tool.run("-n", 2, "--color", "always", *failing).err)
        self.assertIn(RED, on_terminal(200, *self.JOB, "--color", "always", *failing, NO_COLOR="1"))
        self.assert_says(tool.run("--color", "sometimes", "true"), 2, "there is no 'sometimes'; there are auto, always, never")

    def test_control_bytes_of_others_stay_visible(self):
        self.assertIn("\\x1b[31m", on_terminal(200, *self.JOB, "/no/\x1b[31mprogram"))


class Prefixes(tool.Case):
    def lines(self, *options: object) -> list:
        result = tool.run(*options, "-n", 2, "echo", "a")
        self.assertEqual((result.code, result.err), (0, ""), result)
        return sorted(result.out.splitlines())

    def of_ranks(self, *options: object) -> list:
        """Of ranks in one process, which write by themselves."""
        result = tool.run(*options, "-n", 2, tool.program("output"))
        self.assertEqual(result.code, 0, result)
        return [line for line in result.out.splitlines() if line.endswith("begin")]

    def test_patterns(self):
        host = os.uname().nodename
        self.assertEqual(self.lines("-prepend-pattern", "%r of %h, 100%%: "), [f"{rank} of {host}, 100%: a" for rank in range(2)])
        self.assertEqual(sorted(self.of_ranks("-prepend-pattern", "%r@%h ")), [f"{rank}@{host} begin" for rank in range(2)])
        self.assert_says(tool.run("-prepend-pattern", "%p", "true"), 2, "-prepend-pattern %p: '%p' has no meaning; there are %r")
        self.assert_says(tool.run("--collapse", "-prepend-pattern", "%h", "true"), 2, "--collapse: shows ranks as")

    def test_times(self):
        for options in (["--timestamp-output"], ["--output", "timestamp"]):
            for line in self.lines(*options) + [line[:-4] for line in self.of_ranks(*options)]:
                self.assertRegex(line, f"^{TIME}[ab]$")
        for options in (["--timestamp-output", "-l"], ["--output", "tag,timestamp"], ["-l", "--timestamp-output", "--timestamp-output"]):
            for rank, line in enumerate(sorted(self.lines(*options), key=lambda line: line[24:])):
                self.assertRegex(line, rf"^{TIME}\[{rank}\] a$")


class Numbers(tool.Case):
    def test_ranks_without_n(self):
        one = tool.run("echo", "x")
        self.assertEqual((one.code, one.out, one.err), (0, "x\n", "mpiexec: one rank: -n says how many\n"))
        self.assertEqual(tool.run("-q", "echo", "x").err, "")
        self.assertEqual(tool.run("true", ":", "true").err, "mpiexec: one rank a program: -n says how many\n")
        slots = tool.run("--host", "localhost:3", "echo", "x")
        self.assertEqual((slots.code, slots.out, slots.err), (0, "x\n" * 3, ""))

    def test_one_word_for_a_variable(self):
        result = tool.run("-n", 1, "-genv", "A=1=2", "-env", "B=", "sh", "-c", "echo $A,$B")
        self.assertEqual((result.code, result.out), (0, "1=2,\n"))
        self.assert_says(tool.run("-genv", "=1", "true"), 2, "not a name for a variable")

    def test_universe_of_the_system(self):
        result = tool.run("-n", 1, "-usize", "SYSTEM", "--cores", "0,0,0", "true")
        self.assertEqual(result.code, 0, result)
        self.assert_says(tool.run("-usize", "INFINITE", "true"), 2, "there is no 'INFINITE'; there are N (a number), SYSTEM")

    def test_exit_codes(self):
        self.assert_says(tool.run("-n", 3, "-print-all-exitcodes", "true"), 0, "mpiexec: exit codes: 0-2: 0")
        self.assert_says(tool.run("-n", 2, "-print-all-exitcodes", "sh", "-c", "exit 7"), 7, "exit codes: 7 (of the first rank that failed")
        self.assert_says(tool.run("-n", 2, "-print-all-exitcodes", tool.program("fail"), "mpi-abort-0", 1), 0, "exit codes: 0 (of the first rank that failed")


if __name__ == "__main__":
    unittest.main()
