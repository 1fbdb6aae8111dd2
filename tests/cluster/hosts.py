"""Hosts made of network namespaces (hosts.sh), and how jobs are started on them."""

import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().with_name("hosts.sh")


class Unavailable(Exception):
    """This machine or this user cannot have such hosts; why was printed."""


class Hosts:
    """`with Hosts(...)` makes them; they are removed at its end, and also when this process is killed. Without `with` they are those that
    somebody else has made in this folder."""

    def __init__(self, folder, number=0, rate="none"):
        self.folder, self.number, self.rate = Path(folder).resolve(), number, rate
        self.keeper = None

    def __enter__(self):
        # A session of its own, so that Ctrl-C reaches this process alone.
        self.keeper = subprocess.Popen([SCRIPT, "keep", self.folder, str(self.number), self.rate], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, start_new_session=True)
        if self.keeper.stdout.readline() != b"up\n":
            self.__exit__()
            raise Unavailable("there can be no hosts made of network namespaces here")
        return self

    def __exit__(self, *_):
        self.keeper.stdin.close()
        self.keeper.stdout.close()
        self.keeper.wait()

    def names(self):
        return [f"h{i}" for i in range(self.number)]

    def on(self, host, *words):
        """A command on a host, from where it can start others, by CLUSTER_AGENT in ssh's place if that is set."""
        set_up = f'PRTE_MCA_plm_ssh_agent="${{CLUSTER_AGENT:-{self.folder}/agent}}" exec "$@"'
        return [str(SCRIPT), "run", str(self.folder), host, "sh", "-c", set_up, "sh", *map(str, words)]
