"""A root file system with Debian's MPI programs: this machine's root, with an overlay in which they are installed.

What is installed there is Debian's own packages, by this machine's apt and its sources. The machine itself stays as it is: all that is
written lies in the overlay's upper folder, and each command mounts the overlay in a mount namespace of its own, which ends with it.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sources import Missing, run_quietly

# Arguments: the folder of the overlay, the number of folders that are to be seen as they are, these, and the command.
MOUNT = r"""
set -e
top=$1 number=$2; shift 2
mount -t overlay overlay -o "lowerdir=/,upperdir=$top/upper,workdir=$top/work" "$top/root"
for shared in /proc /sys /dev; do mount --rbind $shared "$top/root$shared"; done
while [ "$number" -gt 0 ]; do mkdir -p "$top/root$1"; mount --rbind "$1" "$top/root$1"; shift; number=$((number - 1)); done
exec chroot "$top/root" "$@"
"""


@dataclass(frozen=True)
class Root:
    top: Path
    shared: tuple            # folders outside of the overlay: what is written there stays there

    def inside(self, *command):
        """The command that runs a command in this root."""
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", MOUNT, "sh", self.top, len(self.shared), *self.shared, *command]

    def output(self, *command):
        """(exit code, both of its outputs)"""
        done = subprocess.run(list(map(str, self.inside(*command))), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              check=False)
        return done.returncode, done.stdout.decode(errors="replace")


def make_root(top, shared, packages, log):
    """Installs the packages, once. Packages that the distribution does not have are left out."""
    if os.geteuid() != 0:
        raise Missing("it installs Debian's packages in an overlay of this machine's root, so it needs root: mount() and chroot()")
    for tool in ("apt-get", "unshare"):
        if shutil.which(tool) is None:
            raise Missing(f"{tool}: these programs are Debian's packages, installed in an overlay, so this needs Debian or Ubuntu with util-linux")
    for name in ("upper", "work", "root"):
        (top / name).mkdir(parents=True, exist_ok=True)
    root = Root(top, tuple(shared))
    code, text = root.output("true")
    if code != 0:
        raise Missing(f"an overlay of / cannot be mounted at {top / 'root'}: {text.strip()}")
    stamp = top / ".installed"
    if not stamp.exists() or stamp.read_text() != " ".join(packages):
        install(root, packages, log)
        stamp.write_text(" ".join(packages))
    return root


def install(root, packages, log):
    # No service is started in there.
    policy = root.top / "upper/usr/sbin/policy-rc.d"
    policy.parent.mkdir(parents=True, exist_ok=True)
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    if not any((root.top / "upper/var/lib/apt/lists").glob("*Packages*")):
        run_quietly(root.inside("apt-get", "-q", "update"), log)
    known = set(root.output("apt-cache", "pkgnames")[1].split())
    wanted = [name for name in packages if name in known]
    if not wanted:
        raise Missing(f"apt-cache knows none of {', '.join(packages)}: is this Debian or Ubuntu, with its archive among apt's sources?")
    run_quietly(root.inside("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-q", "-y", "--no-install-recommends", *wanted), log)
