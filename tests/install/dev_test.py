"""`./dev` where people call it: in a folder with a space in its name, without network, without a home that can be written to, behind a proxy."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(__file__).parents[2]
CAN_UNSHARE = subprocess.run(["unshare", "--net", "--map-root-user", "true"], capture_output=True, check=False).returncode == 0


class Dev(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="with space ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tree = self.folder / "the tree"
        for name in ("dev", *(f"{stem}.{end}" for stem in ("gen/requirements", "bench/requirements/mpich") for end in ("in", "txt"))):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, self.tree / name)

    def tool(self, name, text):
        """A command that comes first in PATH."""
        path = self.folder / "tools" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/bash\n" + text + "\n")
        path.chmod(0o755)

    def run_dev(self, *words, before=(), **variables):
        env = {"PATH": f"{self.folder}/tools:{os.environ['PATH']}", "LANG": "C.UTF-8", "HOME": "/nonexistent", **variables}
        return subprocess.run([*before, self.tree / "dev", *words], capture_output=True, text=True, env=env, cwd=self.folder, check=False)

    @unittest.skipUnless(CAN_UNSHARE, "no namespaces of networks here")
    def test_all_is_there(self):
        """Then neither network nor home nor root is needed, and nothing is said."""
        (self.tree / ".cache").mkdir()
        for name in ("venv", "peers"):
            if not (SOURCE / ".cache" / name).exists():
                self.skipTest("'./dev setup' was not called here")
            (self.tree / ".cache" / name).symlink_to(SOURCE / ".cache" / name)
        self.tool("dpkg-query", 'exec /usr/bin/dpkg-query "$@"')
        self.tool("sudo", "echo called >&2; exit 1")
        if missing := self.run_dev("setup", "--list").stdout.split():
            self.skipTest(f"not installed: {missing}")
        for home in ({}, {"HOME": "/proc"}):
            done = self.run_dev("setup", before=("unshare", "--net", "--map-root-user"), **home)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_proxies_reach_apt(self):
        """sudo begins with an environment of its own."""
        self.tool("dpkg-query", "echo 'installed nothing, '")
        self.tool("id", "echo 1000")
        self.tool("sudo", 'exec env -i PATH="$PATH" "$@"')
        self.tool("apt-get", f'echo "$* $http_proxy $HTTPS_PROXY $no_proxy" >>"{self.folder}/called"; [ "$2" = update ]')
        done = self.run_dev("setup", http_proxy="http://proxy.invalid:3128", HTTPS_PROXY="http://two words.invalid", no_proxy="localhost")
        self.assertNotEqual(done.returncode, 0)  # our apt-get installs nothing
        update, install = (self.folder / "called").read_text().splitlines()
        for line in (update, install):
            self.assertTrue(line.endswith(" http://proxy.invalid:3128 http://two words.invalid localhost"), line)
        self.assertIn(" --no-install-recommends install build-essential", install)

    def test_sudo_without_proxies(self):
        """Where there is nothing to pass on, sudo is asked for apt-get itself."""
        self.tool("dpkg-query", "echo 'installed nothing, '")
        self.tool("id", "echo 1000")
        self.tool("sudo", f'echo "$*" >>"{self.folder}/called"; exit 1')
        self.tool("apt-get", "exit 1")
        self.assertNotEqual(self.run_dev("setup").returncode, 0)
        self.assertEqual((self.folder / "called").read_text(), "apt-get -q update\n")

    def test_what_is_missing_without_sudo(self):
        """It is named so that a shell takes it, and nothing is tried."""
        self.tool("dpkg-query", "echo 'installed nothing, '")
        self.tool("id", "echo 1000")
        self.tool("apt-get", f'echo "$@" >"{self.folder}/called"')
        bin_ = self.folder / "no sudo"
        bin_.mkdir()
        for name in ("bash", "env", "readlink", "dirname", "sed", "tr", "grep", "cat", "nproc", "mkdir"):
            (bin_ / name).symlink_to(shutil.which(name))
        done = self.run_dev("setup", PATH=f"{self.folder}/tools:{bin_}")
        self.assertEqual(done.returncode, 1, done)
        [command] = [line for line in done.stderr.splitlines() if "apt-get install" in line]
        shown = subprocess.run(["bash", "-c", "printf '%s\\n' " + command.split("--no-install-recommends ")[1].rstrip("'")], capture_output=True, text=True, check=True)
        self.assertIn("^libscotch-7[.]0c?$", shown.stdout.split("\n"))
        self.assertFalse((self.folder / "called").exists())

    def test_no_other_mpi_library_comes_with_what_is_needed(self):
        """By apt's lists, if it has some: what would be installed on a system that has nothing."""
        self.tool("dpkg-query", "echo 'installed nothing, '")
        packages = self.run_dev("setup", "--list").stdout.split()
        self.assertIn("libpmix-dev", packages)
        status = self.folder / "status"
        status.write_text("")
        done = subprocess.run(["apt-get", "-o", f"Dir::State::status={status}", "-s", "--no-install-recommends", "install", *packages], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest("apt does not know the packages: 'apt-get update'")
        names = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("Inst ")]
        self.assertGreater(len(names), 50)
        self.assertFalse([name for name in names if "openmpi" in name or "mpich" in name or name.startswith("mpi-")])

    def test_lists(self):
        """Each of Python's packages that ./dev installs has one version and hashes of its files, and all that is wanted is there."""
        lists = [SOURCE / f"{stem}.in" for stem in re.findall(r"(?<= )(?:\w+/)+requirements\b(?!/)", (SOURCE / "dev").read_text())]
        lists += (SOURCE / "bench/requirements").glob("*.in")
        self.assertEqual(len({path for path in lists if path.exists()}), 7, lists)
        for path in filter(pathlib.Path.exists, lists):
            wanted = re.findall(r"^[a-z].*", path.read_text(), re.M)
            blocks = re.split(r"\n(?=\S)", path.with_suffix(".txt").read_text().partition("\n")[2].strip())
            with self.subTest(path):
                for block in blocks:
                    self.assertRegex(block, r"^[a-z0-9-]+==[\w.]+( ; [^\n]*)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\\n)?)+$")
                self.assertLessEqual(set(wanted), {block.split()[0] for block in blocks})

    def test_wrong_hash(self):
        """A wheel that is not the one of the list is not installed."""
        wheels = tempfile.TemporaryDirectory(prefix="wheels-")  # pip takes no blank in the name of a folder
        self.addCleanup(wheels.cleanup)
        wheel = pathlib.Path(wheels.name) / "clump_probe-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("clump_probe.py", "")
            archive.writestr("clump_probe-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: clump-probe\nVersion: 1.0\n")
            archive.writestr("clump_probe-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr("clump_probe-1.0.dist-info/RECORD", "clump_probe.py,,\nclump_probe-1.0.dist-info/METADATA,,\nclump_probe-1.0.dist-info/WHEEL,,\nclump_probe-1.0.dist-info/RECORD,,\n")
        functions = (self.tree / "dev").read_text().partition("\ncommand=")[0]
        (self.tree / "functions").write_text(f'{functions}\nmake_venv "$called_from/venv" "$called_from/list"\n')
        (self.folder / "list.in").write_text("clump-probe==1.0\n")
        (self.folder / "list.txt").write_text(f"clump-probe==1.0 \\\n    --hash=sha256:{hashlib.sha256(b'another').hexdigest()}\n")
        done = subprocess.run(["bash", self.tree / "functions"], capture_output=True, text=True, check=False, cwd=self.folder,
                              env={**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": wheels.name})
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("DO NOT MATCH THE HASHES", done.stderr)
        self.assertIn(hashlib.sha256(wheel.read_bytes()).hexdigest(), done.stderr)  # which it has


if __name__ == "__main__":
    unittest.main()
