"""All ranks wait for each other: the job ends at once and says where each of them waits; a sleeper is no deadlock."""

import unittest

import tool


def wait(how, ranks=4):
    return tool.run("-n", ranks, tool.program("wait"), how)


class Deadlock(tool.Case):
    def test_it_is_told(self):
        for how, texts in (("cycle", ["in MPI_Recv: ranks 0,1,2,3", "wait.c:"]),
                           ("unreceived", ["in MPI_Finalize: ranks 1,2,3", "in MPI_Ssend: rank 0"]),
                           ("missing", ["in MPI_Allreduce: ranks 1,2,3", "in MPI_Recv: rank 0"]),
                           ("in-flight", ["in MPI_Recv: rank 0", "in MPI_Wait: ranks 1,2,3"]),
                           ("errand", ["in MPI_Recv: rank 0", "in MPI_Wait: ranks 1,2,3"]),
                           ("probe", ["in MPI_Probe: rank 1"]),
                           ("ended", ["in MPI_Recv: rank 0"]),
                           ("threads", ["in MPI_Recv: ranks 0,1,2,3"])):
            for attempt in range(5):
                with self.subTest(how=how, attempt=attempt):
                    result = wait(how)
                    self.assert_says(result, 1, "deadlock", *texts)
                    self.assertLess(result.seconds, 2)

    def test_one_rank_that_waits_for_itself(self):
        self.assert_says(wait("cycle", 1), 1, "deadlock", "in MPI_Recv: rank 0")

    def test_no_false_alarm(self):
        for how in ("sleeper", "sleeping-thread"):
            with self.subTest(how=how):
                result = wait(how)
                self.assertEqual((result.code, result.err), (0, ""))


if __name__ == "__main__":
    unittest.main()
