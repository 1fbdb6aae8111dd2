"""clump doctor --host: what it finds on hosts that cannot run jobs together, and that it finds nothing on others."""

import pathlib
import re
import subprocess
import unittest

import cluster
from cluster import CLUSTER, on, tool

setUpModule = cluster.skip_without_hosts


class Doctor(cluster.Case):
    def examine(self, hosts: str, code: int, **options) -> tuple:
        """The table, by host and column, and the problems by host."""
        job = self.run_job(hosts, command=lambda hosts: on("h0", tool.TOOLS / "clump", "doctor", "--host", hosts), **options)
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
        self.assertEqual(problems[0], "h1: agent does not reach it (exit code 255): ssh: connect to host h1 port 22: Connection refused")
        self.assertRegex(problems[1], "^h7: .*; no address is known for it$")
        self.assertEqual(len(problems), 2)

    def test_ssh_that_hangs(self):
        table, problems = self.examine("h0,h1", 1, env=self.agent('[ "$1" != h1 ] || { echo "password:"; exec sleep 1000; }'))
        self.assertEqual(table["h1"], self.row(reached="FAILS", Clump="-", **self.UNKNOWN))
        self.assertRegex(problems[0], r"^h1: agent has not come back within \d+ s: password:; is there a firewall, or a question .*")

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
        job = self.run_job("a:x", command=lambda hosts: on("h0", tool.TOOLS / "clump", "doctor", "--host", hosts))
        self.assertEqual((job.returncode, job.stdout), (2, ""))
        self.assertIn("the number of ranks behind ':' must be from 1 to", job.stderr)


if __name__ == "__main__":
    unittest.main()
