"""Ranks as processes: how they are asked for, what may start them, and that they fail as other ranks do."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import tool

SANITIZED = bool(os.environ.get("CLUMP_SANITIZE"))
SHOW, SHELL_SHOW = tool.program("show"), tool.in_shell("show")
SPAWN = """import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], {**os.environ, "LD_PRELOAD": sys.argv[1]})
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"""


def ranks_of(result):
    return sorted(int(line.split()[0]) for line in result.out.splitlines())


class Asking(tool.Case):
    def explain(self, *options, env=None):
        return tool.run("--explain", *options, "-n", "4", SHOW, env=env)

    def test_explain(self):
        self.assert_says(self.explain("--ranks", "processes"), 0, "4 ranks as processes: as --ranks processes asks")
        self.assert_says(self.explain("--ranks", "threads"), 0, "4 ranks as threads of one process")
        self.assert_says(self.explain("--ranks", "threads", "--per-process", "2"), 0, "4 ranks as threads of 2 processes")
        self.assert_says(self.explain("--per-process", "3"), 0, "of 2 processes")
        self.assert_says(self.explain("--per-process", "1"), 0, "of 4 processes")
        self.assert_says(self.explain("--per-process", "50"), 0, "of one process")
        self.assert_says(self.explain("--ranks", "auto"), 0, "of one process")
        if not SANITIZED:
            self.assert_says(self.explain("--ranks", "fibers"), 0, "4 ranks as fibers of one process")

    def test_environment(self):
        self.assert_says(self.explain(env={"CLUMP_RANKS": "processes"}), 0, "4 ranks as processes")
        self.assert_says(self.explain(env={"CLUMP_PER_PROCESS": "2"}), 0, "of 2 processes")
        self.assert_says(self.explain("--ranks", "threads", env={"CLUMP_RANKS": "processes"}), 0, "4 ranks as threads of one process")
        self.assert_says(self.explain("--per-process", "4", env={"CLUMP_PER_PROCESS": "1"}), 0, "of one process")
        self.assert_says(self.explain(env={"CLUMP_RANKS": "", "CLUMP_PER_PROCESS": ""}), 0, "of one process")

    def test_mistakes(self):
        there_is = "there is 'auto', 'fibers', 'threads' and 'processes'"
        self.assert_says(tool.run("--ranks", "green", SHOW), 2, f"--ranks 'green': {there_is}")
        self.assert_says(tool.run("--ranks"), 2, "--ranks needs a value")
        self.assert_says(tool.run(SHOW, env={"CLUMP_RANKS": "green"}), 2, f"environment variable CLUMP_RANKS 'green': {there_is}")
        for bad in ("0", "-2"):
            self.assert_says(tool.run("--per-process", bad, SHOW), 2, f"--per-process {bad}: must be at least 1")
        self.assert_says(tool.run("--per-process", "few", SHOW), 2, "'few' is not a whole number")
        for bad in ("0", "-2", "few", "2x", "99999999999"):
            self.assert_says(tool.run(SHOW, env={"CLUMP_PER_PROCESS": bad}), 2,
                             f"environment variable CLUMP_PER_PROCESS '{bad}': a number of ranks, at least 1")
        self.assert_says(tool.run("--ranks", "processes", "--per-process", "2", SHOW), 2, "--per-process 2 with --ranks processes")

    @unittest.skipUnless(os.path.exists(tool.program("fixed")), "built without it")
    def test_images_for_what_cannot_have_them(self):
        self.assert_says(tool.run("--ranks", "fibers", "-n", "2", tool.program("fixed")), 126, "cannot share a process", "-pie")
        self.assert_says(tool.run("--ranks", "threads", "-n", "2", "sh", "-c", SHELL_SHOW), 126, "cannot share a process", "not linked to an MPI")
        self.assert_says(tool.run("--explain", "-n", "2", tool.program("fixed")), 0, "2 ranks as processes", "-pie")

    def test_map(self):
        core = min(os.sched_getaffinity(0))
        shown = tool.run("--map", "--ranks", "processes", "--cores", f"{core},{core}", "-n", "3", "true")
        self.assert_says(shown, 0, f"map: 3 ranks as processes, on 2 cores (core: ranks)\n    {core}: 0-1  {core}: 2\n")


class Wrapped(tool.Case):
    """Ranks that another program starts."""

    def test_by_a_shell(self):
        for script in (f"exec {SHELL_SHOW}", SHELL_SHOW, f"true; {SHELL_SHOW}; true", f"( ( {SHELL_SHOW} ) )", f"{SHELL_SHOW} & wait $!"):
            with self.subTest(script=script):
                result = tool.run("-n", "3", "sh", "-c", script)
                self.assertEqual((result.code, result.err, ranks_of(result)), (0, "", [0, 1, 2]))
                self.assertEqual({line.split()[1] for line in result.out.splitlines()}, {"3"})

    def test_by_a_script_file(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "start")
            script.write_text(f"#!/bin/sh\n{SHELL_SHOW} \"$@\"\n")
            script.chmod(0o755)
            result = tool.run("-n", "2", script, "a word")
            self.assertEqual(ranks_of(result), [0, 1])
            self.assertIn(" a word |", result.out)
            self.assert_says(tool.run("--explain", "-n", "2", script), 0, "2 ranks as processes", "is a script, run by /bin/sh")

    def test_no_trace_in_the_environment(self):
        for line in tool.run("-n", "2", "sh", "-c", SHELL_SHOW).out.splitlines():
            self.assertNotIn("CLUMP_", line)
            if not SANITIZED:
                self.assertNotIn("LD_PRELOAD", line)
        if not SANITIZED:
            own = tool.run("-n", "2", "--ranks", "processes", SHOW, env={"LD_PRELOAD": "libm.so.6 libdl.so.2"})
            self.assertEqual(own.out.count("| LD_PRELOAD=libm.so.6:libdl.so.2 |"), 2)

    def test_by_what_sets_LD_PRELOAD(self):
        """The program meets the others all the same, and its LD_PRELOAD is what it was given."""
        if SANITIZED:
            self.skipTest("a sanitizer has to be first in LD_PRELOAD")
        program, own = tool.program("wrapped"), "libm.so.6"
        word = tool.in_shell("wrapped")
        scripts = (f"LD_PRELOAD={own} {word}", f"LD_PRELOAD={own} exec {word}", f"unset LD_PRELOAD; {word}")
        ways = [(own, ["env", f"LD_PRELOAD={own}", program]), ("nothing", ["env", "-u", "LD_PRELOAD", program]),
                (own, ["--ranks", "processes", "env", f"LD_PRELOAD={own}", "sh", "-c", f"{word}; true"]),
                (own, [sys.executable, "-c", SPAWN, own, program]),
                *((own if own in script else "nothing", ["sh", "-c", script]) for script in scripts)]
        if os.path.exists(tool.program("wrapper")):
            ways.append((own, [tool.program("wrapper"), own, program]))
        for preload, words in ways:
            with self.subTest(words=words):
                result = tool.run("-n", "3", *words)
                self.assertEqual((result.code, result.err, sorted(result.out.splitlines())), (0, "", [f"{rank} {preload}" for rank in range(3)]))

    @unittest.skipIf(SANITIZED, "a sanitizer has to be first in LD_PRELOAD")
    def test_tool_by_a_wrapper(self):
        """It comes before the MPI library, as one that mpiexec itself is given."""
        with tempfile.TemporaryDirectory() as folder:
            tools = f"{folder}/tool.so"  # LD_PRELOAD takes no name with a space
            os.symlink(tool.BIN / "liblauncher_tool.so", tools)
            result = tool.run("-n", "2", "env", f"LD_PRELOAD={tools}", tool.program("wrapped"))
        self.assertEqual((result.code, result.err, sorted(result.out.splitlines())), (0, "", [f"0 {tools}", f"1 {tools}", "seen", "seen"]))

    def test_exit_code_of_the_wrapper_counts(self):
        self.assertEqual(tool.run("-n", "2", "sh", "-c", f"{SHELL_SHOW}; exit 0").code, 0)
        self.assert_says(tool.run("-n", "2", "sh", "-c", f"{SHELL_SHOW}; exit 3"), 3, "ended with exit code 3")

    def test_by_what_closes_descriptors(self):
        code = f"import subprocess, sys; sys.exit(subprocess.run(['{SHOW}']).returncode)"
        result = tool.run("-n", "2", sys.executable, "-c", code)
        self.assertNotEqual(result.code, 0)
        self.assert_says(result, result.code, "has closed the descriptors that the rank needs", "pass them on")
        self.assertEqual(result.out, "")
        kept = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], close_fds=False).returncode)"
        self.assertEqual(ranks_of(tool.run("-n", "2", sys.executable, "-c", kept, SHOW)), [0, 1])

    def test_two_programs_of_one_script(self):
        result = tool.run("-n", "2", "sh", "-c", f"{SHELL_SHOW} first && {SHELL_SHOW} second")
        self.assertNotEqual(result.code, 0)
        self.assertRegex(result.err, r"process \d+ (is|was) rank [01] of the job already")
        self.assertNotIn("second", result.out)

    def test_mpmd_with_an_imaged_program(self):
        result = tool.run("-n", "2", SHOW, "image", ":", "-n", "2", "sh", "-c", f"{SHELL_SHOW} script", ":", "-n", "1", SHOW, "last")
        self.assertEqual((result.code, result.err), (0, ""))
        said = sorted(" ".join(line.split()[:3]) for line in result.out.splitlines())
        self.assertEqual(said, ["0 5 image", "1 5 image", "2 5 script", "3 5 script", "4 5 last"])

    def test_stdin_and_tags(self):
        result = tool.run("-n", "3", "--tag-output", "sh", "-c", f"{SHELL_SHOW} input", stdin="for rank 0\n")
        self.assertEqual(sorted(line.split(" | ")[0] + line.rpartition("|")[2] for line in result.out.splitlines()),
                         ["[0] 0 3 input for rank 0", "[1] 1 3 input nothing", "[2] 2 3 input nothing"])

    def test_failure_below_a_shell(self):
        for way, code, texts in (("segv", 139, ["SIGSEGV", "touch_null", "fail.c:"]), ("mpi-abort", 7, ["MPI_Abort", "fail.c:"]),
                                 ("exit", 5, ["before it called MPI_Finalize"])):
            with self.subTest(way=way):
                result = tool.run("-n", "3", "sh", "-c", f"{tool.in_shell('fail')} {way} 1")
                self.assert_says(result, code, "mpiexec: rank 1 of 3 ", *texts)

    @unittest.skipUnless(os.path.exists(tool.program("fixed")), "built without it")
    def test_program_at_a_fixed_address(self):
        result = tool.run("-n", "3", tool.program("fixed"))
        self.assertEqual((result.code, result.err, ranks_of(result)), (0, "", [0, 1, 2]))


class EachARank(tool.Case):
    def run_fail(self, way, rank, ranks=3):
        return tool.run("--ranks", "processes", "-n", ranks, tool.program("fail"), way, rank)

    def test_killed(self):
        result = tool.run("-n", "3", "sh", "-c", f"if [ $CLUMP_PROCESS = 1 ]; then kill -9 $$; fi; {tool.in_shell('fail')} wait 0")
        self.assert_says(result, 137, "mpiexec: rank 1 of 3 was ended by SIGKILL", "killed from outside")

    def test_timeout(self):
        result = tool.run("--ranks", "processes", "--timeout", "4", "-n", "2", tool.program("busy"))
        self.assert_says(result, 124, "not ended within 4 s", "where the ranks were:\n  rank")

    def test_terminated(self):
        job = subprocess.Popen([str(tool.TOOLS / "mpiexec"), "--ranks", "processes", "-n", "2", tool.program("busy")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(job.stdout.readline(), "busy\n")
        job.terminate()
        _, said = job.communicate(timeout=120)
        self.assertEqual(job.returncode, 143)
        self.assertIn("mpiexec: the job was ended by SIGTERM (Terminated); where the ranks were:\n  rank", said)

    def test_terminated_while_it_starts(self):
        for after in range(30):
            job = subprocess.Popen([str(tool.TOOLS / "mpiexec"), "-n", "8", "sleep", "50"])
            time.sleep(after / 1000)
            job.terminate()
            self.assertIn(job.wait(timeout=tool.HANGS), (143, -15))  # by itself, if nothing had been started


if __name__ == "__main__":
    unittest.main()
