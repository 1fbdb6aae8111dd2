"""mpmd_test.py MPIEXEC PLUGIN C CXX THREAD_LOCAL: ranks of different programs share a process, in any order."""

import subprocess
import sys
import unittest

MPIEXEC, PLUGIN, C, CXX, THREAD_LOCAL = sys.argv[1:]
LANGUAGE = {C: "C", CXX: "C++", THREAD_LOCAL: "C++"}
COUNTER = {C: 100, CXX: 1000, THREAD_LOCAL: 1000}


def run(*parts):
    """Runs a job of (program, ranks) parts."""
    words = [MPIEXEC, "--tag-output"]
    for number, (program, ranks) in enumerate(parts):
        words += [":"] * (number > 0) + ["-n", str(ranks), "-env", "PART", f"part{number}", program, PLUGIN, f"argument{number}"]
    return subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)


class Mpmd(unittest.TestCase):
    def check(self, *parts):
        done = run(*parts)
        self.assertEqual(done.returncode, 0, done)
        programs = [(number, program) for number, (program, ranks) in enumerate(parts) for _ in range(ranks)]
        total = sum(COUNTER[program] + rank for rank, (_, program) in enumerate(programs))
        for rank, (number, program) in enumerate(programs):
            tag = f"[{rank}] "
            expected = [f"{total} argument{number} part{number} own {LANGUAGE[program]} found"]
            if program != C:
                expected += ["constructed caught"]
                expected += ["7 own text, 7 own text"] * (program == THREAD_LOCAL)
                expected += [f"destructed {rank}"]
            self.assertEqual([line[len(tag):] for line in done.stdout.splitlines() if line.startswith(tag)], expected, done)

    def test_two_programs(self):
        self.check((C, 2), (CXX, 3))
        self.check((CXX, 2), (C, 3))

    def test_the_same_program_twice(self):
        self.check((C, 1), (CXX, 2), (C, 2), (CXX, 1))

    def test_thread_local_variables(self):
        self.check((THREAD_LOCAL, 2), (CXX, 2), (C, 2))
        self.check((THREAD_LOCAL, 1), (C, 2), (THREAD_LOCAL, 2))

    def test_thread_local_variables_without_room(self):
        done = run((C, 1), (THREAD_LOCAL, 1))
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("name the program with the most thread-local variables first", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
