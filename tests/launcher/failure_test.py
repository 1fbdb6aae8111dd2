"""A rank fails: the job ends, though its other ranks wait for messages that never come, and the first cause is told, with its stack."""

import os
import unittest

import tool


def fail(way, rank, ranks=4):
    return tool.run("-n", ranks, tool.program("fail"), way, rank)


class Failure(tool.Case):
    def assert_ends_with_the_rank(self, result):
        """No other rank has gone on, and nothing else than the failure, such as a deadlock of the others, has ended the job."""
        self.assertNotIn("noise", result.err)
        self.assertEqual(result.err.count("mpiexec:"), 1, result.err)

    def test_signals(self):
        for way, code, texts in (("segv", 139, ["SIGSEGV", "address 0x0", "touch_null", "fail.c:", "fail at", "main at"]),
                                 ("fpe", 136, ["SIGFPE", "divide", "fail.c:", "main at"]),
                                 ("abort", 134, ["SIGABRT", "#0", "fail at", "fail.c:", "main at"]),
                                 ("call-null", 139, ["SIGSEGV", "0x0", "fail at"]),
                                 ("overflow", 139, ["stack overflow", "ulimit -s", "recurse"])):
            for rank in (0, 2):
                with self.subTest(way=way, rank=rank):
                    result = fail(way, rank)
                    self.assert_says(result, code, f"mpiexec: rank {rank} of 4 ", *texts)
                    self.assert_ends_with_the_rank(result)

    def test_names_of_c_functions(self):
        result = fail("short-name", 0)
        self.assert_says(result, 139, "#0  f at", "fail.c:")

    @unittest.skipIf(os.environ.get("CLUMP_SANITIZE"), "no fibers, and so no monitor")
    def test_threads_of_the_library(self):
        result = tool.run("--ranks", "fibers", "-n", 4, tool.program("fail"), "monitor", 1)
        self.assert_says(result, 139, "mpiexec: the job's process was ended by SIGSEGV", "#0 ", "clump::fiber::monitor::")
        self.assert_ends_with_the_rank(result)

    def test_leaving_early(self):
        for way, code in (("exit", 5), ("exit-zero", 1), ("_exit", 6)):
            for rank in (0, 3):
                with self.subTest(way=way, rank=rank):
                    result = fail(way, rank)
                    self.assert_says(result, code, f"rank {rank} of 4 ended with exit code", "before it called MPI_Finalize: every rank has to", "fail.c:")
                    self.assert_ends_with_the_rank(result)

    def test_abort_of_the_job(self):
        result = fail("mpi-abort", 1)
        self.assert_says(result, 7, "rank 1 of 4 aborted the job with code 7", "MPI_Abort", "fail.c:")
        self.assert_ends_with_the_rank(result)
        result = fail("mpi-abort-0", 1)  # so coarray Fortran's STOP ends a program
        self.assert_says(result, 0, "rank 1 of 4 aborted the job with code 0", "fail.c:")
        self.assert_ends_with_the_rank(result)

    def test_errors_are_fatal(self):
        result = fail("bad-rank", 1)
        self.assertNotEqual(result.code, 0)
        self.assert_says(result, result.code, "rank 1 of 4 aborted the job", "MPI_Send", "1000", "fail.c:")
        self.assert_ends_with_the_rank(result)

    def test_errors_of_the_program_s_own(self):
        """The class is the one to which the program has added the code; a class of its own is MPI_ERR_OTHER to others."""
        self.assert_says(fail("added-code", 1), 6, "aborted the job with code 6", "a word of the program's [MPI_ERR_RANK]")
        self.assert_says(fail("added-class", 1), 16, "aborted the job with code 16", "a word of the program's [MPI_ERR_OTHER]")

    def test_the_initial_error_handler(self):
        def run(handler):
            return tool.run("-n", 4, "-initial-errhandler", handler, tool.program("fail"), "+bad-rank", 1)
        self.assertEqual(run("mpi_errors_return")[:3], (0, "", ""))
        for handler in ("mpi_errors_are_fatal", "mpi_errors_abort"):
            self.assert_says(run(handler), 6, "rank 1 of 4 aborted the job", "MPI_Send", "1000")
        self.assert_says(run("return"), 2, "-initial-errhandler return: that is no error handler; there are mpi_errors_are_fatal, ")

    def test_the_first_frame_is_the_programs(self):
        of_libc = r"(?:  in \w*strlen\w*, called by\n)?"  # where the C library's own symbols are installed
        for way, code, inside in (("segv", 139, ""), ("abort", 134, ""), ("strlen", 139, of_libc), ("send-null", 139, r"  in MPI_Send, called by\n"),
                                  ("mpi-abort", 7, ""), ("bad-rank", 6, ""), ("exit", 5, ""), ("call-null", 139, "")):
            with self.subTest(way=way):
                result = fail(way, 1)
                self.assertEqual(result.code, code)
                self.assertRegex(result.err, rf"^mpiexec: rank 1 of 4 .*\n{inside}  #0  (touch_null|fail) at .*fail\.c:\d+\n")

    def test_return_code(self):
        for rank in (0, 1):
            result = fail("+return", rank)
            self.assert_says(result, 9, f"rank {rank} of 4 ended with exit code 9")
            self.assert_ends_with_the_rank(result)

    def test_without_mpi_init(self):
        self.assertEqual(fail("early", 0).code, 0)
        self.assert_says(fail("early-bad", 0), 3, "ended with exit code 3")

    def test_handlers_of_the_program_are_kept(self):
        result = fail("own-handler", 1)
        self.assertIn("the program's own handler", result.out)
        self.assert_says(result, 21, "rank 1 of 4 ended with exit code 21")
        self.assert_says(fail("default-handler", 1), 139, "rank 1 of 4", "SIGSEGV", "touch_null")

    def test_exceptions(self):
        for what, text in (("standard", "std::runtime_error: the reactor is too hot"), ("own", "Mine"), ("number", "int"),
                           ("thread", "without an exception")):
            for rank in (0, 2):
                with self.subTest(what=what, rank=rank):
                    result = tool.run("-n", 3, tool.program("throw"), rank, what)
                    self.assert_says(result, 134, f"rank {rank} of 3 was ended by an uncaught exception", text, "escape", "throw.cc:")
                    self.assertNotIn("terminate called", result.err)
                    self.assert_ends_with_the_rank(result)

    def test_killed_from_outside(self):
        result = tool.run("-n", 2, "sh", "-c", "kill -KILL $$")
        self.assertEqual(result.code, 137)

    def test_one_rank_without_mpiexec(self):
        result = tool.run("mpi-abort", 0, tool="launcher_fail")
        self.assert_says(result, 7, "rank 0 of 1")


if __name__ == "__main__":
    unittest.main()
