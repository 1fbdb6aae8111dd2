"""What a test uses, as a digest: its own words and the state of files. Two digests that are equal say that a test would do the same again.

A file's state is its size and time of change; a file that is gone or new changes the digest, too. The environment's variables that programs and MPI libraries
obey count; so do the peers and the Python packages that setup installed.
"""

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parent.parent.parent
# Tests that look at the whole of the repository.
LOOK_EVERYWHERE = re.compile(r"(abi|bench|docs|install|lab|layering|real|run)\.")
# Libraries, and the tools that tests and other tools start.
PRODUCT = ("lib/*.so*", "bin/mpiexec", "bin/mpirun", "bin/mpicc", "bin/mpicxx", "bin/mpifort", "bin/clump", "bin/clump-*", "include/mpi.h")
# What the first set of tests is built without: its tests do the same where these are there.
BINDINGS = ("lib/libmpifort_abi.so*", "lib/clump/**/*.so*")
# Scripts of one folder import those of others. What is compiled counts by what is made of it.
COMPILED = re.compile(r"\.(c|cc|h|S|f|f90|F90)$")
NOT_FOR_SCRIPTS = re.compile(r"(docs|lab|bench|packaging|examples|src)/")
VARIABLES = re.compile(r"(CLUMP|FI|GLIBC|LD|MALLOC|MPI|OMP|OMPI|PMI|PMIX|PRTE)_")


class Test(NamedTuple):
    """As ctest knows it; the command is what is measured."""
    number: int
    name: str
    command: list
    properties: dict

    @property
    def labels(self):
        return self.properties.get("LABELS", [])

    @property
    def required(self):
        return self.properties.get("REQUIRED_FILES", [])

    def words(self):
        """All that may name files and folders."""
        return [*self.command, *self.properties.get("ENVIRONMENT", []), self.properties.get("WORKING_DIRECTORY", "")]


def tests_of(build):
    """All tests of a build tree."""
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True).stdout
    found = []
    for number, entry in enumerate(json.loads(listed)["tests"], start=1):
        command = entry.get("command", [])
        if command and command[0].endswith("/clump_measured"):
            command = command[2:]  # without the file that it writes
        found.append(Test(number, entry["name"], command, {each["name"]: each["value"] for each in entry.get("properties", [])}))
    return found


def named_files(test):
    """The files that a test names, whether they are there or not."""
    return {path for path in [*test.command, *test.required] if path.startswith("/") and not Path(path).is_dir()}


def says_what_it_needs(test, build):
    """A script that is told where the build tree is starts programs that its command does not show: it has to list them in REQUIRED_FILES."""
    told = any(re.search(re.escape(build) + r"(/bin|/include|/lib|/examples)?/?(:|$)", word) for word in test.words()[:-1])
    return bool(test.required) or not told


def state(paths):
    found = []
    for path in sorted(map(str, paths)):
        try:
            info = os.stat(path)
            found.append((path, info.st_size, info.st_mtime_ns))
        except OSError:
            found.append((path, None, None))
    return found


def digest_of(*values):
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def files_of_repository():
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True, text=True)
    return [name for name in listed.stdout.split("\0") if name]


class Inputs:
    """The digests of the tests of a build tree, at the time when this is made."""

    def __init__(self, build, files=None):
        self.build = str(build)
        files = files_of_repository() if files is None else files
        gdb = [SOURCE / name for name in files if name.startswith("tools/gdb/")]  # which the libraries lead to
        installed = (SOURCE / ".cache").glob("**/.made") if (SOURCE / ".cache").is_dir() else ()
        bindings = {path for pattern in BINDINGS for path in Path(build).glob(pattern)}
        self.product = state([*({path for pattern in PRODUCT for path in Path(build).glob(pattern)} - bindings), *gdb, *installed])
        self.bindings = state(bindings)
        self.scripts = state(SOURCE / name for name in files if not COMPILED.search(name) and not NOT_FOR_SCRIPTS.match(name))
        self.everything = state([*(SOURCE / name for name in files), *Path(build).glob("bin/*")])
        self.variables = {name: value for name, value in os.environ.items() if VARIABLES.match(name) and name != "CLUMP_JOBS"}
        self.parts = {name: digest_of(getattr(self, name)) for name in ("product", "bindings", "scripts", "everything", "variables")}

    def is_script(self, test):
        outside = re.compile(re.escape(f"{SOURCE}/") + "(?!" + re.escape(os.path.relpath(self.build, SOURCE)) + "(/|$))")
        return any(outside.search(word) for word in test.words())

    def digest(self, test, quick=False):
        """quick: it is a test of the first set."""
        uses = ["variables"]
        if not test.name.startswith("unit."):
            uses.append("product")
            if not quick:
                uses.append("bindings")
        if LOOK_EVERYWHERE.match(test.name) or not says_what_it_needs(test, self.build):
            uses.append("everything")
        elif self.is_script(test):
            uses.append("scripts")
        return digest_of(test.name, test.command, test.properties, state(named_files(test)), *(self.parts[part] for part in uses))
