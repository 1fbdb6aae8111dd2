"""What run.py measures between hosts, and how each MPI library starts a program there. The hosts are those of tests/cluster/hosts.sh, joined
by a network that the kernel makes; each has one core, which hosts share if there are more of them than cores."""

import sys

from libraries import HERE, SHARING, Library, begin, compile_openmpi_programs, compile_standard_programs
from measurements import CROWDED, Measurement, run_timed_program

sys.path.insert(0, str(HERE.parent / "tests/cluster"))
from hosts import Hosts, Unavailable  # noqa: E402

HOSTS = 4
PEERS = ["mpich", "openmpi"]
SETTINGS = {
    # UCX takes hosts of one machine for one host, and would go through the memory that they share.
    "mpich": {"UCX_TLS": "tcp,self"},
    # Hosts share cores here, which Open MPI cannot see; without this an allreduce of 8 bytes takes 124 ms instead of 0.4.
    "openmpi": {"OMPI_MCA_mpi_yield_when_idle": "1"},
}


def make_hosts(options):
    return Hosts(options.out / "hosts", HOSTS, options.rate)


def describe(hosts):
    rate = "at full speed" if hosts.rate == "none" else f"at {hosts.rate}"
    return f"{hosts.number} hosts with a core each, virtual Ethernet {rate}"


class ClusterLibrary(Library):
    """A library whose ranks are divided evenly among the first of some hosts."""

    def __init__(self, hosts, name, home, programs, options=()):
        super().__init__(name, home, programs)
        self.hosts, self.options = hosts, list(options)  # without what a library gets on one host
        self.environment |= SETTINGS.get(name, {})

    def placement(self, measurement):
        hosts = self.hosts.names()[:measurement.hosts]
        here = measurement.ranks // measurement.hosts
        if self.name == "mpich":
            return ["-launcher", "ssh", "-launcher-exec", f"{self.hosts.folder}/agent", "-hosts", ",".join(hosts), "-ppn", str(here)]
        if self.name == "openmpi":
            return ["--host", ",".join(f"{host}:{here}" for host in hosts), "--map-by", f"ppr:{here}:node:OVERSUBSCRIBE"]
        return ["--host", ",".join(hosts), "-ppn", str(here)]

    def start(self, measurement, arguments=()):
        command = self.hosts.on("h0", f"{self.home}/bin/mpiexec", *self.options, *self.placement(measurement), "-n", measurement.ranks,
                                self.programs / measurement.program, *arguments)
        return begin(command, self.environment | SHARING.get(measurement.sharing, {}).get(self.name, {}))


def libraries(hosts, options):
    """Ours, ours without stages, and the peers."""
    standard = compile_standard_programs(options.peers_dir, options.out)
    found = [ClusterLibrary(hosts, "clump", options.build, standard),
             ClusterLibrary(hosts, "clump-flat", options.build, standard, ["--coll", "allreduce=flat"])]
    for peer in options.peers:
        programs = compile_openmpi_programs(options.peers_dir, options.out) if peer == "openmpi" else standard
        found.append(ClusterLibrary(hosts, peer, options.peers_dir / peer, programs))
    return found


def collective(name, *sizes, **details):
    return Measurement(f"hosts-{name}-16", "collectives", run_timed_program, (str(1 << 30), name, *map(str, sizes)), hosts=HOSTS,
                       sharing=CROWDED, **details)


MEASUREMENTS = [
    Measurement("hosts-pingpong-2", "pingpong", run_timed_program, (str(4 << 20),), hosts=2),
    Measurement("hosts-rate-2", "rate", run_timed_program, hosts=2),
    Measurement("hosts-onesided-2", "onesided", run_timed_program, hosts=2),
    collective("barrier", 0),
    collective("bcast", 8, 1 << 10, 64 << 10, 1 << 20, 4 << 20),
    collective("allreduce", 8, 128, 1 << 10, 8 << 10, 64 << 10, 512 << 10, 1 << 20, 4 << 20, also_flat=True),
    collective("alltoall", 8, 64, 512, 4 << 10, 32 << 10),
]
