"""clump doctor --host: what it finds on hosts that cannot run jobs together, and that it finds nothing on others."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import cluster
from cluster import CLUSTER, ip, on, tool
from launchers_test import STEP

setUpModule = cluster.skip_without_hosts


class Doctor(cluster.Case):
    def doctor(self, *words: object, **options) -> subprocess.CompletedProcess:
        return self.run_job(*words, command=lambda *words: on("h0", tool.TOOLS / "clump", "doctor", *words), **options)

    def examine(self, hosts: str, code: int, *words: object, **options) -> tuple:
        """The table, by host and column, and the problems by host."""
        job = self.doctor(*(["--host", hosts] if hosts else []), *words, **options)
        self.assertEqual((job.returncode, job.stderr), (code, ""), job)
        title, *lines = job.stdout.splitlines()
        titles = re.split("  +", title)
        self.assertEqual(titles, ["host", "reached", "Clump", "directory", "to here", "from here", "to others"])
        table = {cells[0]: dict(zip(titles[1:], cells[1:])) for cells in (line.split() for line in lines if not line.startswith("PROBLEM"))}
        problems = [line.removeprefix("PROBLEM  ") for line in lines if line.startswith("PROBLEM")]
        return table, problems

    def row(self, **different: str) -> dict:
        all_good = dict.fromkeys(["reached", "Clump", "directory", "to here", "from here", "to others"], "ok")
        return {**all_good, **{name.replace("_", " "): value for name, value in different.items()}}

    HERE = {"reached": "here", "to_here": "-", "from_here": "-"}
    UNKNOWN = {"directory": "-", "to_here": "-", "from_here": "-", "to_others": "-"}

    def test_hosts_that_are_well(self):
        table, problems = self.examine("h0,h1,h2,10.77.0.3,localhost", 0)
        self.assertEqual(problems, [])
        self.assertEqual(table, {"h0": self.row(**self.HERE), "h1": self.row(), "h2": self.row()})

    def test_one_other_host(self):
        table, problems = self.examine("h1", 0)
        self.assertEqual((table, problems), ({"h1": self.row(to_others="-")}, []))

    def test_what_ssh_says(self):
        env = self.agent('[ "$1" != h1 ] || { echo "ssh: connect to host h1 port 22: Connection refused" >&2; exit 255; }')
        table, problems = self.examine("h0,h1,h2,h7", 1, env=env)
        self.assertEqual(table["h0"], self.row(**self.HERE))
        self.assertEqual(table["h1"], self.row(reached="FAILS", Clump="-", **self.UNKNOWN))
        self.assertEqual(table["h2"], self.row())
        self.assertEqual(problems[0], "h1: agent (PRTE_MCA_plm_ssh_agent) does not reach it (exit code 255): ssh: connect to host h1 port 22: Connection refused")
        self.assertRegex(problems[1], "^h7: .*; no address is known for it$")
        self.assertEqual(len(problems), 2)

    def test_ssh_that_hangs(self):
        table, problems = self.examine("h0,h1", 1, env=self.agent('[ "$1" != h1 ] || { echo "password:"; exec sleep 1000; }'))
        self.assertEqual(table["h1"], self.row(reached="FAILS", Clump="-", **self.UNKNOWN))
        self.assertRegex(problems[0], r"^h1: agent \(PRTE_MCA_plm_ssh_agent\) has not come back within \d+ s: password:; is there a firewall, or a question .*")

    def test_what_is_missing(self):
        here = self.folder()
        self.hide("h1", tool.TOOLS.resolve())
        self.hide("h2", here)
        (here / "work").mkdir()
        table, problems = self.examine("h1,h2,h3", 1, cwd=here / "work")
        self.assertEqual(table["h1"], self.row(Clump="FAILS", **self.UNKNOWN))
        self.assertEqual(table["h2"], self.row(directory="FAILS"))
        self.assertEqual(table["h3"], self.row())
        self.assertRegex(problems[0], "^h1: Clump cannot be run there .*mpiexec: not found.*: install it at the same path as here, .*$")
        self.assertEqual(problems[1], f"h2: directory {here}/work: No such file or directory")
        self.assertEqual(len(problems), 2)

    def test_a_firewall_between_two_hosts(self):
        prefix = pathlib.Path(CLUSTER, "prefix").read_text().strip()
        for what, host, other in ("unreachable", "h1", "10.77.0.3"), ("blackhole", "h2", "10.77.0.1"):
            subprocess.run(["ip", "-n", f"{prefix}-{host}", "route", "add", what, f"{other}/32"], check=True)
            self.addCleanup(subprocess.run, ["ip", "-n", f"{prefix}-{host}", "route", "del", what, f"{other}/32"], check=True)
        table, problems = self.examine("h0,h1,h2", 1)
        self.assertEqual(table["h0"], self.row(**self.HERE, to_others="FAILS"))
        self.assertEqual(table["h1"], self.row(to_others="FAILS"))
        self.assertEqual(table["h2"], self.row(to_here="FAILS", from_here="FAILS", to_others="FAILS"))
        self.assertTrue(any(re.match(r"h1: no way to h2: 10\.77\.0\.3 port \d+: No route to host", one) for one in problems), problems)
        self.assertTrue(any(re.match(r"h0: no way to h2: 10\.77\.0\.3 port \d+: no answer within \d+ s", one) for one in problems), problems)

    def test_a_list_that_is_none(self):
        job = self.doctor("--host", "a:x")
        self.assertEqual((job.returncode, job.stdout), (2, ""))
        self.assertIn("the number of ranks behind ':' must be from 1 to", job.stderr)

    def test_the_options_of_jobs(self):
        """Hosts, their networks and their launcher are named as for mpiexec, and by the same variables."""
        file = self.folder() / "hosts"
        file.write_text("h1 slots=2  # the first\nh2:4\n")
        both = {"h1": self.row(), "h2": self.row()}
        for words in (["--hostfile", file], ["-f", file], ["--machinefile", file], ["--host", "h1, h2"], ["-H", "h1", "--hosts=h2"]):
            with self.subTest(words):
                self.assertEqual(self.examine("", 0, *words), (both, []))
        self.assertEqual(self.examine("", 0, "--rmk", "pbs", env={**os.environ, "PBS_NODEFILE": self.given("h1\nh2\n")}), (both, []))
        step = self.folder() / "srun"
        step.write_text(f"#!/bin/sh\necho here >>{step}.log\n{STEP}\n")
        step.chmod(0o755)
        self.assertEqual(self.examine("h1,h2", 0, "--launcher", "slurm", "--launcher-exec", step), (both, []))
        self.assertEqual(pathlib.Path(f"{step}.log").read_text(), "here\nhere\n")
        job = self.doctor("--launcher", "sh", "--host", "h1")
        self.assertEqual((job.returncode, job.stdout), (2, ""), job)
        self.assertIn("--launcher sh: there is no such launcher", job.stderr)
        job = self.doctor("--launcher", "ssh")
        self.assertEqual((job.returncode, job.stdout), (2, ""), job)
        self.assertIn("no host is named", job.stderr)

    def given(self, text: str) -> str:
        path = self.folder() / "given"
        path.write_text(text)
        return str(path)

    def test_where_clump_is_there(self):
        self.hide("h1", tool.TOOLS.resolve())
        there = self.folder() / "bin"
        there.mkdir()
        shutil.copy2(tool.TOOLS / "mpiexec", there)
        self.assertEqual(self.examine("h1,h2", 0, "--prefix", there.parent), ({"h1": self.row(), "h2": self.row()}, []))

    def test_the_network_of_the_job(self):
        for words, env in ((("--iface", "ib0"), {}), ((), {"HYDRA_IFACE": "ib0"})):
            job = self.doctor("--host", "h1", *words, env={**os.environ, **env})
            self.assertEqual((job.returncode, job.stdout), (1, ""), job)
            self.assertRegex(job.stderr, r"^clump: (--iface |HYDRA_IFACE=)ib0: no address that other hosts reach is there; there are 10\.77\.0\.1\n$")
        ip("h0", "link", "add", "only0", "type", "bridge")
        self.addCleanup(ip, "h0", "link", "del", "only0")
        ip("h0", "addr", "add", "10.79.0.1/24", "dev", "only0")
        ip("h0", "link", "set", "only0", "up")
        table, problems = self.examine("h1", 1, "--iface", "only0")
        self.assertEqual(table["h1"], self.row(to_here="FAILS", from_here="-", to_others="FAILS"))
        self.assertTrue(any(one.startswith("h1: no address is at its interface only0; there are 10.77.0.2") for one in problems), problems)
        self.assertEqual(self.examine("h1,h2", 0, "--iface", "eth0"), ({"h1": self.row(), "h2": self.row()}, []))

    def test_hosts_that_others_start(self):
        """As in a job of more hosts than mpiexec starts itself: h3 is reached through h1, or h2."""
        env = self.agent(f'echo "$CLUMP_CLUSTER_HOST $1" >>{self.folder()}/log')
        log = pathlib.Path(re.search(r">>(\S+)", pathlib.Path(env["CLUSTER_AGENT"]).read_text())[1])
        env |= {"CLUMP_TREE_WIDTH": "1", "PRTE_MCA_plm_ssh_agent": env["CLUSTER_AGENT"]}
        self.assertEqual(self.examine("h1,h2,h3", 0, env=env), ({host: self.row() for host in ("h1", "h2", "h3")}, []))
        self.assertEqual(sorted(set(log.read_text().splitlines())), ["h0 h1", "h1 h2", "h2 h3"])
        env = {**self.agent('[ "$CLUMP_CLUSTER_HOST $1" != "h1 h2" ] || { echo "ssh: no key" >&2; exit 255; }'), "CLUMP_TREE_WIDTH": "1"}
        table, problems = self.examine("h1,h2", 1, env=env)
        self.assertEqual((table["h1"], table["h2"]["reached"]), (self.row(to_others="-"), "FAILS"))
        self.assertEqual(problems, ["h2: agent (PRTE_MCA_plm_ssh_agent) on h1 does not reach it (exit code 255): ssh: no key; with CLUMP_TREE_WIDTH=2 mpiexec starts all hosts itself"])


if __name__ == "__main__":
    unittest.main()
