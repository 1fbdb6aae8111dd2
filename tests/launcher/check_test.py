"""mpiexec --check: ranks that disagree about a collective operation are named, with their calls and where these are."""

import pathlib
import re
import unittest

import tool

RANKS = 4
MODES = {
    "fibers": ["--ranks", "fibers"],
    "threads": ["--ranks", "threads"],
    "processes": ["--ranks", "processes"],
    "mixed": ["--per-process", 2],
}
if tool.os.environ.get("CLUMP_SANITIZE"):
    del MODES["fibers"], MODES["mixed"]

SOURCE = pathlib.Path(__file__).with_name("check.c").read_text().splitlines()
PLACES = {(mark, case): number for number, line in enumerate(SOURCE, 1) for mark, case in re.findall(r"/\* (\d): (\w+) \*/", line)}

# By case: the class of the error, and what the report says, in this order; "@0" is where check.c says "0: case".
BROKEN = {
    "bcast_root": ("ROOT", "rank 0 and rank 1 name different roots", "rank 0: MPI_Bcast(4 x MPI_INT", "root 0) at", "@0",
                   "rank 1: MPI_Bcast(4 x MPI_INT", "root 1) at", "@1", "all ranks have to name the same root"),
    "bcast_amount": ("TRUNCATE", "rank 0 and rank 2", "amount", "rank 0: MPI_Bcast(4 x MPI_INT to rank 2, root 0)", "@0",
                     "rank 2: MPI_Bcast(5 x MPI_INT from rank 0, root 0)", "@0"),
    "bcast_type": ("TYPE", "rank 0 and rank 3", "types", "4 x MPI_INT to rank 3", "4 x MPI_FLOAT from rank 0"),
    "bcast_bytes": ("TYPE", "rank 0 and rank 1", "4 x MPI_INT to rank 1", "16 x MPI_BYTE from rank 0", "MPI_BYTE is one of them"),
    "other_call": ("OTHER", "rank 0 and rank 1 call different functions", "rank 0: MPI_Bcast(4 x MPI_INT", "@0",
                   "rank 1: MPI_Barrier()", "@1", "in the same order"),
    "one_waits": ("OTHER", "rank 0 and rank 3 call different functions", "MPI_Bcast(", "@0", "MPI_Ibcast(", "@1"),
    "reduce_op": ("OP", "rank 0 and rank 2", "MPI_Reduce(4 x MPI_INT, MPI_SUM, root 0)", "MPI_Reduce(4 x MPI_INT, MPI_MAX, root 0)"),
    "reduce_root": ("ROOT", "rank 0 and rank 1", "root 2", "root 3"),
    "allreduce_amount": ("TRUNCATE", "rank 0 and rank 3", "MPI_Allreduce(4 x MPI_INT, MPI_SUM)", "MPI_Allreduce(3 x MPI_INT, MPI_SUM)"),
    "allreduce_type": ("TYPE", "rank 0 and rank 1", "4 x MPI_INT,", "4 x MPI_FLOAT,"),
    "own_op": ("OP", "rank 0 and rank 1", "commutative operation of the program's", "not commutative"),
    "own_op_or_not": ("OP", "rank 0 and rank 2", "MPI_SUM", "commutative operation of the program's"),
    "allreduce_in_place": ("BUFFER", "rank 0 and rank 1 do not both work in place", "MPI_IN_PLACE, MPI_SUM", "rank 1"),
    "gather_amount": ("TRUNCATE", "rank 0 and rank 2", "1 x MPI_INT from rank 2, root 0", "2 x MPI_INT to rank 0, root 0"),
    "gatherv_block": ("TRUNCATE", "rank 1 and rank 3", "3 x MPI_INT from rank 3", "1 x MPI_INT to rank 1"),
    "scatter_type": ("TYPE", "rank 0 and rank 3", "1 x MPI_DOUBLE from rank 3", "2 x MPI_INT to rank 0"),
    "scatterv_block": ("TRUNCATE", "rank 0 and rank 1", "nothing to rank 1", "1 x MPI_INT from rank 0"),
    "allgather_own": ("TRUNCATE", "rank 0 gives itself other data than it takes", "2 x MPI_INT to rank 0, 1 x MPI_INT from rank 0"),
    "allgatherv_block": ("TRUNCATE", "rank 1 and rank 3", "1 x MPI_INT to rank 3", "2 x MPI_INT from rank 1"),
    "alltoall_amount": ("TRUNCATE", "rank 0 and rank 1", "1 x MPI_INT to rank 1", "2 x MPI_INT to rank 0"),
    "alltoallv_block": ("TRUNCATE", "rank 2 and rank 3", "1 x MPI_INT from rank 3", "4 x MPI_INT to rank 2"),
    "alltoallw_type": ("TYPE", "rank 0 and rank 2", "1 x MPI_FLOAT to rank 2", "1 x MPI_INT from rank 0"),
    "reduce_scatter_counts": ("COUNT", "rank 0 and rank 2 divide the result differently", "same recvcounts"),
    "scan_or_exscan": ("OTHER", "rank 0 and rank 1", "MPI_Scan(", "MPI_Exscan("),
    "one_leaves": ("OTHER", "rank 0 and rank 2", "rank 0: MPI_Barrier()", "@0", "rank 2: MPI_Finalize()", "@1"),
    "dup_or_split": ("OTHER", "rank 0 and rank 1", "MPI_Comm_dup()", "@0", "MPI_Comm_split()", "@1"),
    "ibcast_root": ("IN_STATUS", "array_of_requests[1]: rank 0 and rank 3 name different roots", "MPI_Ibcast(", "@0"),
    "persistent_op": ("OP", "MPI_Wait: rank 0 and rank 1", "MPI_Allreduce_init(1 x MPI_INT, MPI_MAX)", "@0", "MPI_MIN"),
    "neighbours": ("OTHER", "rank 0 and rank 2", "MPI_Neighbor_allgather(", "MPI_Neighbor_alltoall("),
    "inter_root": ("ROOT", "remote rank", "name different roots"),
    "inter_amount": ("TRUNCATE", "remote rank", "amount"),
    "turned": ("TRUNCATE", "rank 0 (rank 3 of MPI_COMM_WORLD) and rank 3 (rank 0 of MPI_COMM_WORLD)", "1 x MPI_INT to rank 3",
               "2 x MPI_INT from rank 0"),
}
RIGHT = ["derived", "packed", "zero_counts", "in_place", "uneven", "nonblocking", "late", "persistent", "intercommunicators",
         "many_communicators", "threads", "topologies", "own_ops", "large_counts"]


def check(case, *options, **more):
    return tool.run(*options, "-n", RANKS, tool.program("check"), case, **more)


class Check(tool.Case):
    def in_all_modes(self, cases, look):
        for mode, options in MODES.items():
            for case in cases:
                with self.subTest(mode=mode, case=case):
                    look(case, check(case, "--check", *options))

    def test_broken(self):
        def look(case, result):
            error, *texts = BROKEN[case]
            places = {f"@{mark}": f"check.c:{number}\n" for (mark, of), number in PLACES.items() if of == case}
            self.assertNotEqual(result.code, 0, result)
            self.assert_says(result, result.code, *(places.get(text, text) for text in texts), f"[MPI_ERR_{error}]")

        self.in_all_modes(BROKEN, look)

    def test_right(self):
        self.in_all_modes(RIGHT, lambda case, result: self.assertEqual((result.code, result.out, result.err), (0, "", ""), result))

    def test_handlers_of_the_program(self):
        def look(case, result):
            self.assertEqual((result.code, result.err), (0, ""), result)
            if case == "handled":
                self.assertEqual(result.out.splitlines(), ["handler 1 1"] * RANKS)
            else:
                place = f"check.c:{PLACES['0', case]}"
                for words in ("MPI_Bcast: rank 0 and rank 3 name different roots", "  rank 0: MPI_Bcast(", "  rank 3: MPI_Bcast("):
                    self.assertEqual(result.out.count(words), RANKS, result)
                self.assertEqual(result.out.count(place), 2 * RANKS, result)
                self.assertNotIn("class", result.out)

        self.in_all_modes(["returned", "handled"], look)

    def test_environment(self):
        self.assert_says(check("reduce_op", env={"CLUMP_CHECK": "on"}), 10, "rank 0 and rank 2")
        self.assertEqual(check("large_counts", env={"CLUMP_CHECK": "off"}).code, 0)
        self.assert_says(check("large_counts", env={"CLUMP_CHECK": "yes"}), 13, "CLUMP_CHECK", "off, on")

    def test_how_much(self):
        for words, code, texts in (
            (["--check=on"], 0, []),
            (["--check=error"], 0, []),
            (["--check=all"], 2, ["--check all: not how much is checked; there is off, on, error"]),
        ):
            result = tool.run(*words, "-n", 2, tool.program("sums"))
            self.assertEqual(result.code, code, result)
            for text in texts:
                self.assertIn(text, result.err)

    def test_one_rank(self):
        self.assertEqual(tool.run("--check", "-n", 1, tool.program("sums")).code, 0)


if __name__ == "__main__":
    unittest.main()
