"""The formulas of the papers, and the parameters that they print (papers/*.json). Names are those of the papers."""

import json
import math
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "papers"
PAPERS = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


# 000: Rabenseifner 2003, section 3.4.
def communication_cpu_seconds(cpus, share):
    """CPU-seconds of what takes 1 s at full bandwidth, if `cpus` CPUs are busy or idle for it, and get that share of the bandwidth."""
    return cpus / share


# 002: Rabenseifner, Table 1 and section 6.
def hybrid_by_mpp(bandwidth_mpp, bandwidth_hybrid, size_ratio=2.0):
    """T_hybrid / T_MPP, if pure MPI moves size_ratio times as much data."""
    return bandwidth_mpp / bandwidth_hybrid / size_ratio


def epsilon(f, n, m):
    """Masteronly's time by that of a style in which m of n threads communicate while the others compute. f: communication's part of the accumulated time."""
    masteronly = f + (1 - f) / n
    overlapped = max(f / m, (1 - f) / (n - m)) if m < n else f / m + (1 - f)
    return masteronly / overlapped


def epsilon_bounds(f, n, m):
    """The printed bounds: 1 - m/n, 1 + m (1 - 1/n), and 1 + f n (1 - 1/n), which holds for any way to balance the load."""
    return 1 - m / n, 1 + m * (1 - 1 / n), 1 + f * n * (1 - 1 / n)


def funneled_pays_from(n, m):
    """The f at which epsilon is 1, from the two times above. The paper prints twice this value."""
    return 1 / (n * (n / m - 1) + 1)


def two_sided(size, asymptotic, latency):
    """Table 2: bytes a second of a message of that size."""
    return asymptotic / (1 + asymptotic * latency / size)


# 003: Cappello, Richard and Etiemble. What each rank exchanges with whom, as in NPB 2.3; a pair of ranks is an edge, one with itself too.
def mg_grid(ranks):
    """MG halves the z axis first, then y, then x."""
    power = ranks.bit_length() - 1
    return 2 ** (power // 3), 2 ** ((power + 1) // 3), 2 ** ((power + 2) // 3)


def mg_edges(ranks):
    """A periodic exchange in both directions of each axis; where an axis is not divided, with itself."""
    grid, edges = mg_grid(ranks), set()
    for rank in range(ranks):
        place = [rank % grid[0], rank // grid[0] % grid[1], rank // grid[0] // grid[1]]
        for axis in range(3):
            for step in (-1, 1):
                other = list(place)
                other[axis] = (other[axis] + step) % grid[axis]
                edges.add(frozenset((rank, other[0] + grid[0] * (other[1] + grid[1] * other[2]))))
    return edges


def cg_grid(ranks):
    power = ranks.bit_length() - 1
    return 2 ** (power // 2), 2 ** (power - power // 2)  # rows, columns


def cg_transpose(rank, ranks):
    rows, columns = cg_grid(ranks)
    if rows == columns:
        return rank % rows * rows + rank // rows
    return 2 * (rank // 2 % rows * rows + rank // 2 // rows) + rank % 2


def cg_edges(ranks):
    """Sums by halves along a row, and the exchange with the transposed place, which on the diagonal is oneself."""
    columns, edges = cg_grid(ranks)[1], set()
    for rank in range(ranks):
        for step in range(int(math.log2(columns))):
            edges.add(frozenset((rank, rank // columns * columns + (rank % columns ^ 1 << step))))
        edges.add(frozenset((rank, cg_transpose(rank, ranks))))
    return edges


def lu_edges(ranks):
    """A grid that is not periodic, with neighbours in four directions."""
    columns, edges = cg_grid(ranks)[1], set()
    for rank in range(ranks):
        if (rank + 1) % columns:
            edges.add(frozenset((rank, rank + 1)))
        if rank + columns < ranks:
            edges.add(frozenset((rank, rank + columns)))
    return edges


EDGES = {"MG": mg_edges, "CG": cg_edges, "LU": lu_edges}


def external_internal(kernel, ranks, ways):
    """Table 3: edges that leave the first node, and those within it."""
    node, edges = set(range(ways)), EDGES[kernel](ranks)
    internal = sum(edge <= node for edge in edges)
    return sum(bool(edge & node) for edge in edges) - internal, internal


# 003, Table 2: times of communication from the kernels' messages and Table 1's bandwidths.
WORD = 8


def message_seconds(words, where, ways, mode, table):
    """One exchange of Table 1: a latency, and bytes by bandwidth. External ones of 4-way nodes share what two have."""
    column = "internal" if where == "internal" else "external1" if ways == 1 else "external2"
    share = max(1, ways / 2) if where == "external" else 1
    bandwidth, latency = table[mode][column]["mbs"] * 1e6, table[mode][column]["latency_us"] * 1e-6
    return latency + words * WORD * share / bandwidth


def mg_messages(ranks):
    """(rank, other, words) of one exchange of the finest grid of class A, 256 points a side: both directions of each axis."""
    grid, side = mg_grid(ranks), 256
    local = [side / parts for parts in grid]
    found = []
    for rank in range(ranks):
        place = [rank % grid[0], rank // grid[0] % grid[1], rank // grid[0] // grid[1]]
        for axis in range(3):
            face = local[(axis + 1) % 3] * local[(axis + 2) % 3]
            for step in (-1, 1):
                other = list(place)
                other[axis] = (other[axis] + step) % grid[axis]
                found.append((rank, other[0] + grid[0] * (other[1] + grid[1] * other[2]), face))
    return found


def cg_messages(ranks):
    """One product of class A, 14000 rows: sums along the row, then the transposed place; two sums of a word."""
    rows, columns = cg_grid(ranks)
    part, found = 14000 / columns, []
    for rank in range(ranks):
        for step in range(int(math.log2(columns))):
            other = rank // columns * columns + (rank % columns ^ 1 << step)
            found += [(rank, other, 14000 / rows), (rank, other, 1), (rank, other, 1)]
        found.append((rank, cg_transpose(rank, ranks), part))
    return found


def ft_messages(ranks):
    """The transposition of class A, 256 * 256 * 128 complex numbers: each to each."""
    words = 2 * 256 * 256 * 128 / ranks / ranks
    return [(rank, other, words) for rank in range(ranks) for other in range(ranks) if other != rank]


def lu_messages(ranks):
    """One sweep of class A, 64 points a side: for each of 62 planes five words a point of the edge to the next rank; and two planes deep once."""
    rows, columns = cg_grid(ranks)
    found = []
    for rank in range(ranks):
        for other, edge in ((rank + 1, 64 / rows), (rank + columns, 64 / columns)):
            if (other == rank + 1 and other % columns) or (other == rank + columns and other < ranks):
                for pair in ((rank, other), (other, rank)):
                    found += [(*pair, 5 * edge)] * 62 + [(*pair, 2 * 5 * edge * 64)]
    return found


MESSAGES = {"MG": (mg_messages, "asynchronous"), "CG": (cg_messages, "asynchronous"), "LU": (lu_messages, "synchronous"), "FT": (ft_messages, "asynchronous")}


def communication_time(kernel, nodes, ways, table):
    """Seconds of one step, summed over the ranks, as Figure 5 and Table 2 sum them."""
    messages, mode = MESSAGES[kernel]
    total = 0.0
    for rank, other, words in messages(nodes * ways):
        where = "internal" if rank // ways == other // ways else "external"
        total += message_seconds(words, where, ways, mode, table)
    return total


def table_2_ratios():
    """[(kernel, nodes, "2/1" or "4/2", computed, printed), ...]"""
    paper, found = PAPERS["003"], []
    for kernel, printed in paper["table2"].items():
        for column, nodes in enumerate((2, 4)):
            times = {ways: communication_time(kernel, nodes, ways, paper["table1"]) for ways in (1, 2, 4)}
            found.append((kernel, nodes, "2/1", times[2] / times[1], printed["2/1"][column]))
            found.append((kernel, nodes, "4/2", times[4] / times[2], printed["4/2"][column]))
    return found
