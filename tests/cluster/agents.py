"""A stand-in for ssh that behaves as a test says, for each host."""

import pathlib
import tempfile

from cluster import CLUSTER, on, tool

SCRIPT = """\
#!/bin/sh
# In place of ssh: agent [options] HOST CMD...
while [ "${1#-}" != "$1" ]; do shift; done
case $(cat "%(folder)s/$1" 2>/dev/null) in
  fails) echo "ssh: connect to host $1 port 22: Connection refused" >&2; exit 255 ;;
  hangs) exec sleep 1000 ;;
  talks) echo "Welcome to $1" ;;
  dies) "%(works)s" "$@" & sleep 1; kill -KILL $!; exit 255 ;;
esac
exec "%(works)s" "$@"
"""


class Agent:
    """`Agent(case, h1="hangs")`: the other hosts' work."""

    def __init__(self, case, **behaviour):
        made = tempfile.TemporaryDirectory()
        case.addCleanup(made.cleanup)
        folder = pathlib.Path(made.name)
        for host, what in behaviour.items():
            (folder / host).write_text(what)
        self.path = folder / "agent"
        self.path.write_text(SCRIPT % {"folder": folder, "works": f"{CLUSTER}/agent"})
        self.path.chmod(0o755)

    def mpiexec(self, *words: object) -> list:
        return on("h0", "env", f"PRTE_MCA_plm_ssh_agent={self.path}", tool.BIN / "mpiexec", *words)
