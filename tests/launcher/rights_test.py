"""What a process believes that comes from outside: a program with the rights of its file (set-user-ID) obeys no variable of its environment, and what
mpiexec leaves to a process is looked at before it is used."""

import os
import pathlib
import shutil
import stat
import struct
import subprocess
import tempfile
import unittest

import tool

PROGRAM = tool.program("rights")
NOBODY = 65534
SANITIZED = os.environ.get("CLUMP_SANITIZE")
# A library whose constructor tells that it was loaded.
TELLING = '#include <fcntl.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void tell(void) { (void)!open(PATH, O_CREAT | O_WRONLY, 0666); }\n'


def run(*words, env=None, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CLUMP_", "PMI", "OMPI", "SLURM"))}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, env={**kept, **(env or {})}, timeout=100, check=False, **more)


@unittest.skipIf(SANITIZED, "a sanitizer is not for programs with more rights")
class Secure(tool.Case):
    """With the variable first, so that what is tested is not that it is not obeyed by anybody."""

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root makes programs of other users")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        os.chmod(cls.folder.name, 0o755)
        cls.program = shutil.copy(PROGRAM, cls.folder.name + "/secure")
        os.chown(cls.program, NOBODY, NOBODY)
        os.chmod(cls.program, 0o755 | stat.S_ISUID)
        alone = run(cls.program)
        if alone.returncode != 0 or not alone.stdout.startswith("1 "):
            raise unittest.SkipTest(f"{cls.program} does not get the rights of its file (nosuid?): {alone.stdout}{alone.stderr}")
        cls.default = alone.stdout.split()[3]

    def obeys_nothing(self, env, *words):
        done = run(*words, self.program, env={**env, "RIGHTS_OWN": "its"})
        self.assertEqual((done.returncode, done.stdout), (0, f"1 0 1 {self.default} its\n"), done.stderr)  # the program itself sees its environment
        return done.stderr

    def test_settings(self):
        self.assertEqual(run(PROGRAM, env={"CLUMP_EAGER_LIMIT": "12345"}).stdout.split()[3], "12345")
        self.assertEqual(self.obeys_nothing({"CLUMP_EAGER_LIMIT": "12345", "CLUMP_INITIAL_ERRHANDLER": "none", "CLUMP_COLL_TABLE": "none"}), "")

    def test_other_launchers(self):
        env = {"PMI_SIZE": "4", "PMI_RANK": "1", "PMI_FD": "0"}
        self.assertIn("PMI", run(PROGRAM, env=env).stderr)
        self.assertIn("is a job of one rank", self.obeys_nothing(env))
        for env in ({"PMI_SIZE": "8", "PMI_RANK": "1"}, {"OMPI_COMM_WORLD_SIZE": "4"}, {"SLURM_STEP_NUM_TASKS": "8"}, {"PMI_ID": "1", "PMI_PORT": "h:1"}):
            with self.subTest(env):
                self.assertIn("started it", run(PROGRAM, env=env).stderr)
                self.assertIn("is a job of one rank", self.obeys_nothing(env))
        env = {"CLUMP_NO_MPI": "for a reason"}
        self.assertIn("for a reason", run(PROGRAM, env=env).stderr)
        self.assertEqual(self.obeys_nothing(env), "")

    def test_libraries(self):
        """PMIX_PREFIX names the folder of a library that a process of PMIx loads."""
        there = pathlib.Path(self.folder.name) / "prefix" / "lib"
        there.mkdir(parents=True)
        told = there / "told"
        os.chmod(there, 0o777)
        subprocess.run(["cc", "-shared", "-fPIC", f'-DPATH="{told}"', "-x", "c", "-", "-o", there / "libpmix.so.2"], input=TELLING, text=True, check=True)
        env = {"PMIX_NAMESPACE": "space", "PMIX_RANK": "0", "PMIX_PREFIX": str(there.parent)}
        run(PROGRAM, env=env)
        self.assertTrue(told.exists(), "a program without more rights loads it")
        told.unlink()
        self.assertIn("is a job of one rank", self.obeys_nothing(env))
        self.assertFalse(told.exists())

    def test_job(self):
        """mpiexec does not start such a program, but a shell does. It is no rank then, and says so."""
        self.assert_says(tool.run("-n", "2", self.program), 126, "changes its user")
        done = run(tool.TOOLS / "mpiexec", "-n", "2", "sh", "-c", f"exec {self.program}")
        self.assertEqual(done.stdout, f"1 0 1 {self.default} -\n" * 2, done.stderr)
        self.assertIn("has the rights of its file", done.stderr)
        self.assertEqual(run(tool.TOOLS / "mpiexec", "-n", "2", "sh", "-c", f"exec {PROGRAM}").stdout.count(" 2 "), 2)

    def test_forged_job(self):
        with tempfile.TemporaryFile() as job:
            job.write(b"\x0f\0\0\0clump job 0.0.0")
            job.flush()
            env = {name: str(job.fileno()) for name in ("CLUMP_JOB_FD", "CLUMP_CONTROL_FD", "CLUMP_NODE_FD", "CLUMP_INPUT_FDS")}
            done = run(self.program, env=env, pass_fds=[job.fileno()])
        self.assertEqual((done.returncode, done.stdout), (0, f"1 0 1 {self.default} -\n"), done.stderr)

    def test_jobs(self):
        """mpiexec would obey the environment in its place."""
        self.assertIn("spawned: yes\n", run(PROGRAM, "spawn", "/", PROGRAM).stdout)
        self.assertRegex(run(self.program, "spawn", "/", PROGRAM).stdout, "spawned: .*this program has the rights of its file")


# Between mpiexec and the rank: changes what mpiexec has left, and becomes the rank.
BETWEEN = """import os, struct, sys
job, node = int(os.environ['CLUMP_JOB_FD']), int(os.environ['CLUMP_NODE_FD'])
size = os.fstat(job).st_size
description = bytearray(os.pread(job, size, 0))
{}
os.pwrite(job, description, 0)
os.ftruncate(job, len(description))
{}
os.execv(sys.argv[1], sys.argv[1:])
"""


@unittest.skipIf(SANITIZED, "a sanitizer takes what ends a process for its own")
class Handed(tool.Case):
    """Each ends in a sentence and exit code 1, as a rank that cannot start. Nothing dies of a signal."""

    def damaged(self, what, *texts, ranks=1):
        result = tool.run("-n", ranks, "python3", "-c", BETWEEN.format(what, ''), PROGRAM)
        self.assert_says(result, 1, *texts)
        self.assertNotRegex(result.err, "signal|SIG|terminate", result)

    def test_untouched(self):
        result = tool.run("-n", "2", "python3", "-c", BETWEEN.format("", ""), PROGRAM)
        self.assertEqual((result.code, result.out.count(" 2 ")), (0, 2), result)

    def test_description_of_another_version(self):
        self.damaged("description[14] ^= 1", "the job was described by another version of Clump", "clump job ", "one installation")
        self.damaged("description[4:14], description[0] = b'clump job ', 200", "another version of Clump")

    def test_damaged_description(self):
        self.damaged("del description[60:]", "the description of the job is damaged (60 bytes): it ends too early", "CLUMP_JOB_FD")
        self.damaged("description += b'x'", "is damaged", "it does not end where it should")
        self.damaged("description[-4:] = b'\\xff\\xff\\xff\\x7f'", "is damaged")

    def test_wrong_number(self):
        for number in ("7", "-1", "", "x"):
            self.damaged(f"os.environ['CLUMP_PROCESS'] = '{number}'", "CLUMP_PROCESS", "this host has the processes 0 to 1", ranks=2)

    def test_short_memory(self):
        self.damaged("os.ftruncate(node, 64)", "CLUMP_NODE_FD", "has 64 bytes", ranks=2)

    def test_closed_descriptors(self):
        for name in ("CLUMP_JOB_FD", "CLUMP_CONTROL_FD", "CLUMP_NODE_FD"):
            result = tool.run("-n", "1", "python3", "-c", BETWEEN.format("", f"os.close(int(os.environ['{name}']))"), PROGRAM)
            self.assertNotEqual(result.code, 0, name)
            self.assertIn("has closed the descriptors", result.err, name)

    def test_without_mpiexec(self):
        """The same files, and a socket to nobody."""
        import socket  # pylint: disable=import-outside-toplevel
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with mine, theirs, tempfile.TemporaryFile() as job, tempfile.TemporaryFile() as node:
            for description in (b"clump job 0.0.0", b"clump job " + b"\xff" * 300):
                job.seek(0)
                job.truncate()
                job.write(struct.pack("<I", len(description)) + description)
                job.flush()
                env = {"CLUMP_JOB_FD": str(job.fileno()), "CLUMP_CONTROL_FD": str(theirs.fileno()), "CLUMP_NODE_FD": str(node.fileno())}
                done = run(PROGRAM, env=env, pass_fds=[job.fileno(), theirs.fileno(), node.fileno()])
                self.assertEqual(done.returncode, 1, done)
                self.assertIn(b"another version of Clump", mine.recv(1 << 16))


if __name__ == "__main__":
    unittest.main()
