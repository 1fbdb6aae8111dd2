"""mpiexec --seed and --explore: what they promise, and what they refuse."""

import os
import pty
import re
import signal
import subprocess
import tempfile
import time
import unittest

import tool

BEHAVIOUR = tool.BIN / "explore_behaviour"


def behave(mode, *options, ranks=4, **more):
    return tool.run(*options, "-n", ranks, BEHAVIOUR, mode, **more)


class Seeds(tool.Case):
    def test_a_seed_repeats_its_run(self):
        runs = {seed: behave("order", "--seed", seed) for seed in range(1, 31)}
        for seed, first in runs.items():
            self.assertEqual(first.code, 0, first)
            self.assertEqual(behave("order", "--seed", seed).out, first.out)
        # Three messages can come in six orders.
        self.assertEqual(len({run.out.split("after")[0] for run in runs.values()}), 6)

    def test_joined_threads_make_no_difference(self):
        for seed in range(1, 6):
            self.assertEqual(len({behave("join", "--seed", seed).out for _ in range(4)}), 1)

    def test_a_trace_makes_no_difference(self):
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(1, 11):
                self.assertEqual(behave("order", "--seed", seed, "--trace", f"{folder}/trace").out.splitlines()[0],
                                 behave("order", "--seed", seed).out.splitlines()[0])

    def test_sleeping_takes_no_time(self):
        self.assertEqual(behave("hour", "--seed", 3).code, 0)

    def test_many_ranks(self):
        first = behave("order", "--seed", 5, ranks=100)
        self.assertEqual(sorted(map(int, first.out.split(" after")[0].split())), list(range(1, 100)))
        self.assertEqual(behave("order", "--seed", 5, ranks=100).out, first.out)


class Exploring(tool.Case):
    def found(self, mode, code, *options):
        result = behave(mode, "--explore", 200, *options)
        self.assert_says(result, code, f"fails, with exit code {code}", "to repeat that run:\n  mpiexec --seed ")
        return int(re.search(r"seed (\d+) fails", result.err)[1]), result

    def test_exit_code(self):
        seed, result = self.found("last", 7)
        self.assertTrue(result.out.split(" after")[0].endswith("2"), result.out)
        for earlier in range(1, seed):
            self.assertEqual(behave("last", "--seed", earlier).code, 0)

    def test_signal(self):
        seed, _ = self.found("signal", 128 + signal.SIGUSR1)
        self.assertEqual(behave("signal", "--seed", seed).code, 128 + signal.SIGUSR1)

    def test_first_seed(self):
        seed, result = self.found("last", 7, "--seed", 1000)
        self.assertIn(f"({seed - 999} tried)", result.err)

    def test_the_command_is_for_a_shell(self):
        result = tool.run("--explore=200", "-n", 4, BEHAVIOUR, "last", "it's $HOME", "--seed", "3")
        command = result.err.splitlines()[-1].strip()
        self.assertTrue(command.endswith(f" -n 4 {BEHAVIOUR} last 'it'\\''s $HOME' --seed 3"), command)
        again = subprocess.run(command, shell=True, env={**os.environ, "PATH": f"{tool.BIN}:{os.environ['PATH']}"},
                               capture_output=True, text=True, timeout=240)
        self.assertEqual((again.returncode, again.stdout), (7, result.out))

    def test_a_terminal_is_told_how_far_it_is(self):
        here, there = pty.openpty()
        done = subprocess.run([tool.BIN / "mpiexec", "--explore", "100", "-n", "2", BEHAVIOUR, "order"], stderr=there, timeout=240)
        told = os.read(here, 10000).decode()
        self.assertEqual(done.returncode, 0)
        self.assertIn("\rmpiexec: seed 1, 1 of 100", told)
        self.assertIn("100 seeds tried (1 to 100)", told)

    def test_polling_for_ever(self):
        _, result = self.found("poll", 1, "--hang-after", 2)
        self.assertIn("MPI_Iprobe", result.err)
        self.found("poll", 124, "--timeout", 1)

    def test_no_output_but_the_failing_runs(self):
        result = behave("order", "--explore", 10)
        self.assertEqual((result.code, result.out), (0, ""))
        self.assertEqual(result.err, "mpiexec: 10 seeds tried (1 to 10), and no run has failed\n")

    def test_every_run_reads_the_same_file(self):
        with tempfile.NamedTemporaryFile("w+") as file:
            file.write("one\ntwo\n")
            file.flush()
            with open(file.name) as opened:
                done = subprocess.run([tool.BIN / "mpiexec", "--explore", "5", "-n", "2", BEHAVIOUR, "input"], stdin=opened, timeout=240)
        self.assertEqual(done.returncode, 0)

    def test_it_ends_with_mpiexec(self):
        process = subprocess.Popen([tool.BIN / "mpiexec", "--explore", "3", "--timeout", "1000", "-n", "2", BEHAVIOUR, "poll"],
                                   stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + tool.HANGS
        while not (children := self.descendants(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(children)
        process.terminate()
        process.wait(tool.HANGS)
        while any(os.path.exists(f"/proc/{child}") for child in children) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual([child for child in children if os.path.exists(f"/proc/{child}")], [])

    def descendants(self, parent):
        with open(f"/proc/{parent}/task/{parent}/children") as listed:
            children = [int(word) for word in listed.read().split()]
        return children + [one for child in children for one in self.descendants(child)]


class Refused(tool.Case):
    def test_values(self):
        self.assert_says(behave("order", "--seed", "x"), 2, "--seed x: 'x' is not a whole number")
        self.assert_says(behave("order", "--seed", "-1"), 2, "--seed -1: must be at least 0")
        self.assert_says(behave("order", "--explore", "0"), 2, "--explore 0: must be at least 1")

    def test_ranks_that_are_no_fibers(self):
        why = "--seed 7: only ranks that are fibers of one process, on this host, can be ordered by a seed, and "
        for options, told in ((["--scheduler", "threads"], "--scheduler threads"), (["--ranks", "processes"], "--ranks processes"),
                              (["--per-process", "2"], "--per-process"), (["--host", "h0,h1"], "--host"), (["--workers", "2"], "--workers 2")):
            self.assert_says(behave("order", "--seed", 7, *options), 2, why, told)
        self.assert_says(tool.run("--seed", 7, "-n", 2, "/bin/sh", "-c", "true"), 2, why, "processes")

    def test_profiles_of_many_runs(self):
        self.assert_says(behave("order", "--explore", 3, "--profile"), 2, "--explore 3 with --profile")

    def test_threads_that_call_mpi(self):
        self.assert_says(behave("thread", "--seed", 1, ranks=2), 55, "a thread that this rank has made calls MPI", "--seed")


if __name__ == "__main__":
    unittest.main()
