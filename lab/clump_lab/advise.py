"""`clump lab advise`: which style suits a program on a machine, with the numbers that say so."""

import json
import sys

from . import predict, printing, report
from .model import PAPERS
from .svg import digits


def machine_of(parser, options):
    """The machine, and the report that it comes from, if it does."""
    if options.machine is not None:
        names = [machine["name"] for machine in PAPERS["000"]["machines"]]
        found = predict.of_paper(options.machine)
        if options.machine == "list" or found is None:
            print("\n".join(names) if options.machine == "list" else f"clump lab: there is no machine '{options.machine}'; there are {'; '.join(names)}",
                  file=sys.stdout if options.machine == "list" else sys.stderr)
            sys.exit(0 if options.machine == "list" else 2)
        return found, None, None
    if options.folder is None:
        parser.error("advise needs the folder of a report (clump lab run machine ring styles), or --machine")
    results = report.load(options.folder)
    libraries = list(results["libraries"])
    library = options.library or libraries[0]
    if library not in libraries:
        parser.error(f"the report has no library '{library}'; it has {', '.join(libraries)}")
    found = predict.of_report(results, library, options.message)
    if found is None:
        sys.exit(f"clump lab: {options.folder} has no measurement 'ring' under {library}: run 'clump lab run machine ring styles' first")
    return found, results, library


def program_of(parser, options, results, library):
    """f and inside, and a sentence that says where they come from."""
    program, source = predict.Program(0.2, 0.5), "f = 0.2 and half of the bytes inside a node, as nothing else is known (--profile or --f and --inside say)"
    if options.profile:
        try:
            program, message = predict.of_profile(options.profile)
        except (OSError, ValueError, KeyError) as problem:
            sys.exit(f"clump lab: {options.profile} cannot be used as a profile: {problem}")
        source = f"from {options.profile}: f = {program.f:.3f}, {100 * program.inside:.0f} % of the bytes inside a node"
        source += f", usual message {digits(message)} bytes" if message else ", no messages but in collectives"
        options.message = options.message or message
    elif results is not None and options.f is None and predict.usual_f(results, library):
        n, f = predict.usual_f(results, library)
        program = predict.Program(f, 0.5, 8 * n)
        source = f"the lab's Jacobi with n = {n}: f = {f:.3f}; half of the bytes inside a node (--profile or --f and --inside say otherwise)"
    for name in ("f", "inside"):
        given = getattr(options, name)
        if given is not None:
            if not 0 <= given <= 1:
                parser.error(f"--{name} is a part, 0 to 1, and not {given}")
            setattr(program, name, given)
            source = f"f = {program.f:.3f}, {100 * program.inside:.0f} % of the bytes inside a node, as given"
    if options.message is not None:
        program.message = options.message
    return program, source


def confidence(machine, program):
    """Sentences: how far the first is ahead, how far measurements are apart, and what the answer hangs on."""
    order = predict.ranked(machine, program)
    ahead = order[1][1][0] / order[0][1][0] - 1 if len(order) > 1 else 0
    spread = max(machine.spreads.values(), default=predict.UNKNOWN_SPREAD)
    known = (f"measurements of a parameter are at most {100 * (spread - 1):.0f} % apart" if machine.spreads
             else f"no spread is known, so each parameter may be {100 * (spread - 1):.0f} % off")
    lines = [f"'{order[0][0]}' is {100 * ahead:.0f} % ahead of the next; {known}."]
    simple = predict.simplest(machine, program)
    if simple != order[0][0]:
        lines.append(f"The easiest to write of those within 5 % is '{simple}'.")
    edges = predict.hangs_on(machine, program)
    if edges:
        lines += [f"It hangs on the {what}: at the edge of its spread '{style}' is the best." for what, style in edges]
    else:
        lines.append("No single parameter changes the answer within its spread.")
    return lines


def latencies(machine, program):
    """Whether they count, and what they are."""
    if predict.has_latencies(machine, program):
        return (f"a message of {digits(program.message)} bytes: latency {digits(machine.latency * 1e6)} µs between nodes, {digits(machine.latency_inside * 1e6)} µs within one; "
                f"a parallel region takes {digits(machine.region * 1e6)} µs")
    if machine.latency:
        return "latencies do not count, as no size of a message is known (--message or --profile says it)"
    return "latencies do not count, as the machine's are not known: only bandwidths do"


def advice(machine, program, source):
    """All lines of the answer."""
    order = predict.ranked(machine, program)
    style, (_, processes, threads) = order[0]
    lines = [f"machine: {machine.name}, {machine.cpus} CPUs a node", f"program: {source}", latencies(machine, program), "",
             f"advice: {style}: {processes} process{'es' if processes > 1 else ''} a node with {threads} thread{'s' if threads > 1 else ''} each"
             + (", ranks that are neighbours on the same node" if processes > 1 and program.inside > 0 else ""), "",
             "style                                 time by that of pure MPI   processes x threads a node"]
    lines += [f"{name:37} {time:<26.3f} {count} x {team}" for name, (time, count, team) in order]
    lines += ["", *confidence(machine, program), "",
              "CPU-seconds of one second of communication at full bandwidth (000, 3.4): "
              + "; ".join(f"{name} {digits(seconds)}" for name, seconds in predict.cpu_seconds(machine).items()),
              "formulas: masteronly (1 - f) + f B(pure) / B(processes) with 000's Table 1, a message latency + bytes / B as in 002's Table 2; overlapping styles max(T_comm, (m T_comm + n T_comp) / n), 002, section 6."]
    return lines


EQUAL = 1.05  # styles whose predicted times are not further apart


def check(results):
    """A table in Markdown: what the model advises, beside what was measured. The share within 10 % stands below."""
    header = ["library", "configuration", "advised", "predicted [s]", "measured [s]", "best measured", "its time [s]", "apart"]
    rows = [(library, *row) for library in results["libraries"] for row in predict.checked(results, library)]
    good = sum(row[-1] <= 1.1 for row in rows)
    equal = sum(row[-1] > 1.1 and row[-2] <= EQUAL for row in rows)
    shown = [[*(digits(cell) if isinstance(cell, float) else cell for cell in row[:-2]), f"{row[-2]:.2f}; {row[-1]:.2f}"] for row in rows]
    below = f"Times are the least of the rounds. Apart: the best measured style's time by that of the advised one as predicted; the advised one's by that of the best as measured. The advised style is within 10 % of the best measured one in {good} of {len(rows)} configurations."
    if equal:
        below += f" In {equal} of the others the formulas take both for equal (within {100 * (EQUAL - 1):.0f} %)."
    return report.markdown_table(header, shown) + "\n\n" + below, bool(rows)


def main(parser, options):
    if options.message is None and options.profile:  # the usual message says at which size the ring counts
        try:
            options.message = predict.of_profile(options.profile)[1]
        except (OSError, ValueError, KeyError, json.JSONDecodeError):
            pass  # program_of says it
    if options.check:
        if options.folder is None:
            parser.error("--check needs the folder of a report")
        text, found = check(report.load(options.folder))
        print(printing.printable(text) if found else "clump lab: nothing can be compared: run machine, access, styles and matmul with at least two cores first")
        return 0 if found else 1
    machine, results, library = machine_of(parser, options)
    program, source = program_of(parser, options, results, library)
    print(printing.printable("\n".join(advice(machine, program, source))))
    return 0
