"""Jobs where the system gives less than usual: they run, by whatever Clump falls back to, or end with a sentence that says what was refused and
what helps. Never with a hang, with code 0 after a failure, with nothing said, or with the words of a C++ runtime.

CLUMP_RESTRICTED_ALL=1 tries all restrictions with all programs, ways to run ranks and numbers of ranks; else some of them."""

import os
import re
import signal
import subprocess
import sys
import time
import unittest

import restrictions

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launcher"))
import tool  # noqa: E402

WORK = str(tool.BIN / "restricted_work")
MODES = {"default": [], "fibers": ["--ranks", "fibers"], "threads": ["--ranks", "threads"], "processes": ["--ranks", "processes"],
         "pairs": ["--per-process", "2"]}
LIMIT = 120  # seconds
ALL = os.environ.get("CLUMP_RESTRICTED_ALL") == "1"
RUNTIMES_WORDS = re.compile("bad_alloc|terminate called|Segmentation fault|std::|core dumped")


def run(prefix, *words, environment=None):
    """Code, stdout, stderr. A job that does not end has to at SIGTERM."""
    process = subprocess.Popen([*prefix, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", start_new_session=True, env=environment)
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)
        try:
            out, err = process.communicate(timeout=60)
            raise AssertionError(f"no end after {LIMIT} s: {out}{err}") from None
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise AssertionError(f"no end after {LIMIT} s, and none by SIGTERM") from None
    return process.returncode, out, err


class Restricted(tool.Case):
    def allowed(self, prefix):
        """Skips where this user may not restrict so."""
        code, _, err = run(prefix, "test", "-x", tool.TOOLS / "mpiexec")
        if code != 0:
            self.skipTest(f"{' '.join(prefix)}: {err.strip()}")

    def job(self, prefix, mode, ranks, kind="collectives"):
        """Runs it, checks what holds for any job, and says whether it was right."""
        code, out, err = run(prefix, tool.TOOLS / "mpiexec", *MODES[mode], "-n", ranks, WORK, kind)
        told = f"{mode}, {ranks} ranks, {kind}: code {code}\n{out}{err}"
        self.assertNotRegex(err, RUNTIMES_WORDS, told)
        is_right = f"{kind}: {ranks} ranks are right" in out
        self.assertEqual(code == 0, is_right, told)
        if not is_right:
            self.assertRegex(err, r"\w\w+ \w+", told)
        return is_right, err

    def falls_back(self, prefix, *modes, ranks=4, kind="collectives"):
        """The job runs, and nothing is said of it."""
        for mode in modes:
            with self.subTest(mode=mode):
                is_right, err = self.job(prefix, mode, ranks, kind)
                self.assertTrue(is_right, err)
                self.assertEqual(err, "")

    def says(self, prefix, mode, *texts, ranks=4):
        with self.subTest(mode=mode):
            is_right, err = self.job(prefix, mode, ranks)
            self.assertFalse(is_right)
            for text in texts:
                self.assertIn(text, err)

    def test_lines_of_python(self):
        """Reports say why they have none."""
        prefix = restrictions.forbidden("EPERM", "process_vm_readv")
        self.allowed(prefix)
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launcher", "python_program.py")
        code, _, err = run(prefix, tool.TOOLS / "mpiexec", "--timeout", 2, "-n", 2, sys.executable, program, "late")
        self.assertEqual(code, 124)
        self.assertRegex(err, r"MPI_Barrier in Python 3\.\d+, whose lines cannot be read: the system refuses process_vm_readv")

    def test_filtered_calls(self):
        self.allowed(restrictions.forbidden("EPERM", "membarrier"))
        for error, modes in (("EPERM", ("default", "processes")), ("ENOSYS", ("pairs", "threads"))):
            with self.subTest(error=error):
                for calls in ("membarrier", "signalfd4", "memfd_create", "process_vm_readv,process_vm_writev", restrictions.CALLS_OF_OTHERS):
                    with self.subTest(calls=calls):
                        self.falls_back(restrictions.forbidden(error, calls), *modes)
                together = restrictions.forbidden(error, ",".join((*restrictions.CALLS_WITH_USE, restrictions.CALLS_OF_OTHERS)))
                self.falls_back(together, "default", "processes", ranks=2)

    def test_fibers_need_membarrier(self):
        for error, words in (("EPERM", "Operation not permitted"), ("ENOSYS", "Function not implemented")):
            prefix = restrictions.forbidden(error, "membarrier")
            self.allowed(prefix)
            self.says(prefix, "fibers", "cannot be fibers", f"membarrier: {words}", "seccomp", "they are threads")
            code, _, err = run(prefix, tool.TOOLS / "mpiexec", "--explain", "-n", 2, WORK)
            self.assertEqual(code, 0, err)
            self.assertRegex(err, "2 ranks as threads .*not fibers: .*membarrier")

    def test_signals_without_signalfd(self):
        prefix = restrictions.forbidden("EPERM", "signalfd4")
        self.allowed(prefix)
        job = subprocess.Popen([*prefix, str(tool.TOOLS / "mpiexec"), "-n", "2", "sleep", "60"], stderr=subprocess.DEVNULL)
        time.sleep(1.5)
        job.terminate()
        self.assertEqual(job.wait(timeout=LIMIT), 128 + signal.SIGTERM)

    def test_limits(self):
        for limit, words in (("-f 0", "RLIMIT_FSIZE (ulimit -f) is 0 bytes"), ("-f 1", "RLIMIT_FSIZE (ulimit -f) is 1024 bytes")):
            self.says(restrictions.limit(limit), "processes", words, "raise it with ulimit -f")
        self.says(restrictions.limit("-s 64"), "default", "RLIMIT_STACK (ulimit -s) is 64 KiB, at least 128 needed")
        self.says(restrictions.limit("-n 8"), "default", "Too many open files: RLIMIT_NOFILE (ulimit -n) is 8;")
        self.says(restrictions.limit("-v 60000"), "fibers", "RLIMIT_AS (ulimit -v) is 60000")
        for limit in ("-v 400000", "-f 100000", "-s 128"):
            self.falls_back(restrictions.limit(limit), "default", "processes", ranks=2)

    def test_mounts(self):
        self.allowed(restrictions.mounted("true"))
        ways = restrictions.everything()
        for name in ("no /proc", "no /proc, no /sys", "/dev/shm read-only", "/tmp full", "no /etc/hosts", "memfd_create and no /proc"):
            if "no /proc" in name and re.search("[ :]", str(tool.BUILD)):
                continue  # LD_PRELOAD takes no such name, and a descriptor in its place needs /proc
            with self.subTest(name=name):
                self.falls_back(ways[name], "default", "processes")

    @unittest.skipUnless(ALL, "CLUMP_RESTRICTED_ALL=1 does")
    def test_all(self):
        for name, prefix in restrictions.everything().items():
            for mode in MODES:
                for ranks in (2, 16):
                    for kind in ("hello", "ring", "collectives", "threads", "openmp"):
                        with self.subTest(name=name, mode=mode, ranks=ranks, kind=kind):
                            self.allowed(prefix)
                            self.job(prefix, mode, ranks, kind)


if __name__ == "__main__":
    unittest.main()
