"""Jobs over hosts that meet, and ranks that are started on other hosts: ports, published names, MPI_Comm_join, MPI_Comm_spawn."""

import os
import signal
import subprocess
import time
import unittest

import cluster
from cluster import mpiexec, on, tool

setUpModule = cluster.skip_without_hosts
PROGRAM = tool.BIN / "cluster_dynamic"
MODES = ((), ("--ranks", "processes"))
SOON = 60.0  # seconds, for what is known at once


class Dynamic(cluster.Case):
    def begin(self, *words: object, host: str = "h0", options=(), **more) -> subprocess.Popen:
        """A job, with mpiexec on this host."""
        job = subprocess.Popen(on(host, tool.BIN / "mpiexec", *options, PROGRAM, *words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(self.close, job)
        return job

    def close(self, job: subprocess.Popen) -> None:
        job.kill()
        job.wait()
        job.stdout.close()
        job.stderr.close()

    def finish(self, job: subprocess.Popen, limit: float = cluster.LIMIT) -> tool.Result:
        out, errors = tool.end_of(job, limit=limit)
        return tool.Result(job.returncode, out, errors, 0)

    def port(self) -> str:
        return str(self.folder() / "port")

    def meet(self, server: dict, client: dict, expected: str, words=("accept", "connect"), name: str = "", more=()) -> None:
        name = name or self.port()
        jobs = [self.begin(words[0], name, *more, **server), self.begin(words[1], name, **client)]
        results = [self.finish(job) for job in jobs]
        self.assertEqual([(result.code, result.out) for result in results], [(0, expected + "\n"), (0, "")], results)

    def test_two_jobs_over_the_same_hosts(self):
        for mode in MODES:
            with self.subTest(mode):
                both = {"options": (*mode, "--host", "h0,h1", "-n", 2)}
                self.meet(both, both, "h0,h1,h0,h1")

    def test_two_jobs_over_different_hosts(self):
        self.meet({"options": ("--host", "h0,h1", "-n", 2)}, {"options": ("--host", "h2,h3:2", "-n", 3)}, "h0,h1,h2,h3,h3")

    def test_a_job_on_one_host_and_one_on_several(self):
        several = {"options": ("--host", "h0,h1", "-n", 2)}
        for host in ("h0", "h2"):
            with self.subTest(host):
                self.meet(several, {"options": ("-n", 2), "host": host}, f"h0,h1,{host},{host}")
        self.meet(several, {"options": ("--per-process", 1, "-n", 2), "host": "h2"}, "h0,h1,h2,h2")

    def test_a_job_over_hosts_calls_one_on_a_host_of_it(self):
        self.meet({"options": ("-n", 2), "host": "h1"}, {"options": ("--host", "h0,h1", "-n", 2)}, "h1,h1,h0,h1")

    def test_jobs_on_one_host_each(self):
        self.meet({"options": ("--iface", "eth0", "-n", 2)}, {"options": ("-n", 2), "host": "h1"}, "h0,h0,h1,h1")
        self.meet({"options": ("-n", 1)}, {"options": ("-n", 1), "host": "h1"}, "h0,h1", more=("ip_address", "10.77.0.1"))

    def test_a_job_that_lets_no_other_host_connect(self):
        name = self.port()
        server = self.begin("accept", name, options=("-n", 1))
        result = self.finish(self.begin("connect", name, options=("-n", 1), host="h1"), SOON)
        self.assertNotEqual(result.code, 0, result)
        self.assert_says(result, result.code, "MPI_Comm_connect", "lets only processes of its own host connect", "--iface")
        server.terminate()
        self.finish(server, SOON)

    def test_names(self):
        self.meet({"options": ("--name-server", "--host", "h0,h1", "-n", 2)}, {"options": ("--name-server", "--host", "h0,h2", "-n", 2)},
                  "h0,h1,h0,h2", ("publish", "lookup"), f"dynamic {os.getpid()}")

    def test_names_on_another_host_than_that_of_rank_0(self):
        for mode in MODES:
            with self.subTest(mode):
                self.meet({"options": (*mode, "--name-server", "--host", "h0,h1:2", "-n", 3)}, {"options": (*mode, "--host", "h1,h2", "-n", 2)},
                          "h0,h1,h1,h1,h2", ("publish", "lookup"), f"dynamic {os.getpid()} {len(mode)}")

    def test_a_name_that_is_taken_on_one_host(self):
        name = f"dynamic {os.getpid()} taken"
        holder = self.begin("publish", name, host="h1", options=("--name-server", "-n", 1))
        time.sleep(2)
        result = self.finish(self.begin("publish", name, options=("--name-server", "--host", "h0,h1", "-n", 2)), SOON)
        self.assert_says(result, result.code, "MPI_Publish_name", "another job on this machine has published it")
        self.assertEqual(holder.poll(), None)
        holder.terminate()
        self.finish(holder, SOON)

    def test_join(self):
        one = self.begin("join", "h0", 4567, 1, options=("-n", 1))
        other = self.begin("join", "h0", 4567, 0, options=("-n", 1), host="h1")
        results = [self.finish(one), self.finish(other)]
        self.assertEqual([(result.code, result.out) for result in results], [(0, "h0,h1\n"), (0, "")], results)

    def spawn(self, options, *words: object) -> tool.Result:
        return self.finish(self.begin("spawn", *words, options=options))

    def test_spawn_over_the_hosts_of_the_job(self):
        for mode in MODES:
            with self.subTest(mode):
                result = self.spawn((*mode, "--host", "h0,h1", "-n", 2), 3, "meet")
                self.assertEqual((result.code, result.out), (0, "h0,h1,h1,h1,h0\n"), result)

    def test_spawn_on_hosts_that_are_named(self):
        file = self.folder() / "hosts"
        file.write_text("# two\nh1 slots=1\nh3 slots=1\n")
        for options, keys, expected in (
                (("--host", "h0,h1", "-n", 2), ("host", "h2,h1"), "h0,h1,h2,h1"),
                (("--host", "h0,h1", "-n", 2), ("host", "h1:2"), "h0,h1,h1,h1"),
                (("-n", 1), ("host", "h1,h2"), "h0,h1,h2"),
                (("-n", 1), ("host", "h1:2"), "h0,h1,h1"),
                (("-n", 1), ("hostfile", file), "h0,h1,h3"),
                (("--ranks", "processes", "-n", 2), ("host", "h2,h0"), "h0,h0,h2,h0")):
            with self.subTest(options=options, keys=keys):
                result = self.spawn(options, 2, "meet", *keys)
                self.assertEqual((result.code, result.out), (0, expected + "\n"), result)

    def test_spawn_on_a_host_that_is_none(self):
        for options in (("-n", 1), ("--host", "h0,h1", "-n", 2)):
            with self.subTest(options):
                result = self.spawn(options, 2, "meet", "host", "no-such-host")
                self.assertEqual(result.code, 0, result)
                self.assertIn("error 1: ", result.out, result)
                self.assertIn("no-such-host", result.out + result.err, result)
        result = self.finish(self.begin("spawn_parts", "meet", 1, "host", "h1", 1, "host", "no-such-host", options=("-n", 1)))
        self.assertRegex(result.out, "error 1: ", result)
        self.assertIn("no-such-host", result.err, result)

    def test_a_spawned_rank_fails(self):
        for options in (("-n", 1), ("--host", "h0,h1", "-n", 2)):
            with self.subTest(options):
                result = self.spawn(options, 2, "die", "host", "h1,h2")
                self.assertNotEqual(result.code, 0, result)
                self.assertIn("rank 1 of 2 on h2 ended with exit code 7 before it called MPI_Finalize", result.err, result)

    def test_the_exit_code_of_a_job_whose_spawned_one_failed_before(self):
        for options in (("-n", 2), ("--host", "h0,h1", "-n", 2)):
            with self.subTest(options):
                result = self.spawn(("--ranks", "processes", *options), 2, "leave")
                self.assertRegex(result.err, "(?s)ended with exit code 7.*rank 0 of 2 .*ended with exit code 3", result)
                self.assertEqual(result.code, 3, result)

    def test_spawn_of_programs_on_hosts_of_their_own(self):
        file = self.folder() / "hosts"
        file.write_text("h3\n")
        for options, parts, expected in (
                (("-n", 1), (2, "host", "h1,h2:2", 1, "host", "h3"), "h0,h1,h2,h3"),
                (("-n", 1), (1, "host", "h2:4", 2, "host", "h1:4", 1, "host", "h2:4"), "h0,h2,h1,h1,h2"),
                (("-n", 1), (1, "host", "h2", 1, "-", "-"), "h0,h2,h0"),
                (("--host", "h0,h1", "-n", 2), (1, "hostfile", file, 2, "host", "h2:2", 1, "-", "-"), "h0,h1,h3,h2,h2,h1"),
                # One list for all is divided between the programs.
                (("--host", "h0,h1", "-n", 2), (1, "host", "h2:1,h3:1", 1, "host", "h2:1,h3:1"), "h0,h1,h2,h3")):
            for mode in MODES:
                with self.subTest(options=options, parts=parts, mode=mode):
                    result = self.finish(self.begin("spawn_parts", "meet", *parts, options=(*mode, *options)))
                    self.assertEqual((result.code, result.out), (0, expected + "\n"), result)

    def test_parts_of_a_command_line_on_hosts_of_their_own(self):
        echo = ("sh", "-c", "echo $0 $(hostname)")
        for parts, expected in (((("--host", "h1:4", "-n", 1), ("--host", "h2:4,h3:1", "-n", 2)), "0 h1,1 h2,1 h2"),
                                ((("--host", "h1,h2", "-n", 2), ("--host", "h3,h2", "-n", 2), ("-n", 3)), "0 h1,0 h2,1 h2,1 h3,2 h1,2 h2,2 h3"),
                                ((("--host", "h1,h2", "-n", 2), ("-n", 2)), "0 h1,0 h1,1 h2,1 h2")):  # of one part: for all
            words = sum(([":", *part, *echo, str(number)] for number, part in enumerate(parts)), [])[1:]
            job = self.run_job(*words)
            self.assertEqual((job.returncode, ",".join(sorted(job.stdout.splitlines()))), (0, expected), job)

    def only_from(self, host: str) -> dict:
        """An environment in which one host alone reaches others, as the first node of a cluster's job."""
        return self.agent(f'[ "$(hostname)" = {host} ] || {{ echo "Permission denied (publickey)" >&2; exit 255; }}')

    def test_the_roots_host_reaches_no_other(self):
        for options, words, expected in (
                (("--host", "h0,h1", "-n", 2), (2, "meet", "host", "h2,h3"), "h0,h1,h2,h3"),
                (("--host", "h0,h1", "-n", 2), (3, "meet"), "h0,h1,h1,h1,h0"),
                (("--host", "h1", "-n", 1), (2, "meet", "host", "h2,h1"), "h1,h2,h1"),
                (("--host", "h1", "-n", 1), (2, "meet", "host", "h2,localhost"), "h1,h2,h1"),
                (("--host", "h1", "--ranks", "processes", "-n", 1), (2, "meet"), "h1,h1,h1"),
                (("--host", "h1,h2", "--ranks", "processes", "-n", 2), (2, "meet", "host", "h0:2"), "h1,h2,h0,h0")):
            with self.subTest(options=options, words=words):
                result = self.finish(self.begin("spawn", *words, options=options, env=self.only_from("h0")))
                self.assertEqual((result.code, result.out), (0, expected + "\n"), result)

    def test_a_launcher_that_works_on_the_first_host_alone(self):
        nodes = self.folder() / "nodes"
        nodes.write_text("h0\nh1\nh2\nh3\n")
        dsh = nodes.with_name("pbsdsh")
        dsh.write_text(f'#!/bin/sh\n[ "$(hostname)" = h0 ] || exit 1\nhost=h$2\nshift 3\n'
                       f'exec {cluster.hosts.SCRIPT} run {cluster.CLUSTER} $host "$@" </dev/null\n')
        dsh.chmod(0o755)
        result = self.finish(self.begin("spawn", 2, "meet", "host", "h2,h3", env={**os.environ, "PBS_NODEFILE": str(nodes)},
                                        options=("--launcher", "pbs", "--launcher-exec", dsh, "--host", "h0,h1", "-n", 2)))
        self.assertEqual((result.code, result.out), (0, "h0,h1,h2,h3\n"), result)

    def test_spawn_again_and_again(self):
        result = self.finish(self.begin("spawn_often", 20, 2, "meet", options=("--host", "h0,h1", "-n", 2)), 4 * cluster.LIMIT)
        self.assertEqual((result.code, result.out), (0, 20 * "h0,h1,h1,h0\n"), result)

    def test_spawn_by_all_ranks_at_once(self):
        for mode in MODES:
            with self.subTest(mode):
                result = self.finish(self.begin("spawn_each", 2, "meet", "host", "h2,h3", options=(*mode, "--host", "h0:2,h1:2", "-n", 4)))
                self.assertEqual((result.code, sorted(result.out.split())), (0, 2 * ["h0,h2,h3"] + 2 * ["h1,h2,h3"]), result)

    def test_kills(self):
        """kill -9 of each process that takes part in a job that has spawned: all ends, and nothing is left."""
        is_spawned = lambda pid: "--usize" in cluster.words_of(pid)
        is_proxy = lambda pid: cluster.words_of(pid)[1:2] == ["--proxy"]
        name, program = cluster.name_of, cluster.program_of
        victims = {"the children's mpiexec": ("h0", lambda pid: name(pid) == "mpiexec" and is_spawned(pid)),
                   "its supervisor": ("h0", lambda pid: name(pid) == "clump-supervise" and is_spawned(pid)),
                   "the first mpiexec": ("h0", lambda pid: name(pid) == "mpiexec" and not is_spawned(pid) and not is_proxy(pid)),
                   "its supervisors": ("h0", lambda pid: name(pid) == "clump-supervise" and not is_spawned(pid) and not is_proxy(pid)),
                   "the proxy of the root": ("h1", is_proxy),
                   "the root": ("h1", lambda pid: program(pid) == PROGRAM.name),
                   "a child": ("h2", lambda pid: program(pid) == PROGRAM.name)}
        for what, (host, is_it) in victims.items():
            with self.subTest(what):
                job = self.begin_waiting(("--host", "h0,h1", "-n", 2), "host", "h2,h3")
                found = [pid for pid in cluster.processes(host) if is_it(pid)]
                self.assertNotEqual(found, [], what)
                cluster.send(found, signal.SIGKILL)
                result = self.finish(job)
                self.assertNotIn(result.code, (0, 98), result)
                self.assert_nothing_left()

    def begin_waiting(self, options, *keys) -> subprocess.Popen:
        job = self.begin("spawn", 2, "wait", *keys, options=options, start_new_session=True)
        self.assertNotEqual(job.stdout.readline(), "")
        return job

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            for options in (("-n", 1), ("--host", "h0,h1", "-n", 2)):
                with self.subTest(number=number, options=options):
                    job = self.begin_waiting(options, "host", "h1,h2")
                    job.send_signal(number)
                    self.finish(job)
                    self.assertNotEqual(job.returncode, 0)
                    self.assert_nothing_left()

    def test_timeout(self):
        """What is spawned ends with its parents, and has no report of its own."""
        job = self.begin("spawn", 2, "wait", "host", "h1,h2", options=("--timeout", 12, "--host", "h0,h1", "-n", 2))
        result = self.finish(job)
        self.assertEqual((result.code, result.out), (124, "h0,h1,h1,h2\n"), result)
        self.assertIn("has not ended within 12 s", result.err, result)
        self.assertNotIn("lost rank", result.err, result)

    def test_ctrl_c(self):
        """The terminal's signal goes to all of its group."""
        for options in (("-n", 1), ("--host", "h0,h1", "-n", 2)):
            with self.subTest(options):
                job = self.begin_waiting(options, "host", "h1,h2")
                os.killpg(job.pid, signal.SIGINT)
                result = self.finish(job)
                self.assertEqual(result.code, 128 + signal.SIGINT, result)
                self.assert_nothing_left()

    def test_a_host_is_lost(self):
        job = self.begin_waiting(("-n", 1), "host", "h1,h2")
        self.addCleanup(cluster.set_link, "h2", "up")
        cluster.set_link("h2", "down")
        begin = time.monotonic()
        result = self.finish(job)
        self.assertNotEqual(result.code, 0, result)
        self.assertLess(time.monotonic() - begin, SOON, result)
        cluster.set_link("h2", "up")
        self.assertTrue(self.wait_for(lambda: self.reaches("h2", "h0") and self.reaches("h0", "h2")))


if __name__ == "__main__":
    unittest.main()
