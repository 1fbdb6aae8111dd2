"""Jobs on several hosts, which are network namespaces (hosts.sh): what they print, how they fail, and that nothing of them is left."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

import cluster
from cluster import LIMIT, mpiexec, on, processes, program_of, send, set_link, tool

setUpModule = cluster.skip_without_hosts


class Cluster(cluster.Case):
    def test_ranks_are_in_blocks(self):
        job = self.run_job("--host", "h0:1,h1:3,h2:2", "-n", 6, "--tag-output", "hostname")
        self.assertEqual(job.returncode, 0, job)
        self.assertEqual(sorted(job.stdout.splitlines()), ["[0] h0", "[1] h1", "[2] h1", "[3] h1", "[4] h2", "[5] h2"])

    def test_equal_lines_of_all_hosts_are_shown_once(self):
        for _ in range(10):  # a machine that stands still for a tenth of a second may tear them apart
            job = self.run_job("--host", "h0:1,h1:3,h2:2", "-n", 6, "--collapse", "sh", "-c", "echo same; hostname >&2")
            self.assertEqual(job.returncode, 0, job)
            if job.stdout == "[0-5] same\n":
                break
        self.assertEqual(job.stdout, "[0-5] same\n")
        self.assertEqual(sorted(job.stderr.splitlines()), ["[0] h0", "[1-3] h1", "[4-5] h2"])

    def test_files_of_all_hosts(self):
        with tempfile.TemporaryDirectory() as folder:
            job = self.run_job("--host", "h0:1,h1:3,h2:2", "-n", 6, "--output-dir", f"{folder}/%h", "hostname")
            self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "", ""))
            written = {str(file.relative_to(folder)): file.read_text() for file in pathlib.Path(folder).glob("*/*.out")}
        hosts = ["h0", "h1", "h1", "h1", "h2", "h2"]
        self.assertEqual(written, {f"{host}/rank.{rank}.out": f"{host}\n" for rank, host in enumerate(hosts)})

    def test_ranks_go_to_hosts_in_turn(self):
        job = self.run_job("--host", "h0:1,h1:3,h2:2", "--map-by", "node", "-n", 6, "--tag-output", "hostname")
        self.assertEqual(job.returncode, 0, job)
        self.assertEqual(sorted(job.stdout.splitlines()), ["[0] h0", "[1] h1", "[2] h2", "[3] h1", "[4] h2", "[5] h1"])

    def meet(self, server: list, client: list, how: str) -> list:
        """Code and output of two jobs that meet by a port, of the server first."""
        port = self.folder() / "port"
        started = subprocess.Popen(mpiexec(*server, tool.program("meet"), "accept", port, how), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(started.kill)
        other = self.run_job(*client, tool.program("meet"), "connect", port, how)
        out, _ = started.communicate(timeout=LIMIT)
        return [(started.returncode, out), (other.returncode, other.stdout)]

    def test_two_jobs_on_the_same_hosts_meet(self):
        """Ranks of both that are on one host. A port of one job is none of the other's, although both have begun on the same host."""
        words = ["--host", "h0,h1", "-n", 2]
        self.assertEqual(self.meet(words, words, "alone"), [(0, "met\n"), (0, "met\n")])

    def test_programs_see_what_they_see_on_one_host(self):
        environment = {**os.environ, "LAUNCHER_A": "two words\nand a line"}
        job = self.run_job("--host", "h0,h1", "-n", 2, tool.program("show"), "in", "*", env=environment, input="a line\n")
        self.assertEqual(job.returncode, 0, job)
        self.assertIn("0 2 in * | LAUNCHER_A=two words\nand a line", job.stdout)
        self.assertIn("| a line\n", job.stdout)
        self.assertIn("1 2 in * | LAUNCHER_A=two words\nand a line", job.stdout)
        self.assertIn("| nothing\n", job.stdout)

    def test_map_and_explain(self):
        job = self.run_job("--host", "h0,h1", "-n", 4, "--map", "--explain", tool.program("show"))
        self.assertIn("4 ranks as fibers of 2 processes", job.stderr)
        self.assertIn("2 hosts: h0 (ranks 0-1), h1 (ranks 2-3)", job.stderr)
        self.assertIn("map of h1: 2 ranks as fibers", job.stderr)

    def test_map_of_ranks_in_turn(self):
        job = self.run_job("--host", "h0,h1", "--map-by", "node", "-n", 10, "--per-process", 3, "--map", "--explain", tool.program("show"))
        self.assertIn("2 hosts: h0 (ranks 0,2,...,8), h1 (ranks 1,3,...,9)", job.stderr)
        self.assertIn("map of h1: 5 ranks as fibers of 2 processes", job.stderr)
        self.assertEqual(sorted(line[:4] for line in job.stdout.splitlines()), [f"{rank} 10" for rank in range(10)])

    def test_the_first_failure_ends_all(self):
        job = self.run_job("--host", "h0,h1,h2", "-n", 6, tool.program("fail"), "mpi-abort", 3)
        self.assertEqual(job.returncode, 7, job)
        self.assertIn("rank 3 of 6 on h1", job.stderr)

    def test_a_failure_is_told_with_its_rank_and_host(self):
        ends = {"exit": (5, "ended with exit code 5"), "mpi-abort": (7, "aborted the job with code 7"), "segv": (139, "was ended by SIGSEGV")}
        for options in (), ("--ranks", "processes"):
            for way, (code, end) in ends.items():
                with self.subTest(options=options, way=way):
                    job = self.run_job(*options, "--host", "h0,h1,h2", "-n", 6, tool.program("fail"), way, 4)
                    self.assertEqual(job.returncode, code, job)
                    self.assertRegex(job.stderr, rf"(?m)^mpiexec: rank 4 of 6 on h2 {end}")

    def test_a_process_of_several_ranks_is_told_with_its_host(self):
        job = self.start("--host", "h0,h1,h2", "-n", 6)
        send([pid for pid in processes("h2") if program_of(pid) == "launcher_busy"], signal.SIGKILL)
        _, errors = tool.end_of(job, limit=LIMIT)
        self.assertEqual(job.returncode, 128 + signal.SIGKILL, errors)
        self.assertRegex(errors, "(?m)^mpiexec: the process of ranks 4-5 on h2 was ended by SIGKILL")

    def test_a_rank_that_is_killed(self):
        job = self.start("--ranks", "processes", "--host", "h0,h1", "-n", 4)
        victims = [pid for pid in processes("h1") if os.readlink(f"/proc/{pid}/exe").endswith("launcher_busy")]
        os.kill(victims[-1], signal.SIGKILL)
        _, errors = tool.end_of(job, limit=LIMIT)
        self.assertEqual(job.returncode, 128 + signal.SIGKILL, errors)
        self.assertRegex(errors, "rank [23] of 4 on h1 was ended by SIGKILL")

    def test_mpiexec_is_killed(self):
        job = self.start("--host", "h0,h1,h2", "-n", 6)
        os.kill(job.pid, signal.SIGKILL)
        self.assert_nothing_left()

    def test_reproducible_reductions(self):
        sums = tool.program("sums")
        places = [("--host", "h0"), ("--host", "h0,h1"), ("--host", "h0,h1,h2,h3", "--map-by", "node"), ("--host", "h1,h2,h3", "--ranks", "processes")]
        bits = [self.run_job("--reproducible", *place, "-n", 9, sums).stdout for place in places]
        self.assertEqual(len(bits[0].split()), 2, bits)
        self.assertEqual(bits, bits[:1] * len(bits))

    def test_a_host_that_vanishes(self):
        job = self.start("--host", "h0,h1,h2", "-n", 6)
        send(processes("h2"), signal.SIGKILL)
        _, errors = tool.end_of(job, limit=LIMIT)
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("h2", errors)

    def cut_link_of(self, job: subprocess.Popen, meanwhile=lambda: None) -> None:
        self.addCleanup(self.wait_for, lambda: self.reaches("h2", "h0"))  # it takes a moment
        self.addCleanup(set_link, "h2", "up")
        set_link("h2", "down")
        meanwhile()
        _, errors = tool.end_of(job, limit=LIMIT)
        self.assertEqual(job.returncode, 1, errors)
        self.assertIn("mpiexec: lost h2: ", errors)

    def test_a_host_whose_link_is_cut(self):
        self.cut_link_of(self.start("--host", "h0,h1,h2", "-n", 6, env={**os.environ, **cluster.WIRE}))
        self.assert_nothing_left()  # on h2 neither

    def test_a_host_whose_link_is_cut_while_something_is_sent_there(self):
        job = self.start("--host", "h0,h1,h2", "-n", 6, env={**os.environ, **cluster.WIRE})
        there = processes("h2")
        send(there, signal.SIGSTOP)  # lest they end first, which hosts that are no machines would notice
        try:
            self.cut_link_of(job, lambda: job.send_signal(signal.SIGCONT))  # which goes to all hosts
        finally:
            send(there, signal.SIGCONT)
        self.assert_nothing_left()

    def test_a_host_that_is_not_there(self):
        for hosts in "h0,h7,h1", "h7,h0":
            with self.subTest(hosts=hosts):
                job = self.run_job("--host", hosts, "-n", 3, tool.program("show"))
                self.assertEqual(job.returncode, 126)
                self.assertRegex(job.stderr, r"^mpiexec: h7: agent \(PRTE_MCA_plm_ssh_agent\) does not reach it .*; no address is known for it\n$")

    def test_a_rank_elsewhere_that_never_calls_mpi_init(self):
        for options in (), ("--ranks", "processes"):
            with self.subTest(options=options):
                job = self.run_job(*options, "--host", "h0:1,h1:1,h2:2", "-n", 1, tool.program("busy"), ":", "-n", 1, "true", ":", "-n", 2,
                                   tool.program("busy"))
                self.assertEqual(job.returncode, 1, job)
                self.assertEqual(job.stderr.count("rank 1 of 4 on h1 ended with exit code 0"), 1, job)
                self.assertIn("without calling MPI_Init", job.stderr)

    def test_collectives(self):
        for map_by in ("slot", "node"):
            for hosts, ranks in (("h0:4,h1:4,h2:4,h3:4", 16), ("h0:1,h1:2,h2:4", 7)):
                for program in ("movement", "reductions", "operations"):
                    with self.subTest(hosts=hosts, map_by=map_by, program=program):
                        job = self.run_job("--host", hosts, "--map-by", map_by, "-n", ranks, tool.BIN / f"mpi_collectives_{program}")
                        self.assertEqual(job.returncode, 0, job)

    def test_few_messages_go_from_host_to_host(self):
        def crossings(hosts, ranks, *options):
            job = self.run_job(*options, "--host", hosts, "-n", ranks, tool.program("crossings"))
            self.assertEqual(job.returncode, 0, job)
            return {line.split()[0]: int(line.split()[1]) for line in job.stdout.splitlines()}
        self.assertEqual(crossings("h0:4,h1:4,h2:4,h3:4", 16), {"barrier": 8, "broadcast": 3, "reduce": 3, "allreduce": 8,
                         "gather": 3, "scatter": 3, "allgather": 8, "alltoall": 12})
        self.assertEqual(crossings("h0:1,h1:2,h2:4", 7), {"barrier": 6, "broadcast": 2, "reduce": 2, "allreduce": 4,
                         "gather": 2, "scatter": 2, "allgather": 6, "alltoall": 6})
        flat = crossings("h0:4,h1:4,h2:4,h3:4", 16, "--coll", "barrier=dissemination,reduce=direct,allreduce=recursive-doubling,gather=direct,"
                         "scatter=direct,allgather=bruck,alltoall=direct")
        self.assertEqual(flat, {"barrier": 44, "broadcast": 3, "reduce": 12, "allreduce": 32, "gather": 12, "scatter": 12, "allgather": 44,
                                "alltoall": 192})

    def test_reordered_topologies(self):
        for hosts, ranks in (("h0:4,h1:4,h2:4,h3:4", 16), ("h0:1,h1:2,h2:4", 7)):
            for map_by in ("slot", "node"):
                with self.subTest(hosts=hosts, map_by=map_by):
                    job = self.run_job("--map", "--host", hosts, "--map-by", map_by, "-n", ranks, tool.BIN / "mpi_topologies_reorder")
                    self.assertEqual(job.returncode, 0, job)
                    cuts = re.findall(r"^map: (?:grid|graph|distributed graph) .* (\d+) between hosts \((\d+) without", job.stderr, re.MULTILINE)
                    self.assertGreater(len(cuts), 10, job)
                    self.assertTrue(all(int(after) <= int(before) for after, before in cuts), cuts)
                    self.assertTrue(any(int(after) < int(before) for after, before in cuts), cuts)

    def test_collectives_of_processes_in_turn(self):
        for program in ("movement", "reductions", "operations"):
            with self.subTest(program=program):
                job = self.run_job("--host", "h0:2,h1:3", "--map-by", "node", "--ranks", "processes", "-n", 5,
                                   tool.BIN / f"mpi_collectives_{program}")
                self.assertEqual(job.returncode, 0, job)

    def profile(self, case, *options, code=0):
        """Of five ranks on two hosts: what it says, and the folder that it and a trace are in."""
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        folder = pathlib.Path(made.name)
        job = self.run_job(f"--profile={folder}/one", "--trace", folder / "one.trace", "--host", "h0:2,h1:3", *options, "-n", 5,
                           tool.program("profile"), case)
        self.assertEqual(job.returncode, code, job)
        return json.loads((folder / "one.json").read_text()), folder, job

    def test_profile(self):
        for options in ((), ("--ranks", "processes"), ("--map-by", "node")):
            with self.subTest(options=options):
                profile, folder, job = self.profile("messages", *options)
                self.assertEqual((profile["hosts"], profile["notes"]), (["h0", "h1"], []), job)
                turn = options == ("--map-by", "node")
                self.assertEqual([rank["host"] for rank in profile["ranks"]], [0, 1, 0, 1, 1] if turn else [0, 0, 1, 1, 1])
                for rank in profile["ranks"]:
                    number = rank["rank"]
                    self.assertEqual(sorted(rank["sent"]), sorted([[(number + 1) % 5, 12, 101440], [(number + 2) % 5, 1, 1]]))
                far = profile["distances"]["between_hosts"]["messages"]
                self.assertEqual(far, 4 * 12 + 2 if turn else 2 * 12 + 4)
                trace = json.loads((folder / "one.trace").read_text())
                calls = [event for event in trace["traceEvents"] if event["ph"] == "X"]
                self.assertEqual((len(calls), len({event["pid"] for event in calls})), (195, 2))
                self.assertRegex(trace["otherData"]["h1"], r"its clock is that of the others to [\d.]+ (us|ms)")
                # A message is received after it was sent, as far as the clocks agree.
                ends = {kind: {event["id"]: event["ts"] for event in trace["traceEvents"] if event["ph"] == kind} for kind in "sf"}
                self.assertGreater(len(ends["s"]), 0)
                for number, sent in ends["s"].items():
                    self.assertGreater(ends["f"][number], sent - 2000)

    def test_profile_of_a_job_that_fails(self):
        profile, _, job = self.profile("abort", code=7)
        self.assertEqual([rank["sent"][0][1] for rank in profile["ranks"]], [1] * 5, job)
        self.assertEqual(profile["ranks"][4]["unfinished"]["call"], "MPI_Recv")

    def test_libfabric_calls_no_function_of_the_program(self):
        for ranks in ("fibers", "processes"):
            with self.subTest(ranks=ranks):
                job = self.run_job("--host", "h0:2,h1:1", "-n", 3, "--ranks", ranks, tool.BIN / "cluster_own_functions")
                self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "", ""), job)

    def test_prterun_of_open_mpi_starts_ranks(self):
        path = os.environ.get("CLUMP_PRTERUN", "")
        if not os.access(path, os.X_OK):
            self.skipTest("there is no prterun")
        prefix = str(pathlib.Path(path).resolve().parent.parent)
        prterun = lambda *words: on("h0", "env", f"PRTE_PREFIX={prefix}", f"PMIX_PREFIX={prefix}", path, "--allow-run-as-root",
                                    "--prefix", prefix, "-x", "PMIX_PREFIX", *words)
        for map_by in ("slot", "node"):
            with self.subTest(map_by=map_by):
                job = self.run_job("--host", "h0:2,h1:2", "--map-by", map_by, "-n", 4, tool.program("show"), command=prterun)
                self.assertEqual(job.returncode, 0, job)
                self.assertEqual(sorted(line[:3] for line in job.stdout.splitlines()), ["0 4", "1 4", "2 4", "3 4"])
                job = self.run_job("--host", "h0:2,h1:2", "--map-by", map_by, "-n", 4, tool.BIN / "mpi_collectives_reductions", command=prterun)
                self.assertEqual(job.returncode, 0, job)


if __name__ == "__main__":
    unittest.main()
