"""exports_test.py LIBRARY [--list]: every function of this system's C library that is another form of an interposed one is interposed, too.

Other forms are those that headers choose (__isoc23_scanf, __read_chk, open64, a name with _time64) and further names (__read, _IO_puts). A newer C
library may bring some; then this test names them: they belong into src/process/aliases.txt, or beside the function. It also names the functions
that use a rank's stdin without naming it, and what docs/images.md and docs/guide/private.md tell otherwise of functions than it is.

With --list it prints all functions of the C library instead, what becomes of each, and why, as Markdown.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC, DOCS = ROOT / "src", ROOT / "docs"
USES_STDIN = r"(__isoc\d+_)?v?w?scanf|get(w)?char(_unlocked)?|gets"
# Not interposed: a program that calls gets() runs as processes (process_only.cc), as the linker warns of each library that defines it. Names of
# system calls are what libraries call that stand in for the plain name, as tcmalloc for sbrk().
LEFT = {"gets"} | {"__" + call for call in "clone close dup2 fcntl lseek nanosleep open open64 pipe poll pread64 pwrite64 read sbrk sched_yield select send setpgid sysconf write".split()}


def c_library():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            if line.rstrip().endswith("/libc.so.6"):
                return line.split()[-1]
    sys.exit("this Python has no libc.so.6")


def functions(path):
    """What a program can be linked to: functions with their default version, without those for the C library's own parts."""
    listed = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    found = set()
    for line in listed.splitlines():
        kind, name = line.split()[-2:]
        name, _, version = name.partition("@")
        if kind in "TWi" and (not version or version.startswith("@")) and version != "@GLIBC_PRIVATE":
            found.add(name)
    return found


def plain(name):
    """The name without what says which form it is."""
    for form in (r"__isoc\d+_(\w+)", r"__(\w+?)_chk", r"(?:__|_IO_)(\w+)", r"(\w+?)(?:_time)?64", r"(\w+?)64(_r|at)"):
        match = re.fullmatch(form, name)
        if match:
            name = "".join(match.groups())
    return name


def first_comment(text):
    """Up to its first full stop; /// for a file that does not begin with what it is for."""
    found = re.search(r"(?m)^///? ((?:.|\n///? )*?[.:])(?=\s)", text)
    return re.sub(r"\s*\n///? ", " ", found[1]) if found else ""


def left_to_processes():
    """(what the guide calls it, the reason, the functions) of each row of the table."""
    text = re.sub(r'"\n\s*"', "", (SRC / "inspect" / "process_only.cc").read_text(encoding="utf-8"))
    return [(guide, reason, set(names.split())) for guide, reason, names in re.findall(r'^ *\{"([^"]+)",\s*"([^"]+)",\s*"([\w ]+)"', text, re.MULTILINE)]


def told_wrongly(exported, interposed):
    images, guide = (DOCS / "images.md").read_text(encoding="utf-8"), (DOCS / "guide" / "private.md").read_text(encoding="utf-8")
    groups = left_to_processes()
    left = set().union(*(names for _, _, names in groups))
    kept = re.search(r"^\| what \| how \|\n((?:\|.*\n)+)\n((?:.+\n)+)", images, re.MULTILINE)
    if len(left) < 100 or kept is None:
        yield f"{len(left)} functions in process_only.cc: this test does not understand it, or docs/images.md"
        return
    of_ranks = {name for row in kept[1].splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    yield from (f"docs/images.md: {name} is kept for each rank, but not interposed" for name in sorted((of_ranks & exported) - interposed))
    yield from (f"docs/images.md: {name} is left to processes, but not in process_only.cc"
                for name in sorted(set(re.findall(r"`(\w+)`", kept[2])) & exported - left))
    rows = [line for line in guide.splitlines() if line.startswith("| ") and "the ranks are processes" in line.rpartition(" | ")[2]]
    yield from (f"docs/guide/private.md: no row that ends with 'the ranks are processes' begins with what has {name}"
                for name in sorted({name for name, _, _ in groups}) if not any(name in row.split(" | ")[0] for row in rows))


def print_list(exported, interposed):
    further = {name: words[0] for words in map(str.split, (SRC / "process" / "aliases.txt").read_text(encoding="utf-8").splitlines()) if words and words[0] != "#"
               for name in words[1:]}
    groups = {}
    for file in [file for layer in ("image", "process", "host") for file in sorted((SRC / layer).rglob("*.cc"))]:
        text = file.read_text(encoding="utf-8")
        words = set(re.findall(r"\w+", text))
        defined = {name for name in interposed if further.get(name, name) in words and re.search(rf"CLUMP_HOST_API[^;{{}}]*?\b{further.get(name, name)}\(", text)}
        interposed = interposed - defined
        if defined:
            groups[f"`src/{file.relative_to(SRC)}`: {first_comment(text)}"] = defined
    if interposed:
        groups["made by macros of these files"] = interposed
    print(f"## Interposed: {sum(map(len, groups.values()))}\n")
    for what, names in groups.items():
        print(f"- {what} {', '.join(sorted(names))}")
    processes = {}
    for _, reason, names in left_to_processes():
        if names & exported:
            processes.setdefault(reason, set()).update(names & exported)
    print(f"\n## A program that needs one runs as processes: {sum(map(len, processes.values()))}\n")
    for reason, names in processes.items():
        print(f"- {reason}: {', '.join(sorted(names))}")
    rest = exported - set().union(*groups.values(), *processes.values())
    print(f"\n## As the C library has it: {len(rest)}\n\nThese keep nothing between calls, or only in memory that the caller names, in a thread's own, or what docs/images.md says is shared.\n")
    print(", ".join(sorted(rest)))


def main():
    library = c_library()
    exported = functions(library)
    interposed = functions(sys.argv[1]) & exported
    if "--list" in sys.argv:
        print_list(exported, interposed)
        return 0
    if len(exported) < 2000 or len(interposed) < 400:
        sys.exit(f"{len(exported)} functions in {library}, {len(interposed)} interposed: nm has not read them")
    plains = {plain(name) for name in interposed}
    missing = {name for name in exported - interposed if plain(name) in plains or re.fullmatch(USES_STDIN, name)}
    for name in sorted(missing - LEFT):
        print(f"{name} of {library} is not interposed, but {plain(name)} is")
    for name in sorted((LEFT & exported) - missing):
        print(f"{name} is listed as not interposed, but it is, or {library} does not have it")
    wrong = list(told_wrongly(exported, interposed))
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong or missing != LEFT & exported else 0


sys.exit(main())
