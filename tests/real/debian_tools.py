"""Cases of `./dev real debian`: benchmarks, graphs, symbols, statistics, files."""

import hpcc
from debian_case import Case, numbers, same_lines, same_numbers, says

GRID = "case $N in 2) P=1 Q=2;; 4) P=2 Q=2;; *) P=4 Q=4;; esac; sed -i -E \"s/^[0-9]+( +Ps)$/$P\\1/; s/^[0-9]+( +Qs)$/$Q\\1/\" hpccinf.txt"
SIDE = 200


def grid_graph(side=SIDE):
    """A square of vertices in Scotch's format: version, vertices and arcs, no weights, then the neighbours of each."""
    at = {(x, y): x * side + y for x in range(side) for y in range(side)}
    lines = []
    for x, y in at:
        beside = [at[place] for place in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)) if place in at]
        lines.append(" ".join(map(str, [len(beside), *beside])))
    arcs = sum(int(line.split()[0]) for line in lines)
    return "\n".join(["0", f"{len(at)} {arcs}", "0 000", *lines]) + "\n"


def parts_of(run):
    """{vertex: part} of a mapping in Scotch's format."""
    words = run.read("parts.map").split()
    return dict(zip(map(int, words[1::2]), map(int, words[2::2])))


def edges_between(parts, side=SIDE):
    return sum(parts[v] != parts[w] for v in parts for w in (v + 1 if (v + 1) % side else v, v + side) if w in parts)


def partition(run):
    parts = parts_of(run)
    if sorted(parts) != list(range(SIDE * SIDE)):
        return f"it maps {len(parts)} vertices of {SIDE * SIDE}"
    sizes = [list(parts.values()).count(part) for part in range(8)]
    if sum(sizes) != len(parts) or max(sizes) > 1.1 * len(parts) / 8:
        return f"parts of {sizes} vertices"
    return ""


def cut_as_good(ours, peer):
    mine, other = (edges_between(parts_of(run)) for run in (ours, peer))
    return "" if mine <= 1.25 * other else f"it cuts {mine} edges where Open MPI's run cuts {other}"


def permutation(run):
    words = run.read("order.ord").split()
    wanted = list(range(SIDE * SIDE))
    return "" if sorted(map(int, words[2::2])) == wanted else "it is no permutation of the vertices"


def all_ranks_said(run):
    """Each rank has printed its line, and the sums over all of them are right."""
    said = numbers(r"^rank (\d+) of \d+$", run.text)
    return "" if sorted(said) == list(range(run.ranks)) else f"ranks {said} have said something"


CASES = [
    Case("hpcc", "hpcc", "hpcc", ranks=(2, 4, 16), prepare="cp /usr/share/doc/hpcc/examples/_hpccinf.txt hpccinf.txt", before=GRID,
         sound=lambda run: hpcc.judge(run.ranks, run.code, run.read("hpccoutf.txt")), says="residuals right", timeout=400),
    Case("dgpart", "ptscotch", "dgpart", "8 grid.grf parts.map", (2, 4, 16), made={"grid.grf": grid_graph()}, sound=partition,
         agree=cut_as_good, says="8 even parts, cut as good"),
    Case("dgord", "ptscotch", "dgord", "grid.grf order.ord", (2, 4, 16), made={"grid.grf": grid_graph()}, sound=permutation,
         says="an order of all vertices"),
    Case("dgtst", "ptscotch", "dgtst", "grid.grf", made={"grid.grf": grid_graph()},
         agree=same_lines(leave_out=r"rank|^\d+:")),
    Case("parform", "form", "parform", "expand.frm", (2, 4, 16), files=("expand.frm",),
         agree=same_lines(leave_out=r"Run at|run at|Time =|sec|Bytes used|terms left|FORM|MPI|master|process"), timeout=200),
    Case("gretlmpi", "gretl", "gretlmpi", "-q -e sums.inp", (2, 4, 16), files=("sums.inp",), sound=all_ranks_said,
         agree=same_numbers(r"^ *(?:total|mean|slope)\D*([-\d.e+]+)$", relative=1e-12, at_least=3)),
    Case("ffindex_apply_mpi", "ffindex", "ffindex_apply_mpi", "data.ffdata data.ffindex -i out.ffindex -d out.ffdata -- /usr/bin/wc -c",
         (2, 4, 16), prepare="cp -r /usr/share/doc/ffindex/examples/data data; for i in $(seq 40); do seq $i >data/f$i; done; "
         "ffindex_build -s data.ffdata data.ffindex data"),
    Case("NPopenmpi", "netpipe-openmpi", "NPopenmpi", "-u 256", sound=says(r"\d+ bytes +\d+ times"), says="measures"),
    Case("NPopenmpi2", "netpipe-openmpi", "NPopenmpi2", "-u 256", code=34, sound=says("MPI_ERR_INFO"),  # it gives MPI_Win_create an info of 0
         says="fails with MPI_ERR_INFO, as under Open MPI"),
    Case("NPmpich2", "netpipe-mpich2", "NPmpich2", "-u 256", sound=says(r"\d+ bytes +\d+ times"), says="measures", peer="mpich"),
    Case("ompi_info", "openmpi-bin", "ompi_info", "--version", says="the same", agree=same_lines(any_order=True)),
]
