"""Who waits for whom, on several hosts: deadlocks, questions, signals, and no alarm without a reason. What is said about each kind of
deadlock is the corpus's (tests/corpus)."""

import pathlib
import signal
import subprocess
import time
import unittest

import cluster
from cluster import CLUSTER, LIMIT, name_of, processes, program_of, send, tool, words_of

setUpModule = cluster.skip_without_hosts

MODES = ((), ("--scheduler", "threads"), ("--ranks", "processes"), ("--per-process", 2))
RINGS = "every rank waits for what cannot come any more"


class Waits(cluster.Case):
    def stuck(self, *words: object) -> subprocess.Popen:
        """A job on h0 and h1 whose ranks wait for each other in a circle."""
        job = subprocess.Popen(cluster.mpiexec(*words, "-n", 4, tool.program("wait"), "cycle"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
        self.addCleanup(job.kill)
        return job

    def test_a_deadlock(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                job = self.run_job(*mode, "--host", "h1,h2", "-n", 4, tool.program("wait"), "cycle")
                self.assertEqual(job.returncode, 1, job)
                self.assertEqual(job.stderr.count("mpiexec: "), 1, job)
                self.assertIn(f"mpiexec: deadlock: {RINGS}\n  ranks 0-3 wait in MPI_Recv(source rank+1, tag 0, MPI_COMM_WORLD) at wait.c:", job.stderr)
                self.assertIn("  in a circle: rank 0 waits for rank 1 waits for rank 2 waits for rank 3 waits for rank 0\n", job.stderr)
                self.assertIn("  on 2 hosts: h1 (ranks 0-1), h2 (ranks 2-3)\n", job.stderr)

    def test_a_deadlock_on_many_hosts_after_much_was_sent(self):
        job = self.run_job("--host", "h0,h1,h2,h3", "--map-by", "node", "-n", 9, tool.program("wait"), "missing")
        self.assertEqual(job.returncode, 1, job)
        self.assertIn("ranks 1-8 wait in MPI_Allreduce at wait.c:", job.stderr)

    def test_a_deadlock_on_one_other_host(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                job = self.run_job(*mode, "--host", "h1", "-n", 2, tool.program("wait"), "cycle")
                self.assertEqual(job.returncode, 1, job)
                self.assertEqual(job.stderr.count(RINGS), 1, job)

    def test_a_user_asks(self):
        for mode in MODES:
            for hosts in "h0,h1", "h1,h2,h3", "h2":
                with self.subTest(mode=mode, hosts=hosts):
                    job = self.start(*mode, "--host", hosts, "-n", 6)
                    told = []
                    for times in 1, 2:
                        job.send_signal(signal.SIGQUIT)
                        while told.count("mpiexec: where the ranks are:\n") < times:
                            told.append(job.stderr.readline())
                            self.assertNotEqual(told[-1], "", told)
                    self.assertIsNone(job.poll())
                    job.send_signal(signal.SIGTERM)
                    text = "".join(told) + job.stderr.read()
                    job.wait(timeout=LIMIT)
                    self.assertRegex(text, r"rank.*MPI_(Waitall|Allreduce|Bcast|Isend|Irecv)")
                    self.assertEqual(text.count(f"  on {hosts.count('h')} hosts: "), 0 if hosts == "h2" else 3, text)
                    self.assertNotIn("not answered", text)
                    self.assert_nothing_left()

    def test_signals_reach_all_ranks(self):
        script = "trap 'echo one' USR1; trap 'echo two; exit 0' USR2; echo ready; while :; do sleep 0.1; done"
        for hosts in "h0,h1,h2", "h1":
            with self.subTest(hosts=hosts):
                job = subprocess.Popen(cluster.mpiexec("--host", hosts, "-n", 3, "sh", "-c", script), stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
                self.addCleanup(job.kill)
                self.assertEqual([job.stdout.readline() for _ in range(3)], ["ready\n"] * 3)
                job.send_signal(signal.SIGUSR1)
                self.assertEqual([job.stdout.readline() for _ in range(3)], ["one\n"] * 3)
                job.send_signal(signal.SIGUSR2)
                out, errors = tool.end_of(job, limit=LIMIT)
                self.assertEqual((out, errors, job.returncode), ("two\n" * 3, "", 0))

    def test_what_is_in_a_slow_network_is_no_deadlock(self):
        host = pathlib.Path(CLUSTER, "prefix").read_text().strip() + "-h2"
        limit = ["ip", "netns", "exec", host, "tc", "qdisc"]
        # Half a second for the smaller ones, which are in the network as a whole, and twice that for what is fetched.
        subprocess.run([*limit, "add", "dev", "eth0", "root", "tbf", "rate", "800kbit", "burst", "4kb", "latency", "5s"], check=True)
        self.addCleanup(subprocess.run, [*limit, "del", "dev", "eth0", "root"], check=True)
        for mode in MODES:
            for size in 50_000, 100_000:
                with self.subTest(mode=mode, size=size):
                    begin = time.monotonic()
                    job = self.run_job(*mode, "--host", "h1,h2", "-n", 4, tool.BIN / "cluster_slow", size, 3)
                    self.assertEqual((job.returncode, job.stderr), (0, ""), job)
                    self.assertGreater(time.monotonic() - begin, 3 * size * 8 / 800e3 * 0.8)

    def test_a_host_that_stands_still_is_no_deadlock(self):
        job = self.start("--host", "h1,h2", "-n", 4)
        there = [pid for pid in processes("h2") if program_of(pid) == "launcher_busy"]
        self.assertNotEqual(there, [])
        for _ in range(2):
            send(there, signal.SIGSTOP)
            time.sleep(0.7)
            send(there, signal.SIGCONT)
            time.sleep(0.2)
        self.assertIsNone(job.poll())
        job.send_signal(signal.SIGTERM)
        _, errors = tool.end_of(job, limit=LIMIT)
        self.assertNotIn("deadlock", errors)

    def test_hang_after(self):
        job = self.run_job("--hang-after", 2, "--host", "h1,h2", "-n", 2, tool.program("wait"), "cycle")
        self.assertIn("deadlock", job.stderr)
        job = self.start("--hang-after", 1, "--host", "h1,h2", "-n", 4)
        time.sleep(3)
        self.assertIsNone(job.poll())
        job.send_signal(signal.SIGTERM)
        tool.end_of(job, limit=LIMIT)

    def test_whoever_is_killed_while_all_are_asked(self):
        """A rank, its proxy, what has started that one, or mpiexec, at different moments of a deadlock: the job ends, and nothing is left."""
        def ranks(host):
            return [pid for pid in processes(host) if program_of(pid) == "launcher_wait"]
        victims = {"rank": lambda _: ranks("h1")[:1], "proxy": lambda _: [pid for pid in processes("h1") if "--proxy" in words_of(pid)][:1],
                   "agent": lambda _: [pid for pid in processes("h0") if f"{cluster.CLUSTER}/agent" in words_of(pid)[:2]][:1],
                   "mpiexec": lambda job: [job.pid]}
        for victim, who in victims.items():
            for delay in 0.0, 0.04, 0.06, 0.08:
                with self.subTest(victim=victim, delay=delay):
                    job = self.stuck("--ranks", "processes", "--host", "h0,h1")
                    self.wait_for(lambda: len(ranks("h0")) == len(ranks("h1")) == 2 or job.poll() is not None)
                    time.sleep(delay)
                    send(who(job), signal.SIGKILL)
                    tool.end_of(job, limit=LIMIT)
                    self.assertNotEqual(job.returncode, 0)
                    self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
