"""system.py [options] RELEASE...: does this tree build and run on another release of Debian?

For each release (bookworm or 12, trixie or 13, sid): makes a clean root by debootstrap, once; installs there, as root, what
`./dev setup --cluster --list` names; clones the committed tree; and runs README's commands there as a user without sudo. Needs root and debootstrap; takes as
long as the commands do, on a machine like this.

The root is in .cache/systems/RELEASE, what was printed in .cache/systems/RELEASE.NAME.log. Packages come from where this machine's apt has them
from, its configuration is there only while a command runs, and logs do not name the host.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
SYSTEMS = TREE / ".cache" / "systems"
RELEASES = {"12": "bookworm", "13": "trixie"}
USER = 1000
HOME = "/srv/user"
# In a mount and process namespace of its own, which ends with the command: what a system has in /proc, /dev and /sys, and this machine's way to
# packages ("way"), beside the root.
ENTER = r"""
set -e
root=$1 way=$2
shift 2
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs tmpfs var/lib/apt/lists  # whose names have the host's
for file in etc/resolv.conf etc/hosts; do [ ! -e "/$file" ] || { [ -e "$file" ] || : >"$file"; mount --bind "/$file" "$file"; }; done
for folder in etc/apt/sources.list.d etc/apt/apt.conf.d etc/apt/auth.conf.d; do mkdir -p "$folder"; mount --bind "$way/$folder" "$folder"; done
[ ! -d etc/ssl/certs ] || [ ! -d /etc/ssl/certs ] || mount --bind /etc/ssl/certs etc/ssl/certs
exec chroot "$@"
"""


def die(text):
    sys.exit(f"system.py: {text}")


def without_hosts(text):
    return re.sub(r"(\w+://)[^/\s'\"]+", r"\1HOST", text)


def run(command, log, environment=None):
    """Runs a command; its output, without names of hosts, goes to the log. Returns its exit code."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors="replace",
                          env=environment) as process, open(log, "a", encoding="utf-8") as file:
        for line in process.stdout:
            file.write(without_hosts(line))
            file.flush()
    return process.returncode


def mirror():
    """Where this machine's apt has Debian from."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(COMPONENT)", "Created-By: Packages"], capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        place, component = line.split()
        if component == "main" and re.search(r"/debian/?$", place):
            return place
    die("apt has no source that ends in /debian with the component main")


class System:
    """The clean root of one release."""

    def __init__(self, release, way):
        self.release = release
        self.root = SYSTEMS / release
        self.way = way

    def log(self, name):
        return SYSTEMS / f"{self.release}.{name}.log"

    def enter(self, command, log, user=None, environment=()):
        """Runs a shell command in the root, as root or as `user` in the clone."""
        chroot = ["--userspec=%d:%d" % (user, user)] if user else []
        home = HOME if user else "/root"
        values = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home, "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        values |= {name: value for name, value in os.environ.items() if name.lower() in ("http_proxy", "https_proxy", "no_proxy", "pip_index_url", "pip_cert", "ssl_cert_file")}
        values |= dict(environment)
        return run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh", str(self.root), str(self.way / self.release), *chroot, str(self.root),
                    "/bin/sh", "-c", command], log, values)

    def offer_packages(self, place):
        way = self.way / self.release / "etc" / "apt"
        for folder in ("sources.list.d", "apt.conf.d", "auth.conf.d"):
            (way / folder).mkdir(parents=True, exist_ok=True)
        for folder in ("apt.conf.d", "auth.conf.d"):
            for file in (Path("/etc/apt") / folder).glob("*"):
                shutil.copy(file, way / folder)
        (way / "sources.list.d" / "debian.list").write_text(f"deb {place} {self.release} main\n", encoding="utf-8")

    def make(self, place):
        """Makes the root, unless it is there."""
        made = self.root / ".made"
        self.offer_packages(place)
        if made.exists():
            return
        shutil.rmtree(self.root, ignore_errors=True)
        print(f"{self.release}: making {self.root.relative_to(TREE)}", flush=True)
        log = self.log("root")
        if run(["debootstrap", "--variant=minbase", "--include=ca-certificates,git", self.release, str(self.root), place], log) != 0:
            die(f"debootstrap failed: {log}")
        for trace in ("etc/apt/sources.list", "var/log/bootstrap.log"):
            (self.root / trace).unlink(missing_ok=True)
        for file in (self.root / "var/lib/apt/lists").glob("*_*"):
            file.unlink()
        if self.enter(f"useradd --create-home --home-dir {HOME} --uid {USER} user", log) != 0:
            die(f"no user: {log}")
        made.touch()

    def clone(self, name):
        """A clone of the committed tree that belongs to the user."""
        place = self.root / HOME[1:] / name
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(TREE), str(place)], check=True)
        subprocess.run(["chown", "-R", f"{USER}:{USER}", str(place)], check=True)

    def install(self, extra):
        """What the build and the tests want, as its administrator would: as root, before."""
        log = self.log("packages")
        log.unlink(missing_ok=True)
        list_file = self.root / HOME[1:] / "list"
        if self.enter(f"cd {HOME}/clump && ./dev setup --cluster --list >{HOME}/list", log, USER) != 0:
            die(f"./dev setup --list failed: {log}")
        packages = shlex.join([*list_file.read_text(encoding="utf-8").split(), *extra])
        if packages and self.enter(f"apt-get -q update && apt-get -q -y --no-install-recommends install {packages}", log) != 0:
            die(f"{self.release}: the packages cannot be installed: {log}")


def try_release(system, commands, extra, environment):
    """Runs the commands one after the other; returns how many failed."""
    system.clone("clump")
    system.install(extra)
    failed = 0
    for command in commands:
        name = re.sub(r"\W+", "-", command).strip("-")
        log = system.log(name)
        log.unlink(missing_ok=True)
        print(f"{system.release}: ./dev {command}", flush=True)
        begin = time.monotonic()
        code = system.enter(f"cd {HOME}/clump && ./dev {command}", log, USER, environment)
        seconds = time.monotonic() - begin
        last = [line.strip() for line in log.read_text(encoding="utf-8").splitlines() if line.strip()][-1:]
        print(f"{system.release}: ./dev {command}: code {code} after {seconds:.0f} s: {''.join(last)} ({log.relative_to(TREE)})", flush=True)
        failed += code != 0
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", nargs="+", help="12, 13, or Debian's name of a release, such as trixie or sid")
    parser.add_argument("--command", action="append", metavar="'WORDS'", help="words for ./dev, instead of 'demo' and then 'test'; may be given more than once")
    parser.add_argument("--clang", action="store_true", help="with the release's clang instead of its GCC")
    parser.add_argument("--fresh", action="store_true", help="makes the root anew")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        die("a root of a system is made and entered as root")
    if shutil.which("debootstrap") is None:
        die("there is no debootstrap: 'apt-get install debootstrap'")
    SYSTEMS.mkdir(parents=True, exist_ok=True)
    extra, environment = (["clang"], {"CC": "clang", "CXX": "clang++"}) if arguments.clang else ([], {})
    failed = 0
    place = mirror()
    with tempfile.TemporaryDirectory() as way:
        for release in arguments.release:
            system = System(RELEASES.get(release, release), Path(way))
            if arguments.fresh:
                shutil.rmtree(system.root, ignore_errors=True)
            system.make(place)
            failed += try_release(system, arguments.command or ["demo", "test"], extra, environment)
    return 1 if failed else 0


sys.exit(main())
