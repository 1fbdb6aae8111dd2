"""Does mpi.h compile without a warning in one version of C or C++, and do all constants and types have the ABI's values?

Writes a program from constants.csv (and, for C11 and later, types.h), compiles it with -Wall -Wextra -pedantic -Werror, runs it.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

PROGRAM = """\
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
{types}
/* An array of negative size does not compile, in any version of C and C++. */
#define ALWAYS(name, condition) extern char name[(condition) ? 1 : -1]
#define SIZE(type, bytes) ALWAYS(size_of_##type, sizeof(type) == (bytes))

SIZE(MPI_Aint, sizeof(void*));
SIZE(MPI_Offset, 8);
SIZE(MPI_Count, 8);
SIZE(MPI_Comm, sizeof(void*));
SIZE(MPI_Status, 32);
ALWAYS(source_is_first, offsetof(MPI_Status, MPI_SOURCE) == 0);
ALWAYS(tag_is_second, offsetof(MPI_Status, MPI_TAG) == 4);
ALWAYS(error_is_third, offsetof(MPI_Status, MPI_ERROR) == 8);
ALWAYS(the_rest_is_the_librarys, offsetof(MPI_Status, MPI_internal) == 12);

/* Which library this is the header of. */
#ifndef CLUMP
#error "CLUMP is not defined"
#endif
ALWAYS(version_has_this_length, sizeof(CLUMP_VERSION) == sizeof("{version}"));
ALWAYS(version_is_this, CLUMP_NUMVERSION == {number});
{always}

/* A handle or pointer of the wrong type does not compile either. */
{typed}

static const struct {{ const char* name; intptr_t is, must_be; }} kValues[] = {{
{values}
}};

int main(void) {{
  int wrong = 0;
  size_t i;
  for (i = 0; i < sizeof kValues / sizeof kValues[0]; ++i) {{
    if (kValues[i].is == kValues[i].must_be) continue;
    printf("%s is %ld and must be %ld\\n", kValues[i].name, (long)kValues[i].is, (long)kValues[i].must_be);
    wrong = 1;
  }}
  printf("%u constants\\n", (unsigned)(sizeof kValues / sizeof kValues[0]));
  return wrong;
}}
"""


def number(text):
    """The number in 7, -1, 0xC, ((void*)1) or the name of another constant."""
    text = text.replace("((", "(").rstrip(")").split(")")[-1]
    return text if text.startswith("MPI_") else text.lstrip("(")


def write_program(version, c11):
    with open(HERE / "constants.csv", newline="") as file:
        rows = [(row["name"], row["handle_or_pointer_type"], row["value"]) for row in csv.DictReader(file)]
    integers = [(name, value) for name, kind, value in rows if kind in ("", "int") and "(" not in value and not value.startswith("MPI_")]
    typed = [(name, kind) for name, kind, value in rows if kind not in ("", "int")]
    major, minor, patch = map(int, version.split("."))
    return PROGRAM.format(
        version=version,
        number=10000 * major + 100 * minor + patch,
        types='#include "types.h"' if c11 else "",
        always="\n".join(f"ALWAYS(value_of_{name}, {name} == {number(value)});" for name, value in integers),
        typed="\n".join(f"extern {kind} take_{name}(void);\n{kind} take_{name}(void) {{ return {name}; }}" for name, kind in typed),
        values="\n".join(f'    {{"{name}", (intptr_t)({name}), (intptr_t)({number(value)})}},' for name, kind, value in rows),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--language", required=True)
    parser.add_argument("--version", required=True, help="the library's: 0.1.0")
    arguments = parser.parse_args()
    if arguments.compiler.endswith("-NOTFOUND"):
        print("skipped: this compiler is not installed")
        return 77
    is_cxx = "++" in arguments.language
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "constants.cc" if is_cxx else "constants.c")
        source.write_text(write_program(arguments.version, c11=arguments.language in ("c11", "c17", "c2x")))
        program = Path(folder, "constants")
        subprocess.run(
            [arguments.compiler, f"-std={arguments.language}", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{arguments.include}",
             f"-I{HERE}", str(source), "-o", str(program)], check=True)  # fmt: skip
        return subprocess.run([str(program)]).returncode


if __name__ == "__main__":
    sys.exit(main())
