"""The layer rule, and what no file of this repository may say.

  check_includes.py ROOT                    #include lines of src/ against the table below, which is the one of docs/architecture.md
  check_includes.py ROOT --texts            no path of somebody's machine and no package registry's host in any file; tools print what is printable
  check_includes.py ROOT --headers DATABASE each header of src/ includes what it needs; DATABASE (compile_commands.json) has the flags
  check_includes.py ROOT --headers DATABASE --alone
                                            each header of src/ compiles as a file of its own, without precompiled headers

A source that begins with a header shows by being compiled that the header lacks nothing but what was precompiled (cmake/Precompiled.cmake).
So --headers compiles only the headers that no source begins with, and looks in the text of all for names of precompiled headers. It compiles those of a
layer as one, in the order of their names and in the opposite one: of two headers the one that needs the other and does not include it comes first in one
of the orders. What a third header hides in both, --alone finds.
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
    "inspect": ["base"],
    "image": ["fiber", "inspect"],
    "process": ["image"],
    "pmi": ["base"],
    "diag": ["base", "image", "pmi"],
    "net": ["base", "fiber", "datatype"],
    "core": ["net"],
    "p2p": ["core"],
    "coll": ["p2p"],
    "topo": ["p2p"],
    "rma": ["coll"],
    "io": ["coll"],
    "instruments": ["coll"],
    "mpi": ["coll", "io", "topo", "rma", "instruments", "record"],
    "host": ["process", "diag"],
    "runtime": ["mpi", "diag", "host"],
    "malloc": [],
}
# Headers of one layer that others may include although they stand above: contracts without code of that layer behind them.
SHARED_HEADERS = {"host/host.h"}
# The names of namespace std that a precompiled header is there for. Those of <cstddef> come with each header of the C++ library.
STANDARD_NAMES = {
    "algorithm": "all_of any_of binary_search clamp copy copy_if copy_n count count_if equal equal_range fill fill_n find find_if "
                 "find_if_not for_each generate includes is_sorted lower_bound max max_element min min_element minmax none_of "
                 "nth_element partition remove remove_if replace reverse rotate sort stable_sort swap_ranges transform unique upper_bound",
    "array": "array to_array",
    "atomic": "atomic atomic_flag atomic_ref atomic_signal_fence atomic_thread_fence memory_order memory_order_acq_rel "
              "memory_order_acquire memory_order_relaxed memory_order_release memory_order_seq_cst",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero endian has_single_bit popcount rotl rotr",
    "chrono": "chrono",
    "condition_variable": "condition_variable condition_variable_any cv_status",
    "cstddef": "byte max_align_t nullptr_t ptrdiff_t size_t",
    "cstdint": "int8_t int16_t int32_t int64_t intmax_t intptr_t uint8_t uint16_t uint32_t uint64_t uintmax_t uintptr_t",
    "cstdlib": "abort abs aligned_alloc atexit calloc exit free getenv malloc realloc strtol strtoul",
    "cstring": "memchr memcmp memcpy memmove memset strchr strcmp strcpy strerror strlen strncmp strncpy strrchr strstr",
    "deque": "deque",
    "functional": "cref equal_to function greater hash invoke less minus multiplies not_fn plus ref reference_wrapper",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "addressof allocator assume_aligned construct_at default_delete destroy_at enable_shared_from_this make_shared "
              "make_unique shared_ptr uninitialized_copy unique_ptr weak_ptr",
    "memory_resource": "pmr",
    "mutex": "adopt_lock call_once defer_lock lock_guard mutex once_flag recursive_mutex scoped_lock try_to_lock unique_lock",
    "numeric": "accumulate exclusive_scan gcd inclusive_scan inner_product iota lcm midpoint partial_sum reduce",
    "optional": "make_optional nullopt optional",
    "set": "multiset set",
    "shared_mutex": "shared_lock shared_mutex shared_timed_mutex",
    "span": "as_bytes as_writable_bytes dynamic_extent span",
    "string": "basic_string stoi stol string to_string",
    "string_view": "string_view",
    "thread": "jthread this_thread thread",
    "unordered_map": "unordered_map unordered_multimap",
    "utility": "as_const cmp_less declval exchange forward in_range index_sequence integer_sequence make_index_sequence make_pair move "
               "pair swap",
    "vector": "vector",
    "fmt/format.h": "",
}
NAME = re.compile(r"\bstd::(\w+)")
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
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
            path = root / name
            text = str(path.readlink()) if path.is_symlink() else path.read_text()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        for pattern, what in FORBIDDEN:
            for match in pattern.finditer(text):
                yield f"{name}:{text[:match.start()].count(chr(10)) + 1}: {what}: {match.group(0)}"


# Lines that move the cursor have "\r" in them.
PRINTS = re.compile(r'\bfmt::print\((?!\)|(?:stderr, )?"\\r)|\bstd::(?:printf|fprintf|fputs|puts|putchar|cout|cerr)\b')


def check_printing(root):
    """Tools print by print_out() and print_error() (tools/common/output.h), which show control characters in the names of others. Files of their own are
    written with fputs() and the like, to streams that have names."""
    for path in sorted((root / "tools").rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in {".h", ".cc"} or path.name.endswith("_test.cc") or name.startswith("tools/manual/") or name == "tools/common/output.h":
            continue
        text = path.read_text()
        for match in PRINTS.finditer(text):
            yield f"{name}:{text[:match.start()].count(chr(10)) + 1}: print_out() and print_error() show control characters in names; {match.group(0)} does not"


def flags_of(database, precompiled):
    """For each folder of src/, compiler and flags of one of its files; include directories of generated files come along."""
    flags = {}
    for entry in json.loads(database.read_text()):
        parts = Path(entry["file"]).parts
        # Of files that are compiled as one (cmake/Unity.cmake) the database names only what includes them: src/LAYER/CMakeFiles/TARGET.dir/Unity/...
        if "src" not in parts or not entry["file"].endswith((".cc", ".cxx")) or entry["file"].endswith("_test.cc") or "_test.dir" in entry["file"]:
            continue
        words = shlex.split(entry["command"])
        if Path(words[0]).name == "ccache":
            words = words[1:]
        words = words[: words.index("-c")] if "-c" in words else words
        for option in ["-o"] if precompiled else ["-o", "-include"]:
            if option in words:
                del words[words.index(option): words.index(option) + 2]
        flags.setdefault(parts[parts.index("src") + 1], (words, entry["directory"]))
    return flags


def headers_of(root):
    """Each header of src/ under the name by which it is included."""
    return {str(path.relative_to(root / "src")): path for path in sources(root) if path.suffix == ".h"}


def begun_with(root):
    """The headers that a source includes before anything else."""
    firsts = (INCLUDE.search(path.read_text()) for path in sources(root) if path.suffix == ".cc")
    return {first.group(1) for first in firsts if first}


def precompiled_headers(root):
    listed = re.search(r"set\(CLUMP_PRECOMPILED\s([^)]*)\)", (root / "cmake" / "Precompiled.cmake").read_text())
    return re.findall(r"<([^>]+)>", listed.group(1))


def all_included(name, texts, known):
    """What a header includes, itself or through others of src/."""
    if name not in known:
        known[name] = set()  # a circle ends here
        for other in INCLUDE.findall(texts.get(name, "")):
            known[name] |= {other} | all_included(other, texts, known)
    return known[name]


def check_precompiled(root):
    """Names of precompiled headers are used only where these are included."""
    wanted = precompiled_headers(root)
    yield from (f"cmake/Precompiled.cmake: <{header}>: not in STANDARD_NAMES" for header in wanted if header not in STANDARD_NAMES)
    texts = {name: path.read_text() for name, path in headers_of(root).items()}
    known = {}
    for name, text in texts.items():
        code, included = NO_CODE.sub("", text), all_included(name, texts, known)
        used = set(NAME.findall(code))
        for header in wanted:
            found = sorted(used & set(STANDARD_NAMES.get(header, "").split()))
            comes_along = header == "cstddef" and any("/" not in other and not other.endswith(".h") for other in included)
            if found and header not in included and not comes_along:
                yield f"src/{name}: uses std::{found[0]} without including <{header}>"
        if "fmt::" in code and not any(header.startswith("fmt/") for header in included):
            yield f"src/{name}: uses fmt without including a header of it"


def error_of(headers, command):
    """The first error of a file that includes these headers, or nothing."""
    words, directory = command
    text = "".join(f'#include "{header}"\n' for header in headers)
    result = subprocess.run([*words, "-fsyntax-only", "-w", "-x", "c++", "-"], cwd=directory, input=text, capture_output=True, text=True)
    if result.returncode == 0:
        return None
    return next((line for line in result.stderr.splitlines() if "error" in line), result.stderr[:200])


def compile_alone(root, headers, command):
    """A problem for each of these headers that does not compile as a file of its own."""
    errors = ((header, error_of([header], command)) for header in headers)
    return [f"{header.relative_to(root)}: does not compile alone: {error}" for header, error in errors if error]


def compile_together(root, headers, command):
    """The same with two runs of the compiler. Headers that only contradict each other are no problem."""
    return compile_alone(root, headers, command) if error_of(headers, command) or error_of(headers[::-1], command) else []


def compile_headers(root, database, names, precompiled, compile_some):
    """By compile_alone() or compile_together(), layer by layer."""
    flags, headers = flags_of(database, precompiled), headers_of(root)
    layers = {}
    for name in sorted(names):
        layers.setdefault(name.split("/")[0], []).append(headers[name])
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [pool.submit(compile_some, root, some, flags[layer]) for layer, some in layers.items() if layer in flags]
    if not jobs:
        yield "no header was compiled: the database names no file of src/"
    for job in jobs:
        yield from job.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--headers", type=Path, metavar="DATABASE")
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    root = options.root.resolve()
    if options.texts:
        problems = [*check_texts(root), *check_printing(root)]
    elif options.headers and options.alone:
        problems = list(compile_headers(root, options.headers, headers_of(root), False, compile_alone))
    elif options.headers:
        left = headers_of(root).keys() - begun_with(root)
        problems = [*check_precompiled(root), *compile_headers(root, options.headers, left, True, compile_together)]
    else:
        problems = list(check_layers(root))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
