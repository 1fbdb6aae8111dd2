"""Writes docs/reference/: options, environment variables and functions, from the programs of a build and from the sources; and docs/known-failures.md
from the data of tests/real.

usage: reference.py --build FOLDER            writes the pages
       reference.py --build FOLDER --check    fails where a page is not what it would write

Needs the Python that the generator of mpi.h uses (gen/requirements.txt). `./dev docs` calls it."""

import argparse
import difflib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "gen"))

import known_failures  # noqa: E402
from clump_gen import overlay, standard  # noqa: E402

NOTE = "<!-- Written by docs/site/reference.py: './dev docs --update' writes it again. -->\n"

# What the library and the tools read, besides the control variables (clump info --cvars): name -> (values, what it does).
VARIABLES = {
    "CLUMP_RANKS": ("`fibers`, `threads`, `processes`, `auto`", "as what the ranks run, where `--ranks` does not say it"),
    "CLUMP_PER_PROCESS": ("a number", "so many ranks in each process, where `--per-process` does not say it"),
    "CLUMP_SCHEDULER": ("`fibers`, `threads`", "what runs ranks that share a process, where `--scheduler` does not say it"),
    "CLUMP_MALLOC": ("`libc`, `mimalloc`, a name, a file", "the allocator of the ranks, where `--malloc` does not say it"),
    "CLUMP_COLL_RULES": ("a file, `none`", "rules by which collectives choose their algorithm, where `--coll-rules` does not say it"),
    "CLUMP_COLL_TABLE": ("rules, with `;` between", "the same for ranks that `mpiexec` has not started (`srun`, or one rank alone)"),
    "CLUMP_LAUNCHER": ("`ssh`, `rsh`, `fork`, `slurm`, `sge`, `lsf`, `pbs`, `manual`", "what starts processes on other hosts, where `--launcher` does not say it"),
    "CLUMP_LAUNCHER_EXEC": ("a program, with words if need be", "the launcher's program, where `--launcher-exec` does not say it"),
    "CLUMP_RMK": ("`slurm`, `pbs`, `sge`, `lsf`, `none`", "whose list of hosts is taken, where `--rmk` does not say it and no hosts are named (default: that of the job in which `mpiexec` runs)"),
    "CLUMP_HOST_FILE": ("a file", "hosts, one a line, where neither an option nor `--rmk` names any"),
    "CLUMP_IFACE": ("a name", "the network interface at which ranks of other hosts are reached, where `--iface` does not say it"),
    "CLUMP_TREE_WIDTH": ("a number (32)", "of hosts that `mpiexec`, or a proxy, starts itself; proxies start the rest"),
    "CLUMP_CONNECT_TIMEOUT": ("seconds", "how long to try to connect to another host over sockets, and to wait for acknowledgements of what was sent "
                              "to it, until the job ends with an error; 8 by default"),
    "CLUMP_OFI_PROVIDER": ("a name", "libfabric's provider for what crosses the network, where `--net` does not say it; for ranks of `srun`, too"),
    "CLUMP_CC": ("a command", "the compiler that `mpicc` calls (default `cc`); it may have words behind it, as `ccache gcc`"),
    "CLUMP_CXX": ("a command", "the compiler that `mpicxx` calls (default `c++`)"),
    "CLUMP_FC": ("a command", "the compiler that `mpifort` calls (default `gfortran`)"),
    "CLUMP_FORTRAN_CACHE": ("a folder", "where `mpifort` keeps module files that it has made for other compilers (default `~/.cache/clump/fortran`)"),
}

# What the launcher tells a rank: for scripts, and for programs that need their number before MPI_Init.
TOLD = {
    "CLUMP_IS_RANK": "the rank and the number of ranks: `1/4`",
    "PMI_RANK, PMIX_RANK, OMPI_COMM_WORLD_RANK, MV2_COMM_WORLD_RANK": "the rank",
    "PMI_SIZE, OMPI_COMM_WORLD_SIZE, MV2_COMM_WORLD_SIZE": "the number of ranks",
    "MPI_LOCALRANKID, OMPI_COMM_WORLD_LOCAL_RANK, OMPI_COMM_WORLD_NODE_RANK, MV2_COMM_WORLD_LOCAL_RANK": "the rank among those of its host",
    "MPI_LOCALNRANKS, OMPI_COMM_WORLD_LOCAL_SIZE, MV2_COMM_WORLD_LOCAL_SIZE": "the number of ranks of the host",
}

# Between mpiexec and its own processes, and not for users.
INTERNAL = {"CLUMP_CONTROL_FD", "CLUMP_CONTROL_SERVER", "CLUMP_DAEMON_WAY", "CLUMP_FINAL_STATUS", "CLUMP_GDB", "CLUMP_HOST_TRIAL",
            "CLUMP_INITIAL_ERRHANDLER", "CLUMP_INPUT_FDS", "CLUMP_JOB_FD", "CLUMP_LAB_PREFIX", "CLUMP_LIFE_FD", "CLUMP_NODE_FD", "CLUMP_NO_MPI",
            "CLUMP_OBSERVER_PAUSE",
            "CLUMP_PARENT_PORT", "CLUMP_PLACES", "CLUMP_PRELOADED", "CLUMP_PROCESS", "CLUMP_PYTHON_LIBRARY", "CLUMP_RECORD_FD", "CLUMP_REMOTE_SHELL",
            "CLUMP_STDERR", "CLUMP_STDOUT", "CLUMP_SUCCESSOR_OF"}


def output(build: Path, *words: str) -> str:
    env = {**os.environ, "COLUMNS": "1000"}  # lines as they are, not broken
    done = subprocess.run([build / "bin" / words[0], *words[1:]], capture_output=True, text=True, check=False, env=env)
    if done.returncode != 0:
        sys.exit(f"reference.py: '{' '.join(words)}' failed with code {done.returncode}: {done.stderr}")
    return done.stdout


def cell(text: str) -> str:
    """Text in a cell of a table. What looks like an option, a variable or a function of MPI is set as code."""
    text = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    return re.sub(r"(?<![\w`])(--[a-z][\w-]*|CLUMP_\w+|MPI_\w+|PATH\b|%[rht]\b)", r"`\1`", text)


def code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def help_rows(text: str) -> Iterator[Tuple[str, str]]:
    """Of the text of --help: ("option", text) for each option, ("", paragraph) for each line that is no part of one."""
    option, meaning = None, ""
    for line in text.splitlines() + [""]:
        begins = re.match(r"  (-\S.*?)(?:\s{2,}(\S.*))?$", line)
        if option is not None and re.match(r"\s{20,}\S", line):
            meaning = f"{meaning} {line.strip()}".strip()
            continue
        if option is not None:
            yield option, meaning
            option = None
        if begins and not line.rstrip().endswith(","):
            option, meaning = begins[1], begins[2] or ""
        elif line.strip():
            yield "", line.rstrip()
    if option is not None:
        yield option, meaning


def mpiexec_page(text: str) -> List[str]:
    lines, in_table, in_list = [], False, False
    for option, meaning in help_rows(text):
        if option and not in_list and meaning:
            if not in_table:
                lines += ["", "| option | meaning |", "|---|---|"]
            in_table = True
            lines.append(f"| {code(option)} | {cell(meaning)} |")
            continue
        in_table = False
        words = f"{option} {meaning}".strip() if option else meaning
        if words.startswith("  mpiexec"):
            lines += [*([""] if lines[-1:] != [""] and not lines[-1].startswith("    ") else []), f"    {words.strip()}"]
        elif option or in_list and words.startswith("  "):
            lines.append(re.sub(r"(-[^\s,]+)", r"`\1`", words.strip()))
        else:
            in_list = words.endswith(":")
            lines += ["", cell(words), *([""] if in_list else [])]
    return lines


def wrapper_text(build: Path) -> str:
    """What mpicc says of its options: by --help, or in the comment at its head."""
    text = output(build, "mpicc", "--help")
    if "mpicc" in text.partition("\n")[0]:
        own = text.partition("\n\n\n")[0]
        return re.split(r"\nUsage: ", own)[0].rstrip()
    script = (build / "bin" / "mpicc").read_text().splitlines()[1:]
    comment = [line[1:].removeprefix(" ") for line in script[:script.index("set -u")] if line.startswith("#")]
    return "\n".join(comment).rstrip()


def subcommands(text: str) -> List[str]:
    """The names of clump's commands, out of its --help."""
    _, _, rest = text.partition("SUBCOMMANDS:") if "SUBCOMMANDS:" in text else text.partition("Subcommands:")
    return re.findall(r"^  (\w[\w-]*)", rest, re.MULTILINE)


def without_path(text: str, build: Path) -> str:
    return text.replace(f"{build}/bin/", "").strip("\n")


def options_page(build: Path) -> str:
    lines = ["# Options", "", NOTE, "## mpiexec", "`mpirun` is the same program. This is what `mpiexec --help` prints."]
    lines += mpiexec_page(output(build, "mpiexec", "--help"))
    lines += ["", "## mpicc, mpicxx", "What is not listed here goes to the compiler.", "", "```text", without_path(wrapper_text(build), build), "```"]
    whole = output(build, "clump", "--help")
    lines += ["", "## clump", "", "```text", without_path(whole, build), "```"]
    for name in subcommands(whole):
        lines += ["", f"### clump {name}", "", "```text", without_path(output(build, "clump", name, "--help"), build), "```"]
    return "\n".join(lines) + "\n"


def control_variables(text: str) -> Iterator[Tuple[str, str, str]]:
    """(environment variable, values, description) of those that can be set, out of `clump info --cvars`."""
    description = ""
    for line in text.splitlines():
        setting = re.match(r"\s{20,}(CLUMP_\w+): (.*)", line)
        if setting:
            yield setting[1], setting[2], description
        elif re.match(r"  \w+\s{2,}\S", line):
            description = line.split(None, 1)[1].strip()


def named_in_sources() -> Dict[str, str]:
    """Every variable whose name stands by itself as a string in the sources, or that names a compiler, and where."""
    found: Dict[str, str] = {}
    for folder in ("src", "tools"):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".cc", ".h", ".c") or re.search(r"(_test|_bench)\.\w+$|^test_", file.name):
                continue
            for name in re.findall(r'"(CLUMP_[A-Z_]*[A-Z])"', file.read_text()):
                found.setdefault(name, str(file.relative_to(ROOT)))
    wrappers = ROOT / "tools/mpicc/CMakeLists.txt"
    for name in re.findall(r"^clump_wrapper\([^)]*?(CLUMP_\w+)", wrappers.read_text(), re.MULTILINE):
        found.setdefault(name, str(wrappers.relative_to(ROOT)))
    return found


def told_in_sources() -> Set[str]:
    """What the launcher sets for a rank: the table of src/pmi/rank_variables.cc, and Clump's own."""
    table = (ROOT / "src/pmi/rank_variables.cc").read_text()
    return {"CLUMP_IS_RANK", *re.findall(r'\{"(\w+)", Told::', table)}


def variables_page(build: Path) -> str:
    told = {name for names in TOLD for name in names.split(", ")}
    if told != told_in_sources():
        sys.exit(f"reference.py: TOLD is not what src/pmi/rank_variables.cc has: {', '.join(sorted(told ^ told_in_sources()))}")
    controls = list(control_variables(output(build, "clump", "info", "--cvars")))
    known = {*VARIABLES, *INTERNAL, *TOLD, *(name for name, _, _ in controls)}
    unknown = {name: where for name, where in named_in_sources().items() if name not in known}
    if unknown:
        sys.exit("reference.py: not in a table of docs/site/reference.py: " + ", ".join(f"{name} ({file})" for name, file in unknown.items()))
    lines = ["# Environment variables", "", NOTE,
             "An option of `mpiexec` counts more than a variable. Of variables of other MPI libraries only those are read that say how hosts are reached "
             "(`HYDRA_LAUNCHER`, ...); [moving from another library](../moving.md#environment-variables) lists them, and says what takes the place of others.",
             "", "## What Clump reads", "", "| variable | values | meaning |", "|---|---|---|"]
    lines += [f"| {code(name)} | {values} | {meaning} |" for name, (values, meaning) in VARIABLES.items()]
    lines += ["", "## Control variables",
              "These are control variables of the tool information interface (`MPI_T`), too. `mpiexec -x NAME=VALUE` sets them for a job. "
              "Sizes may be written as `64k` or `1m`. A wrong value ends the job with a message.",
              "", "| variable | values | meaning |", "|---|---|---|"]
    plain = [row for row in controls if not row[0].endswith("_ALGORITHM")]
    lines += [f"| {code(name)} | {cell(values)} | {cell(description)} |" for name, values, description in plain]
    lines += ["", "## Algorithms of collective operations",
              "The option `--coll` sets them, too: `--coll allreduce=ring`. All ranks of a communicator have to use the same.",
              "", "| variable | values |", "|---|---|"]
    lines += [f"| {code(name)} | {cell(values)} |" for name, values, _ in controls if name.endswith("_ALGORITHM")]
    lines += ["", "## What a rank is told",
              "`mpiexec` sets these for each rank, before the program begins. They have the names that other launchers use.",
              "", "| variable | value |", "|---|---|"]
    lines += ["| " + ", ".join(code(name) for name in names.split(", ")) + f" | {value} |" for names, value in TOLD.items()]
    lines += ["", "Other variables whose names begin with `CLUMP_` are for `mpiexec` and its own processes. "
              "A wrapper that starts a rank has to pass them on.",
              "", "A program with the rights of its file (set-user-ID, set-group-ID, file capabilities) obeys none of these variables, and no other one: it is a "
              "job of one rank, as without `mpiexec`."]
    return "\n".join(lines) + "\n"


def joined(names: List[str]) -> str:
    """MPI_X and its form with large counts are one name."""
    shown: List[str] = []
    for name in names:
        if shown and name == shown[-1] + "_c":
            shown[-1] += "(_c)"
        else:
            shown.append(name)
    return ", ".join(f"`{name}`" for name in shown)


def functions_page() -> str:
    standard.load()
    functions = standard.functions()
    entries = overlay.load(ROOT / "gen/overlay/chapters", functions)
    titles = overlay.titles(ROOT / "gen/overlay/chapters")
    by_chapter: Dict[str, Tuple[List[str], List[str]]] = {chapter: ([], []) for chapter in titles}
    for name, function in functions.items():
        by_chapter[entries[name].chapter][0 if entries[name].has_body else 1].extend(form.name for form in function.forms)
    count = {chapter: (len(have), len(have) + len(lack)) for chapter, (have, lack) in by_chapter.items()}
    have, every = (sum(column) for column in zip(*count.values()))
    others = "" if have == every else "The others can be called, and fail with `MPI_ERR_UNSUPPORTED_OPERATION` and a message that names them. "
    lines = ["# Functions", "", NOTE,
             f"{have} of the {every} functions of the C interface of MPI-5.0 work, each with its `PMPI_` twin. {others}`MPI_X(_c)` stands for "
             "`MPI_X` and for `MPI_X_c`, its form with large counts. `clump info --coverage` prints the same.",
             "", "| chapter | work | of |", "|---|---|---|"]
    lines += [f"| {titles[chapter]} | {some} | {total} |" for chapter, (some, total) in count.items()]
    for chapter, (works, lacks) in by_chapter.items():
        lines += ["", f"## {titles[chapter]}"]
        if works:
            lines += ["", f"**Work** ({len(works)}): {joined(works)}"]
        if lacks:
            lines += ["", f"**Not yet** ({len(lacks)}): {joined(lacks)}"]
    return "\n".join(lines) + "\n"


def processes_page() -> str:
    source = (ROOT / "src/inspect/process_only.cc").read_text()
    rows = re.findall(r'^ {4}\{((?:"[^"]*"[,\s]*)+)\}', source, re.MULTILINE)
    lines = ["# Calls that need a process for each rank", "", NOTE,
             "A program that imports one of these functions gets a process for each rank. A library may import it: its call is refused when it "
             "is made, with an error that names call, rank and option, and not before. In the rows whose last column has a reason, a library's "
             "import makes processes, too. `clump explain ./a.out` names the function that decides; "
             "[what a rank has to itself](../guide/private.md) has all else that ranks of a process share.",
             "", "| functions | why: each of them | libraries count, because |", "|---|---|---|"]
    for row in rows:
        _, reason, functions, libraries = (["".join(re.findall(r'"([^"]*)"', part)) for part in re.split(r'(?<="),', row)] + [""])[:4]
        lines.append(f"| {', '.join(f'`{name}`' for name in functions.split())} | {reason} | {libraries} |")
    if len(rows) != len(re.findall(r'^ {4}\{"', source, re.MULTILINE)) or len(rows) < 20:
        sys.exit("reference.py: does not understand src/inspect/process_only.cc")
    lines += ["", "Besides: any function of liburing (`io_uring_*`), whose kernel opens, uses and closes descriptors past what is the rank's; and `swapcontext` or "
              "`setcontext` in a file that also has `sigprocmask` or `pthread_sigmask`."]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    build = options.build.resolve()
    pages = {"reference/options": options_page(build), "reference/variables": variables_page(build), "reference/functions": functions_page(),
             "reference/processes": processes_page(),
             "known-failures": known_failures.page(NOTE)}  # fmt: skip
    differ = False
    for name, text in pages.items():
        file = ROOT / "docs" / f"{name}.md"
        old = file.read_text() if file.exists() else ""
        if old == text:
            continue
        differ = True
        if options.check:
            print(f"docs/{name}.md is not up to date; './dev docs --update' writes it again:")
            print("\n".join(list(difflib.unified_diff(old.splitlines(), text.splitlines(), "as it is", "as it would be", lineterm="", n=0))[:40]))
        else:
            file.write_text(text)
            print(f"written: docs/{name}.md")
    return 1 if options.check and differ else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # so that `head` ends it without a word
    sys.exit(main())
