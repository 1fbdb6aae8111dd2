"""A job of MPI ranks in one process: what each rank sees, its output, and that nothing is left behind."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import tool


def is_running(process: str) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends between open and read
        return False


class Job(tool.Case):
    def test_ranks(self):
        for ranks in (1, 2, 16, 64):
            lines = tool.run("-n", ranks, tool.program("show")).out.splitlines()
            self.assertEqual(sorted(int(line.split()[0]) for line in lines), list(range(ranks)))
            self.assertEqual({line.split()[1] for line in lines}, {str(ranks)})

    def test_singleton(self):
        self.assertTrue(tool.run(tool="launcher_show").out.startswith("0 1 |"))

    def test_launcher_leaves_no_trace_in_the_environment(self):
        for line in tool.run("-n", "3", tool.program("show")).out.splitlines():
            self.assertEqual(line.split(" |")[1], "", line)
        for line in tool.run("-n", "2", "-x", "LD_BIND_NOW=1", tool.program("show")).out.splitlines():
            self.assertEqual(line.split(" |")[1], " LD_BIND_NOW=1", line)

    def test_mpmd(self):
        with tempfile.TemporaryDirectory() as folder:
            result = tool.run("-n", "2", "-x", "LAUNCHER_A=one", tool.program("show"), "first", "arg", ":",
                              "-n", "1", "-x", "LAUNCHER_B=two", "-wdir", folder, tool.program("show"), "second")
            here = os.getcwd()
            self.assertEqual(sorted(result.out.splitlines()),
                             [f"0 3 first arg | LAUNCHER_A=one | {here} |", f"1 3 first arg | LAUNCHER_A=one | {here} |",
                              f"2 3 second | LAUNCHER_B=two | {folder} |"])

    def test_mpmd_of_different_programs(self):
        result = tool.run("-n", "1", tool.program("show"), "x", ":", "-n", "1", tool.program("fail"), "return", "1")
        self.assertEqual(result.code, 9, result)
        self.assertEqual(result.out, f"0 2 x | | {os.getcwd()} |\n")

    def test_stdin_goes_to_rank_0(self):
        result = tool.run("-n", "3", tool.program("show"), "input", stdin="for rank 0\n")
        self.assertEqual(result.code, 0, result)
        said = {line.split()[0]: line.rpartition("| ")[2] for line in result.out.splitlines()}
        self.assertEqual(said, {"0": "for rank 0", "1": "nothing", "2": "nothing"})

    def test_lines_are_whole(self):
        result = tool.run("-n", "8", tool.program("lines"))
        lines = result.out.splitlines()
        self.assertEqual(len(lines), 3200)
        for line in lines:
            self.assertRegex(line, r"^<(\d)( \1)*>$|^<\d by write>$")

    def test_tag_output(self):
        result = tool.run("-n", "4", "--tag-output", tool.program("lines"))
        for line in result.out.splitlines():
            self.assertRegex(line, r"^\[(\d)\] <\1")

    def test_explain(self):
        def explain(*options, env=None):
            return tool.run("--explain", *options, "-n", "2", tool.program("show"), env=env)
        first = min(os.sched_getaffinity(0))
        self.assert_says(explain("--scheduler", "threads"), 0, "2 ranks as threads of one process")
        self.assert_says(explain("--scheduler", "threads", "--cores", first), 0, "waiting ranks sleep")
        self.assert_says(explain("--scheduler", "fibers", "--cores", first), 0, "2 ranks as fibers", "1 worker runs them")
        self.assert_says(explain("--scheduler", "fibers", "--cores", f"{first},{first},{first}"), 0, "2 workers run them")
        self.assert_says(explain("--scheduler", "threads", env={"CLUMP_SCHEDULER": "fibers"}), 0, "as threads")
        sanitized = os.environ.get("CLUMP_SANITIZE")
        self.assert_says(explain(env={"CLUMP_SCHEDULER": "fibers"}), 0, "as threads" if sanitized else "as fibers")

    @unittest.skipIf(os.environ.get("CLUMP_SANITIZE"), "what a sanitizer adds is most of a start")
    def test_start_takes_little(self):
        """The kernel counts what mpiexec and all that it starts do; how long that takes, the bench measures."""
        job = subprocess.Popen([str(tool.TOOLS / "mpiexec"), "-n", "64", tool.program("show")], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(job.pid, 0)
        job.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(job.returncode, 0)
        # 1,600 new pages were usual, and 21,000 with a process for each rank.
        self.assertLess(used.ru_minflt, 10_000)
        # 150 naps were usual. A start that waits for each rank in turn, or looks again and again, has many more.
        self.assertLess(used.ru_nvcsw, 1500)


class NothingIsLeft(tool.Case):
    def start(self):
        job = subprocess.Popen([str(tool.TOOLS / "mpiexec"), "-n", "3", tool.program("family")], stdout=subprocess.PIPE, text=True)
        said = dict(job.stdout.readline().split() for _ in range(2))
        for process in said.values():
            self.assertTrue(is_running(process))
        return job, said

    def assert_all_end(self, processes):
        deadline = time.monotonic() + tool.HANGS  # they sleep for longer
        while any(is_running(process) for process in processes):
            self.assertLess(time.monotonic(), deadline, "still running")
            time.sleep(0.02)

    def end(self, number):
        job, said = self.start()
        job.send_signal(number)
        code = job.wait(timeout=tool.HANGS)
        self.assert_all_end(said.values())
        job.stdout.close()
        return code

    def test_after_kill(self):
        self.assertEqual(self.end(signal.SIGKILL), -signal.SIGKILL)

    def test_after_interrupt(self):
        self.assertEqual(self.end(signal.SIGINT), 130)

    def test_after_terminate(self):
        self.assertEqual(self.end(signal.SIGTERM), 143)

    def test_after_the_host_process_is_killed(self):
        job, said = self.start()
        os.kill(int(said["host"]), signal.SIGKILL)
        self.assertEqual(job.wait(timeout=tool.HANGS), 137)
        self.assert_all_end(said.values())
        job.stdout.close()


class Order(tool.Case):
    """The first failure is told, also if another process has failed before the supervisor looks."""

    @staticmethod
    def children(process):
        return [int(word) for word in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]

    def test_of_failures(self):
        with subprocess.Popen([str(tool.TOOLS / "mpiexec"), "--ranks", "processes", "-n", "3", "sh", "-c", "echo up; exec sleep 100"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
            for _ in range(3):
                self.assertEqual(job.stdout.readline(), "up\n")
            [supervisor] = self.children(job.pid)
            ranks = self.children(supervisor)
            os.kill(supervisor, signal.SIGSTOP)
            for rank, number in ((2, signal.SIGUSR1), (0, signal.SIGSEGV), (1, signal.SIGBUS)):
                os.kill(ranks[rank], number)
                deadline = time.monotonic() + tool.HANGS
                while is_running(str(ranks[rank])):
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.001)
            os.kill(supervisor, signal.SIGCONT)
            _, err = tool.end_of(job)
            self.assertEqual(job.returncode, 128 + signal.SIGUSR1)
            self.assertIn("rank 2 of 3", err)


if __name__ == "__main__":
    unittest.main()
