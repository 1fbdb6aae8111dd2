"""Sources and packages of the distribution, fetched without installing anything and without touching the system's own configuration."""

import os
import shutil
import subprocess
from pathlib import Path

import leash


class Missing(Exception):
    """Something that is needed cannot be had; says what, and what to do."""


def run_quietly(command, log, **options):
    """Runs a command with its output in a file; Missing with the end of that file if it fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as output:
        code = leash.run(command, stdout=output, stderr=subprocess.STDOUT, **options)
    if code != 0:
        end = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise Missing(f"exit code {code} from: {' '.join(map(str, command))[:300]}\n{end}\n(whole output: {log})")


class Archive:
    """apt with a configuration of its own: the sources of packages are enabled in it, and all that it writes is in one folder."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = dict(os.environ, APT_CONFIG=str(folder / "apt.conf"), LC_ALL="C")
        self.updated = False

    def get(self, *words, where):
        if not self.updated:
            self.update()
        where.mkdir(parents=True, exist_ok=True)
        run_quietly(["apt-get", "-q", *words], self.folder / "last.log", env=self.environment, cwd=where)

    def update(self):
        if shutil.which("apt-get") is None:
            raise Missing("apt-get: these programs come from the sources of Debian's packages, so this needs Debian or Ubuntu")
        for name in ("sources", "lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for path in [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]:
            if path.suffix in (".list", ".sources") and path.is_file():
                (self.folder / "sources" / path.name).write_text(with_sources(path.read_text(), path.suffix))
        (self.folder / "apt.conf").write_text(
            f'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "{self.folder}/sources";\nDir::State::lists "{self.folder}/lists";\n'
            f'Dir::Cache "{self.folder}/cache";\nAPT::Sandbox::User "root";\nAcquire::Languages "none";\n')
        run_quietly(["apt-get", "-q", "update"], self.folder / "update.log", env=self.environment)
        self.updated = True

    def source(self, package, folder, members=()):
        """The unpacked upstream sources of a package (or some members of them), as (folder, version)."""
        stamp = folder / ".unpacked"
        if not stamp.exists():
            downloads = self.folder / "downloads"
            self.get("source", "--download-only", "--tar-only", package, where=downloads)
            tarball = max(downloads.glob(f"{package}_*.orig.tar.*"), key=lambda path: path.stat().st_mtime)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            top = members and [tarball_top(tarball) + member for member in members]
            run_quietly(["tar", "-xf", tarball, "-C", folder, "--strip-components", "1", *top], self.folder / "last.log")
            stamp.write_text(tarball.name.partition("_")[2].partition(".orig.")[0])
        return folder, stamp.read_text()

    def packages(self, names, folder):
        """The files of binary packages, unpacked below a folder instead of installed."""
        stamp = folder / ".unpacked"
        if not stamp.exists() or stamp.read_text() != " ".join(names):
            shutil.rmtree(folder, ignore_errors=True)
            downloads = self.folder / "packages"
            shutil.rmtree(downloads, ignore_errors=True)
            self.get("download", *names, where=downloads)
            for package in downloads.glob("*.deb"):
                run_quietly(["dpkg", "-x", package, folder], self.folder / "last.log")
            stamp.write_text(" ".join(names))
        return folder


def with_sources(text, suffix):
    """The content of a file below /etc/apt with the sources of every package enabled beside the packages themselves."""
    lines = []
    for line in text.splitlines():
        if suffix == ".sources" and line.lower().startswith("types:"):
            line = "Types: deb deb-src"
        lines.append(line)
        if suffix == ".list" and line.startswith("deb "):
            lines.append("deb-src " + line[len("deb "):])
    return "\n".join(lines) + "\n"


def tarball_top(tarball):
    """The name of the one folder in which everything of a tarball lies, with a slash."""
    with subprocess.Popen(["tar", "-tf", str(tarball)], stdout=subprocess.PIPE, text=True) as listing:
        first = listing.stdout.readline().strip()
        listing.kill()
    return first.partition("/")[0] + "/"
