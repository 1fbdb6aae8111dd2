#!/usr/bin/env python3
"""Runs `clump lab` on hosts that are network namespaces of this machine, a core each, as `./dev bench --cluster` has them. Needs root.

usage: lab/on_namespaces.py BUILD HOSTS NAME... [options of clump lab run]
       lab/on_namespaces.py build/release 2 ring twostage --mpi clump,mpich --out lab-report
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/cluster"))
from hosts import Hosts, Unavailable  # noqa: E402


def main():
    if len(sys.argv) < 4 or not sys.argv[2].isdigit():
        sys.exit(__doc__)
    build, number, words = Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        try:
            with Hosts(folder, number) as hosts:
                agent = f"{hosts.folder}/agent"
                # MPICH's UCX takes hosts of one machine for one host, and would go through the memory that they share; Open MPI cannot see
                # that hosts share cores; of Intel MPI's providers, tcp is for such a network.
                settings = dict(os.environ, HYDRA_LAUNCHER="ssh", HYDRA_LAUNCHER_EXEC=agent, UCX_TLS="tcp,self", OMPI_MCA_mpi_yield_when_idle="1",
                                I_MPI_HYDRA_BOOTSTRAP="ssh", I_MPI_HYDRA_BOOTSTRAP_EXEC=agent, I_MPI_OFI_PROVIDER="tcp")
                command = hosts.on("h0", build / "bin/clump", "lab", "run", *words, "--host", ",".join(hosts.names()))
                return subprocess.run(command, env=settings, check=False).returncode
        except Unavailable as problem:
            sys.exit(f"lab/on_namespaces.py: {problem}")


if __name__ == "__main__":
    sys.exit(main())
