"""Ranks as fibers fail as ranks do: also where many share a worker, and where a guest or a spare runs them."""

import os
import unittest

import tool

SANITIZED = bool(os.environ.get("CLUMP_SANITIZE"))


def run(program, *words, ranks=16, workers=1):
    return tool.run("--scheduler", "fibers", "-n", ranks, "--workers", workers, tool.program(program), *words)


@unittest.skipIf(SANITIZED, "sanitizers know no fibers")
class Fibers(tool.Case):
    def test_failures_name_the_rank(self):
        for way, code, texts in (("segv", 139, ["SIGSEGV", "touch_null"]), ("overflow", 139, ["stack overflow", "recurse"]),
                                 ("fpe", 136, ["SIGFPE", "divide"]), ("abort", 134, ["SIGABRT"]), ("exit", 5, ["exit code 5"]),
                                 ("_exit", 6, ["exit code 6"]), ("mpi-abort", 7, ["code 7"])):
            for workers in (1, 2, 5):
                for rank in (0, 7, 15):
                    with self.subTest(way=way, workers=workers, rank=rank):
                        result = run("fail", way, rank, workers=workers)
                        self.assert_says(result, code, f"mpiexec: rank {rank} of 16 ", *texts)
                        self.assertEqual(result.err.count("mpiexec:"), 1, result.err)

    def test_a_rank_that_returns_too_early(self):
        self.assert_says(run("fail", "+return", 9), 9, "rank 9 of 16 ended with exit code 9")

    def test_deadlocks(self):
        for how in ("cycle", "unreceived", "missing", "in-flight", "callback", "probe", "ended", "threads"):
            for ranks, workers in ((1, 1), (4, 2), (64, 1), (64, 7)):
                if ranks == 1 and how != "cycle":
                    continue
                with self.subTest(how=how, ranks=ranks, workers=workers):
                    result = run("wait", how, ranks=ranks, workers=workers)
                    self.assert_says(result, 1, "deadlock", "ranks" if ranks > 1 and how not in ("probe", "ended") else "rank")

    def test_sleepers_are_no_deadlock(self):
        for how in ("sleeper", "sleeping-thread"):
            result = run("wait", how, ranks=32)
            self.assertEqual((result.code, result.err), (0, ""))

    def test_working_directories_are_private(self):
        for _ in range(10):
            result = tool.run("--scheduler", "fibers", "--workers", "1", "-n", "4", tool.program("show"), "here", ":",
                              "-n", "4", "-wdir", "/", tool.program("show"), "there")
            for line in result.out.splitlines():
                self.assertIn(f" {os.getcwd()} |" if " here " in line else " / |", line)


@unittest.skipIf(SANITIZED, "too many for its shadow memory")
class ManyRanks(tool.Case):
    def test_four_thousand_start_or_it_says_why(self):
        result = tool.run("--scheduler", "fibers", "-n", "4000", tool.program("show"))
        if result.code == 0:
            self.assertEqual(sorted(int(line.split()[0]) for line in result.out.splitlines()), list(range(4000)))
        else:
            self.assert_says(result, 126, "4000 ranks are more than this system allows", "at least", "raise it with:")


if __name__ == "__main__":
    unittest.main()
