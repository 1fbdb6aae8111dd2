"""What experiments are made of, and what they see of their measurements."""

import dataclasses
import statistics

SIZES = ("smoke", "quick", "full")


@dataclasses.dataclass
class Context:
    """Where and how much is measured."""
    cores: int
    size: str = "quick"
    hosts: tuple = ()

    @property
    def seconds(self):
        return {"smoke": 0.002, "quick": 0.02, "full": 0.1}[self.size]

    def choose(self, smoke, quick, full):
        return {"smoke": smoke, "quick": quick, "full": full}[self.size]

    @property
    def nodes(self):
        """How many nodes there are: hosts, or two that are made of ranks on this one."""
        return len(self.hosts) or 2

    def per_node(self, ranks):
        """What programs are told: 0 where nodes are hosts."""
        return 0 if self.hosts else ranks


@dataclasses.dataclass
class Run:
    """One start of a program."""
    label: str
    program: str
    ranks: int
    arguments: tuple = ()
    threads: int = 1
    twostage: bool = False  # with libclump_twostage.so before the library
    expected: float = 2     # seconds, until it has been seen
    options: dict = dataclasses.field(default_factory=dict)  # {family: options of its mpiexec}
    settings: dict = dataclasses.field(default_factory=dict)  # {family: environment}
    only: tuple = ()        # families; empty: all
    read: object = None     # read(output) -> rows, where a program prints no JSON
    alone: bool = False     # once per library is enough, whatever the number of rounds
    nodes: int = 0          # of the hosts, the first ones only; 0: all

    def sharing(self, cores):
        if self.threads > 1:
            return "threads that compute"
        return "more ranks than cores" if self.ranks > cores else None


class Measured:
    """The rows of one experiment, of all libraries and rounds."""

    def __init__(self, runs):
        self.runs = runs

    @classmethod
    def of(cls, results, name):
        return cls(results["experiments"].get(name, {}).get("runs", []))

    def libraries(self):
        return list(dict.fromkeys(run["library"] for run in self.runs))

    def labels(self, library=None):
        return list(dict.fromkeys(run["label"] for run in self.runs if library in (None, run["library"])))

    def rows(self, library, label=None, **where):
        """All rows that have these values."""
        return [row for run in self.runs if run["library"] == library and label in (None, run["label"])
                for row in run["rows"] if all(row.get(key) == value for key, value in where.items())]

    def values(self, library, label=None, value="seconds", **where):
        return [row[value] for row in self.rows(library, label, **where) if value in row]

    def median(self, library, label=None, value="seconds", **where):
        found = self.values(library, label, value, **where)
        return statistics.median(found) if found else None

    def least(self, library, label=None, value="seconds", **where):
        """Of a time, what remains when nothing else disturbs: others only add to it."""
        found = self.values(library, label, value, **where)
        return min(found) if found else None

    def spread(self, library, label=None, value="seconds", **where):
        """Greatest by least, or None where there are no two."""
        found = self.values(library, label, value, **where)
        return max(found) / min(found) if len(found) > 1 and min(found) > 0 else None

    def series(self, library, x, shown, label=None, **where):
        """[(x, median, least, greatest), ...] of shown(row), by x."""
        points = {}
        for row in self.rows(library, label, **where):
            points.setdefault(row[x], []).append(shown(row))
        return [(place, statistics.median(values), min(values), max(values)) for place, values in sorted(points.items())]


def chart(name, title, x, y, series, **details):
    """For svg.draw(); None if nothing was measured for it."""
    series = {label: points for label, points in series.items() if points}
    return {"kind": "chart", "name": name, "title": title, "x": x, "y": y, "series": series, **details} if series else None


def table(title, header, rows, note=""):
    return {"kind": "table", "title": title, "header": header, "rows": rows, "note": note} if rows else None


def finding(where, printed, here, verdict, shows=(), who=None):
    """A row of the report: what the paper prints, what is measured here, and `confirmed`, `refuted` or `open` with a reason. shows: the figures and tables
    that it is about, as "000 Figure 3". who: of whom it is, if not of the library that `here` begins with."""
    return {"where": where, "printed": printed, "here": here, "verdict": verdict, "shows": shows, "who": who or here.partition(":")[0]}


def figures(paper, *numbers):
    return tuple(f"{paper} Figure {number}" for number in numbers)
