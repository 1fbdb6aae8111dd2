"""The block matrix product of 004: more ranks than cores, sizes of blocks, eager or rendezvous, and how long a rank polls before it sleeps."""

from . import Experiment
from ..measured import Measured, Run, chart, figures, finding, table
from ..svg import digits

# Each library's own way to say from which size a message waits for its receive, where it documents one.
EAGER = {"clump": "CLUMP_EAGER_LIMIT", "intel": "I_MPI_EAGER_THRESHOLD"}
SPIN = {"mpich": "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT"}


def plan(context):
    repetitions = ("--repetitions", context.choose(1, 5, 3))  # the first one is cold
    runs = []
    for n in context.choose((96,), (512,), (1024, 2048)):
        for block in (16, 32, 64) if context.size == "full" else (16, 32) if context.size == "quick" else (16,):
            for times in (1, 2, 4) if context.size != "smoke" else (1, 2):
                ranks = context.cores * max(1, len(context.hosts)) * times
                runs.append(Run(f"{times} a core", "matmul", ranks, ("--n", n, "--block", block, *repetitions), expected=1 + 2e-10 * n ** 3))
            if context.cores > 1:
                runs.append(Run("masteronly", "matmul", max(1, len(context.hosts)), ("--n", n, "--block", block, *repetitions), threads=context.cores,
                                expected=1 + 2e-10 * n ** 3))
            runs.append(Run("one core", "matmul", 1, ("--n", n, "--block", block, *repetitions), expected=1 + 4e-10 * n ** 3))
    if context.size != "smoke":
        ranks, arguments = context.cores * max(1, len(context.hosts)) * 2, ("--n", 512, "--block", 32, *repetitions)
        for limit in (0, 1 << 20):
            settings = {family: {name: str(limit)} for family, name in EAGER.items()}
            runs.append(Run(f"eager up to {limit}", "matmul", ranks, arguments, settings=settings, only=tuple(EAGER)))
        for count in (16, 4096):
            settings = {family: {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", name: str(count)} for family, name in SPIN.items()}
            runs.append(Run(f"sleeps after {count} polls", "matmul", ranks, arguments, settings=settings, only=tuple(SPIN)))
    return runs


def cases(measured):
    return sorted({(row["n"], row["block"]) for library in measured.libraries() for row in measured.rows(library)
                   if row["ranks"] > 1})


def rows_of_cores(measured, library):
    return [row for label in measured.labels(library) if label.endswith("a core") for row in measured.rows(library, label)]


def by_ranks(measured, library, n, block, shown):
    chosen = Measured([{"library": library, "label": "", "rows": rows_of_cores(measured, library)}])
    return chosen.series(library, "ranks", shown, n=n, block=block)


def evaluate(results):
    measured = Measured.of(results, "matmul")
    items = []
    for n, block in cases(measured)[-2:]:
        for name, title, unit, shown in (("time", "time (004, Figures 3 to 8)", "s", lambda row: row["seconds"]),
                                         ("rate", "MFLOPS (004, Figures 9 and 10)", "MFLOPS", lambda row: row["mflops"])):
            series = {library: by_ranks(measured, library, n, block, shown) for library in measured.libraries()}
            items.append(chart(f"matmul-{name}-{n}-{block}", f"Matrix product, n = {n}, block {block}: {title}", "ranks", unit, series))
    items.append(all_numbers(measured, results["machine"]["cores"]))
    return items


def all_numbers(measured, cores):
    rows = []
    for library in measured.libraries():
        for label in measured.labels(library):
            for key in sorted({(row["n"], row["block"], row["ranks"]) for row in measured.rows(library, label)}):
                where = dict(zip(("n", "block", "ranks"), key))
                seconds, waited, rate = (measured.median(library, label, value, **where) for value in ("seconds", "communication", "mflops"))
                spread = measured.spread(library, label, **where)
                rows.append([library, label, *key, digits(seconds), f"{100 * waited / seconds:.0f} %", digits(rate), digits(rate / min(cores, key[2])),
                             "one round" if spread is None else f"{spread:.2f}"])
    return table("All of them", ["library", "how", "n", "block", "ranks", "s", "in broadcasts", "MFLOPS", "MFLOPS a core", "greatest by least"], rows)


def by_core(measured, library, n, block):
    """004, Figures 9 and 10: one rank a core, beside one core alone."""
    alone, rows = measured.median(library, "one core", "mflops", n=n), measured.rows(library, "1 a core", n=n, block=block)
    if not alone or not rows:
        return []
    ranks, rate = rows[0]["ranks"], measured.median(library, "1 a core", "mflops", n=n, block=block)
    return [finding("004, Figures 9 and 10: MFLOPS grow with the nodes, and those of a processor hardly fall", "curves without printed numbers",
                    f"{library}: n = {n}, block {block}, {digits(rate / ranks)} MFLOPS of each of {ranks} cores, {digits(alone)} of one alone",
                    "confirmed" if rate / ranks >= 0.75 * alone else "refuted here", figures("004", 9, 10))]


def beside_mpich(measured, n, block):
    """004, Figures 3 to 6: ranks as threads beside MPICH, with as many ranks as cores, and with more."""
    found = []
    for label, words, numbers in (("1 a core", "as many ranks as processors", (4, 6)), ("2 a core", "more ranks than processors", (3, 5))):
        ours, theirs = (measured.median(library, label, n=n, block=block) for library in ("clump", "mpich"))
        if ours and theirs:
            found.append(finding(f"004, Figures {numbers[0]} and {numbers[1]}: with {words}, ranks as threads take less time than MPICH", "figures without printed numbers",
                                 f"clump: n = {n}, block {block}, {label}, {ours / theirs:.2f} of MPICH's time", "confirmed" if ours < theirs else "refuted here", figures("004", *numbers)))
    return found


def findings(results):
    measured, found = Measured.of(results, "matmul"), []
    for n, block in cases(measured)[-1:]:
        for library in measured.libraries():
            points = by_ranks(measured, library, n, block, lambda row: row["seconds"])
            if len(points) < 2:
                continue
            ratio = points[-1][1] / points[0][1]
            found.append(finding("004, Figures 3, 5, 7 and 8: with ranks as threads it costs little to run more of them than there are processors; with MPICH much",
                                 "figures without printed numbers", f"{library}: n = {n}, block {block}, {points[-1][0]} ranks take {ratio:.2f} times as long as "
                                 f"{points[0][0]}", "costs little" if ratio < 1.25 else "costs much" if ratio > 2 else "costs something", figures("004", 3, 5, 7, 8)))
            found += by_core(measured, library, n, block)
        found += beside_mpich(measured, n, block)
    return found


EXPERIMENT = Experiment("matmul", "004", "Block matrix product", "matrix product by broadcast, with one to four ranks a core; eager or rendezvous; polls before sleeping",
                        ("programs/matmul.c",), plan, evaluate, findings)
