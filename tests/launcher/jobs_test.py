"""Two jobs on one machine: they connect by a port, exchange, part, and fail together or not; and jobs that ranks start."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import tool

MEET = tool.program("meet")
WAYS = [[], ["--ranks", "processes"], ["--per-process", "2"], ["--ranks", "threads"]]


class Jobs(tool.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.port = pathlib.Path(folder.name) / "port"

    def start(self, role, *words, options=(), ranks=2, mpiexec=True):
        command = [str(tool.TOOLS / "mpiexec"), *options, "-n", str(ranks)] if mpiexec else []
        process = subprocess.Popen([*command, MEET, role, str(self.port), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()

    def finish(self, process):
        out, err = tool.end_of(process)
        return tool.Result(process.returncode, out, err, 0)

    def meet(self, server, client, *words):
        """Both have to say that they have met."""
        one = self.start("accept", *words, **server)
        other = self.start("connect", *words, **client)
        for result in (self.finish(other), self.finish(one)):
            self.assertEqual((result.code, result.out), (0, "met\n"), result)
        self.port.unlink()

    def test_exchange(self):
        for server in WAYS:
            for client in WAYS:
                with self.subTest(server=server, client=client):
                    self.meet({"options": server, "ranks": 3}, {"options": client, "ranks": 4})

    def test_many_ranks(self):
        self.meet({"ranks": 64}, {"ranks": 8}, "short")

    def test_singletons(self):
        self.meet({"mpiexec": False}, {"mpiexec": False})
        self.meet({"ranks": 3}, {"mpiexec": False})

    def test_one_after_the_other(self):
        self.meet({"options": ["--per-process", "1"]}, {"ranks": 3}, "rounds")

    def test_end_without_disconnect(self):
        self.meet({"ranks": 2}, {"ranks": 3, "options": ["--ranks", "processes"]}, "finalize")

    def wait_for_port(self):
        limit = time.monotonic() + tool.HANGS
        while not self.port.exists():
            self.assertLess(time.monotonic(), limit, f"no file {self.port} appears")
            time.sleep(0.005)

    def test_names_between_jobs(self):
        """Published by --name-server or by the info key, from a process that is not rank 0's; a second server of the name is refused."""
        name = f"a name of {self.port}" + ", which is long" * 6
        for options, how in ((["--name-server"], "name"), ([], "scope"), (["--name-server", "--per-process", "1"], "name")):
            with self.subTest(options=options):
                server = self.start("accept", how, name, options=options)
                self.wait_for_port()
                second = self.finish(self.start("accept", how, name, options=options))
                self.assertEqual(second.code, 3, second)
                self.assertIn("another job on this machine has published it: take another name", second.out)
                for result in (self.finish(self.start("connect", "name", name, ranks=3)), self.finish(server)):
                    self.assertEqual((result.code, result.out), (0, "met\n"), result)
                self.port.unlink()

    def test_names_of_one_job(self):
        """Without the option another job does not find the name."""
        server = self.start("accept", "name", "a name")
        self.wait_for_port()
        client = self.start("connect", "name", "a name")
        with self.assertRaises(subprocess.TimeoutExpired):
            client.wait(timeout=1)
        client.kill()
        server.kill()

    def test_wrong_token(self):
        """Of the job, by which its processes are found, and of the port: refused and told, and the server goes on to serve."""
        server = self.start("accept", "short")
        self.wait_for_port()
        right = self.port.read_text()
        parts = right.split(":")
        for place, why in ((5, "nobody listens there"), (10, "refused: the token in the name is not the port's")):
            wrong = parts.copy()
            wrong[place] = f"{int(wrong[place], 16) ^ 1:016x}"
            self.port.write_text(":".join(wrong))
            result = self.finish(self.start("connect", "short"))
            self.assertEqual(result.code, 3, result)
            self.assertIn(why, result.out)
        self.port.write_text(right)
        for result in (self.finish(self.start("connect", "short")), self.finish(server)):
            self.assertEqual((result.code, result.out), (0, "met\n"), result)

    def test_nobody_there(self):
        self.meet({}, {}, "short")
        self.port.write_text(f"clump:gone-p1:0:0:0000000000000007:0000000000000001:0:{0:032}:0:1:0000000000000002")
        result = self.finish(self.start("connect", "short"))
        self.assertEqual(result.code, 3, result)
        self.assertIn("nobody listens there", result.out)

    def test_client_that_is_killed_while_it_waits(self):
        """The server has not accepted it yet: it is forgotten, and the next one is served."""
        for options in WAYS[:3]:
            with self.subTest(options=options):
                go = self.port.with_name("go")
                server = self.start("accept", "late", str(go), options=options)
                self.wait_for_port()
                killed = self.start("connect", "short", options=options)
                time.sleep(0.5)
                killed.kill()
                self.finish(killed)  # its ranks have ended, too
                client = self.start("connect", "short", options=options)
                go.touch()
                for result in (self.finish(client), self.finish(server)):
                    self.assertEqual((result.code, result.out), (0, "met\n"), result)
                self.port.unlink()
                go.unlink()

    def test_server_that_ends_without_accepting(self):
        """Those that wait at its port are told."""
        for options in WAYS[:3]:
            with self.subTest(options=options):
                server = self.start("accept", "leave", options=options)
                self.wait_for_port()
                result = self.finish(self.start("connect", "short", options=options))
                self.assertEqual(result.code, 3, result)
                self.assertIn("refused: its process has ended", result.out)
                self.assertEqual(self.finish(server).code, 0)
                self.port.unlink()

    def test_server_that_stands_still(self):
        """The info key timeout counts from the beginning of the call."""
        server = self.start("accept", "leave", mpiexec=False)
        self.wait_for_port()
        os.kill(server.pid, signal.SIGSTOP)
        result = self.finish(self.start("connect", "timeout", mpiexec=False))
        self.assertEqual(result.code, 3, result)
        self.assertIn("info key timeout", result.out)

    def test_message_of_a_job_that_has_disconnected(self):
        for options in WAYS:
            with self.subTest(options=options):
                self.meet({"options": options}, {"options": options}, "late_receive")

    def test_death_of_one_side(self):
        for options in WAYS[:3]:
            for how in ("die", "abort"):
                for role, other in (("accept", "connect"), ("connect", "accept")):
                    with self.subTest(options=options, how=how, role=role):
                        dying = self.start(role, how, options=options)
                        left = self.finish(self.start(other, "wait", options=options))
                        self.assertNotEqual(left.code, 0, left)
                        self.assertIn("of another job, which is connected to this one", left.err)
                        self.assertNotEqual(self.finish(dying).code, 0)
                        self.port.unlink()

    def test_a_spawned_job_says_why_it_fails(self):
        """Before it is ended with the job of its parents."""
        program = pathlib.Path(tool.program("meet")).with_name("mpi_dynamic_fatal")
        result = tool.run("--ranks", "processes", "-n", 2, program, "abort")
        self.assertIn("rank 2 of 3 aborted the job with code 7", result.err)
        self.assertIn("lost rank", result.err)

    def test_children_that_fail_alone(self):
        """They are disconnected: the job's exit code is theirs in each mode."""
        for way in ([], ["--ranks", "threads"], ["--ranks", "processes"], ["--per-process", "1"]):
            for how, code in (("code", 5), ("early", 6), ("abort", 7), ("signal", 134)):
                with self.subTest(way=way, how=how):
                    self.assertEqual(tool.run(*way, "-n", 1, tool.program("spawn"), how).code, code)

    def test_a_spawned_job_ends_with_the_process_that_has_started_it(self):
        program, mark = pathlib.Path(tool.program("meet")).with_name("mpi_dynamic_fatal"), f"hold{os.getpid()}"
        those = lambda: [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if mark in path.read_text(errors="replace")]
        parent = subprocess.Popen([program, mark], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, parent)
        self.assertEqual(parent.stdout.readline(), "spawned\n")
        parent.kill()
        parent.wait()
        limit = time.monotonic() + tool.HANGS
        while (left := self.still(those)) and time.monotonic() < limit:
            time.sleep(0.05)
        self.assertEqual(left, [])

    def still(self, find):
        try:
            return find()
        except OSError:  # one has ended meanwhile
            return ["?"]

    def test_one_side_that_has_no_room(self):
        """A process can be connected to 256 ranks of other jobs: the other job, which has room, is told as well."""
        server, client = self.start("accept", "short"), None
        self.wait_for_port()
        client = self.finish(self.start("connect", "short", ranks=300))
        self.assertEqual((client.code, self.finish(server).code), (4, 4), client)
        self.assertIn("class", client.out)

    def test_reports_name_ranks_of_other_jobs(self):
        """By their rank in their own job; what they do is not known here."""
        server = self.start("accept", "hang", options=["--timeout", "4"], ranks=1)
        client = self.start("connect", "hang", ranks=1)
        result = self.finish(server)
        self.assert_says(result, 124, "rank 0 waits in MPI_Recv(source 0 of another job, tag 9, a communicator of rank 0 and rank 0 of another job)",
                         "rank 0 of another job has not sent it; its job is not asked")
        self.assertNotIn("MPI_Init", result.err)
        self.assertNotEqual(self.finish(client).code, 0)

    def test_death_after_disconnect(self):
        server = self.start("accept", "apart")
        self.assertEqual(self.finish(self.start("connect", "apart")).code, 6)
        result = self.finish(server)
        self.assertEqual((result.code, result.out), (0, "met\n"), result)

    def test_refused_by_what_the_job_records(self):
        server = self.start("accept", "short")
        self.wait_for_port()
        result = self.finish(self.start("connect", "short", options=["--seed", "1"]))
        self.assertEqual(result.code, 4, result)
        self.assertIn("run it without --seed", result.out)
        for result in (self.finish(self.start("connect", "short")), self.finish(server)):
            self.assertEqual((result.code, result.out), (0, "met\n"), result)


if __name__ == "__main__":
    unittest.main()
