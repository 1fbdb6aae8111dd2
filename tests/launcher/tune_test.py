"""clump tune measures rules for collectives, and mpiexec has all ranks go by those of a file."""

import collections
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import tool

# A sanitizer's program takes too long for a few seconds to say anything, and may know no fibers.
SANITIZED = bool(os.environ.get("CLUMP_SANITIZE"))
HERE = "threads" if SANITIZED else "fibers"


def environment(folder, **more):
    """With nobody's own rules."""
    return {"XDG_CONFIG_HOME": folder, "CLUMP_COLL_RULES": "", "CLUMP_COLL_TABLE": "", **more}


def lines_of(path):
    return [line for line in pathlib.Path(path).read_text().splitlines() if line and line[0] != "#"]


class WithFolder(tool.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, text, name="rules"):
        path = pathlib.Path(self.folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def mpiexec(self, *words, **more):
        return tool.run(*words, env=environment(self.folder, **more))

    def clump(self, *words, **more):
        return tool.run(*words, tool="clump", env=environment(self.folder, **more))

    def chosen(self, *options, size=8, ranks=2, **more):
        """The algorithms of a blocking and of a non-blocking allreduce, the same on all ranks."""
        result = self.mpiexec("-n", ranks, *options, tool.program("chosen"), size, **more)
        self.assertEqual((result.code, result.err), (0, ""))
        lines = collections.Counter(result.out.splitlines())
        self.assertEqual(set(lines.values()), {ranks}, result.out)
        used = {form: {line.split()[2] for line in lines if line.split()[1] == form} for form in ("blocking", "nonblocking")}
        # One that is made of others counts them, too.
        return tuple("reduce_and_broadcast" if "reduce_and_broadcast" in names else names.pop() for names in used.values())


class Rules(WithFolder):
    def test_a_file_changes_the_algorithm(self):
        shipped = self.chosen("--ranks", HERE)
        self.assertEqual(shipped, ("shm_small", "recursive_doubling"))
        path = self.write("allreduce shm all in one process, below 1 KiB, the operation is predefined\n"
                          "allreduce recursive doubling on one node, from 3 ranks\n")
        by_file = ("--coll-rules", path)
        self.assertEqual(self.chosen("--ranks", HERE, *by_file), ("shm_all", "recursive_doubling"))
        self.assertEqual(self.chosen("--ranks", HERE, *by_file, size=1024), self.chosen("--ranks", HERE, size=1024))
        self.assertEqual(self.chosen("--ranks", HERE, CLUMP_COLL_RULES=path)[0], "shm_all")
        self.assertEqual(self.chosen("--ranks", HERE, "--coll-rules", "none", CLUMP_COLL_RULES=path), shipped)
        self.assertEqual(self.chosen("--ranks", HERE, CLUMP_COLL_TABLE="allreduce ring in one process, the operation commutes"), shipped)
        if os.environ.get("CLUMP_SANITIZE") in ("", None, "address"):
            self.assertEqual(self.chosen("--ranks", "processes", *by_file)[0], "node_shm")
            self.assertEqual(self.chosen("--ranks", "processes", *by_file, ranks=3)[0], "recursive_doubling")
            self.assertEqual(self.chosen("--per-process", "2", "--ranks", HERE, *by_file, ranks=4)[0], "recursive_doubling")

    def test_the_usual_file_is_found(self):
        path = self.write("# cores: 1000\nallreduce ring the operation commutes\n", "clump/collectives")
        self.assertEqual(self.chosen(), ("ring", "ring"))
        self.assertNotEqual(self.chosen("--coll-rules", "none")[0], "ring")
        self.assertEqual(self.chosen(XDG_CONFIG_HOME="", HOME=self.folder)[0], "shm_small")
        explained = self.mpiexec("--explain", "-n", 1, "true").err
        self.assertRegex(explained, rf"(?m)^mpiexec: collectives choose by the rules of {re.escape(path)}, which are for 1000 cores: here are \d+")
        self.assertEqual(self.mpiexec("-n", 1, "true").err, "")
        self.assertIn(f"1 rules of {path}", self.clump("info", "--coll").out)
        self.assertIn("shipped", self.clump("info", "--coll", CLUMP_COLL_RULES="none").out)
        self.assertRegex(self.clump("info", "--coll").out, r"(?m)^allreduce +ring +the operation commutes\n +shm nonblocking")
        self.assertRegex(self.clump("info", "--coll", "--shape", "8").out, r"(?m)^allreduce +ring +\nga")

    def test_what_is_chosen_otherwise_stands_above(self):
        path = self.write("allreduce ring the operation commutes\n")
        self.assertEqual(self.chosen("--coll-rules", path, "--coll", "allreduce=reduce-and-broadcast")[1], "reduce_and_broadcast")
        wish = self.mpiexec("--coll-rules", path, "-n", 2, tool.program("chosen"), "64:recursive_doubling")
        self.assertEqual({line.split()[2] for line in wish.out.splitlines()}, {"recursive_doubling"})

    def test_ranks_that_mpiexec_has_not_started(self):
        alone = [tool.program("chosen"), "64"]
        wrong = subprocess.run(alone, capture_output=True, text=True, timeout=60, env={**os.environ, "CLUMP_COLL_TABLE": "allreduce rings"})
        self.assertNotEqual(wrong.returncode, 0)
        self.assertIn("CLUMP_COLL_TABLE:1: allreduce has no algorithm 'rings': there is recursive doubling, ring", wrong.stderr)
        good = subprocess.run(alone, capture_output=True, text=True, timeout=60, env={**os.environ, "CLUMP_COLL_TABLE": "allreduce two-stage;"})
        self.assertEqual((good.returncode, good.stderr), (0, ""))

    def test_bad_files(self):
        for text, says in (("allreduce rings", ":1: allreduce has no algorithm 'rings': there is"),
                           ("# fine\n\nallreduced ring", ":3: 'allreduced' is no collective operation: there is barrier"),
                           ("broadcast shm bcast ring, below 1 KiB", "needs 'below 481 bytes' or less"),
                           ("gather direct, on Tuesdays", "'on Tuesdays' is no condition: there is 'in one process'")):
            path = self.write(text, "clump/collectives")
            self.assert_says(self.mpiexec("-n", 1, "true"), 2, path, says, "--coll-rules none")
            self.assert_says(self.clump("info", "--coll"), 2, path, says)
            self.assertEqual(self.mpiexec("--coll-rules", "none", "-n", 1, "true").code, 0)
        self.assert_says(self.mpiexec("--coll-rules", "/no/such", "true"), 2, "--coll-rules /no/such: No such file")
        self.assert_says(self.mpiexec("true", CLUMP_COLL_RULES="/no/such"), 2, "CLUMP_COLL_RULES /no/such: No such file")
        self.assert_says(self.mpiexec("--coll-rules", self.folder, "true"), 2, "Is a directory")


class Tune(WithFolder):
    def test_dry_run(self):
        shown = self.clump("tune", "--dry-run", "--ranks", "5", "--modes", "processes")
        self.assertEqual((shown.code, shown.err), (0, ""))
        self.assertIn("5 ranks on one node: ", shown.out)
        self.assertNotIn("in one process", shown.out)
        self.assertIn(f"would be written to {self.folder}/clump/collectives.", shown.out)
        self.assertEqual(os.listdir(self.folder), [])

    def test_mistakes(self):
        self.assert_says(self.clump("tune", "--modes", "threads"), 2, "threads")
        self.assert_says(self.clump("tune", "--ranks", "1"), 2, "--ranks: numbers from 2")
        self.assert_says(self.clump("tune", "--ranks", "many"), 2, "many")
        self.assert_says(self.clump("tune", "--seconds", "0"), 2, "--seconds")
        self.assert_says(self.clump("tune", "--dry-run", XDG_CONFIG_HOME="", HOME=""), 2, "--output FILE")

    @unittest.skipIf(SANITIZED, "its times say nothing")
    def test_what_it_writes_is_used(self):
        tuned = self.clump("tune", "--seconds", "3")
        self.assertEqual((tuned.code, tuned.err), (0, ""))
        path = f"{self.folder}/clump/collectives"
        self.assertEqual(os.listdir(f"{self.folder}/clump"), ["collectives"])
        text = pathlib.Path(path).read_text()
        self.assertRegex(text, r"(?m)^# cores: \d+\n# date: .*\n# version: Clump \d")
        self.assertIn(f"{len(lines_of(path))} rules are in {path}: mpiexec uses them", tuned.out)
        # As what is printed, so what is written.
        printed = [re.sub(" +", " ", line).strip() for line in self.clump("info", "--coll").out.splitlines()]
        for line in lines_of(path):
            condition = re.sub(" +", " ", line[16:])
            self.assertTrue(any(one.endswith(condition) for one in printed), line)
        self.assertEqual(self.chosen("--ranks", "fibers")[1], "recursive_doubling")
        again = self.mpiexec("--explain", "-n", 2, tool.program("chosen"), 64)
        self.assertEqual(again.code, 0)
        self.assertIn(f"mpiexec: collectives choose by the rules of {path}\n", again.err)

    @unittest.skipIf(SANITIZED, "its times say nothing")
    def test_an_interruption_leaves_nothing(self):
        job = subprocess.Popen([str(tool.TOOLS / "clump"), "tune", "--seconds", "100"], env={**os.environ, **environment(self.folder)},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        time.sleep(1)
        os.killpg(job.pid, signal.SIGINT)
        tool.end_of(job)
        self.assertNotEqual(job.returncode, 0)
        self.assertEqual(os.listdir(self.folder), [])
        for _ in range(1000):
            try:
                os.killpg(job.pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.1)
        else:
            self.fail("processes of the job are left")


if __name__ == "__main__":
    unittest.main()
