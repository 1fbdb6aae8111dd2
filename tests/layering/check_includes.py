"""The layer rule, and what no file of this repository may say.

  check_includes.py ROOT                    #include lines of src/ against the table below, which is the one of docs/architecture.md
  check_includes.py ROOT --texts            no path of somebody's machine and no package registry's host in any file
  check_includes.py ROOT --headers DATABASE each header of src/ compiles alone, with the flags of DATABASE (compile_commands.json)
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

# layer: the layers right below it. What those may include, it may include too.
BELOW = {
    "base": [],
    "record": ["base"],
    "fiber": ["base"],
    "datatype": ["base"],
    "image": ["base", "fiber"],
    "pmi": ["base"],
    "diag": ["base", "image", "pmi"],
    "net": ["base", "fiber", "datatype"],
    "core": ["net"],
    "p2p": ["core"],
    "coll": ["p2p"],
    "topo": ["p2p"],
    "instruments": ["coll"],
    "mpi": ["coll", "topo", "instruments", "record"],
    "runtime": ["mpi", "diag"],
    "malloc": [],
}
# Headers of one layer that others may include although they stand above: contracts without code of that layer behind them.
SHARED_HEADERS = {"runtime/host.h"}
SOURCE = re.compile(r"\.(h|cc)$")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
# Written in pieces, so that this file does not say them either.
FORBIDDEN = [
    (re.compile(r"(?<![\w./])/(home|Users|work|root)/\w"), "a path of one machine"),
    (re.compile(r"\b(" + r"|".join(["pypi" + r"\.org", "pythonhosted" + r"\.org", "deb" + r"\.debian\.org"]) + r")\b"),
     "a package registry's host"),
]


def allowed(layer):
    """All layers that `layer` may include, itself among them."""
    reached, todo = set(), [layer]
    while todo:
        current = todo.pop()
        if current not in reached:
            reached.add(current)
            todo += BELOW[current]
    return reached


def sources(root):
    return sorted(path for path in (root / "src").rglob("*") if path.is_file() and SOURCE.search(path.name))


def check_layers(root):
    for folder in sorted(path.name for path in (root / "src").iterdir() if path.is_dir()):
        if folder not in BELOW:
            yield f"src/{folder}: not in the table of layers"
    for path in sources(root):
        layer = path.relative_to(root / "src").parts[0]
        for match in INCLUDE.finditer(path.read_text()):
            included = match.group(1)
            target = included.split("/")[0]
            if target in BELOW and target not in allowed(layer) and included not in SHARED_HEADERS:
                line = path.read_text()[: match.start(1)].count("\n") + 1
                yield f"{path.relative_to(root)}:{line}: layer {layer} may not include {included}"


def check_texts(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, check=True).stdout.decode()
    for name in sorted(set(filter(None, listed.split("\0")))):
        try:
            text = (root / name).read_text()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        for pattern, what in FORBIDDEN:
            for match in pattern.finditer(text):
                yield f"{name}:{text[:match.start()].count(chr(10)) + 1}: {what}: {match.group(0)}"


def flags_of(database):
    """For each folder of src/, compiler and flags of one of its files; include directories of generated files come along."""
    flags = {}
    for entry in json.loads(database.read_text()):
        parts = Path(entry["file"]).parts
        if "src" not in parts or not entry["file"].endswith(".cc") or entry["file"].endswith("_test.cc"):
            continue
        words = shlex.split(entry["command"])
        if Path(words[0]).name == "ccache":
            words = words[1:]
        words = words[: words.index("-c")] if "-c" in words else words
        if "-o" in words:
            del words[words.index("-o"): words.index("-o") + 2]
        flags.setdefault(parts[parts.index("src") + 1], (words, entry["directory"]))
    return flags


def compile_header(root, header, command):
    words, directory = command
    result = subprocess.run([*words, "-fsyntax-only", "-w", "-x", "c++", header], cwd=directory, capture_output=True, text=True)
    if result.returncode != 0:
        first = next((line for line in result.stderr.splitlines() if "error" in line), result.stderr[:200])
        return f"{header.relative_to(root)}: does not compile alone: {first}"
    return None


def check_headers(root, database):
    flags = flags_of(database)
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for header in (path for path in sources(root) if path.suffix == ".h"):
            command = flags.get(header.relative_to(root / "src").parts[0])
            if command is not None:
                jobs.append(pool.submit(compile_header, root, header, command))
    if not jobs:
        yield "no header was compiled: the database names no file of src/"
    yield from filter(None, (job.result() for job in jobs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--headers", type=Path, metavar="DATABASE")
    options = parser.parse_args()
    root = options.root.resolve()
    if options.texts:
        problems = list(check_texts(root))
    elif options.headers:
        problems = list(check_headers(root, options.headers))
    else:
        problems = list(check_layers(root))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
