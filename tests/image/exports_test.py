"""exports_test.py LIBRARY [--list]: every function of this system's C library that is another form of an interposed one is interposed, too.

Other forms are those that headers choose (__isoc23_scanf, __read_chk, open64, a name with _time64) and further names (__read, _IO_puts). A newer C
library may bring some; then this test names them: they belong into src/process/aliases.txt, or beside the function. It also names the functions
that use a rank's stdin without naming it.

With --list it prints all functions of the C library instead, what becomes of each, and why, as Markdown.
"""

import re
import subprocess
import sys
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src"
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
    text = (SRC / "inspect" / "process_only.cc").read_text(encoding="utf-8")
    sentences = dict(re.findall(r'constexpr std::string_view (k\w+) =\s*"(.*?)"', text))
    processes = {}
    for name, reason in re.findall(r'\{"(\w+)",\s*("[^"]*"|k\w+)', text):
        if name in exported:
            processes.setdefault(sentences.get(reason, reason.strip('"')), set()).add(name)
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
    return 1 if missing != LEFT & exported else 0


sys.exit(main())
