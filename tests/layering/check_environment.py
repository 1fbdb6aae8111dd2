"""Does all of src/ ask for variables of the environment by base/environment.h, which a program with the rights of its file does not obey?

  check_environment.py ROOT
"""

import re
import sys
from pathlib import Path

WAYS = re.compile(r"\b(?:secure_)?getenv\b|\b__environ\b|\benviron\b|\bAT_SECURE\b")
OF_KERNEL = re.compile(r"/proc/[^\"]*/environ\b")  # stands in a text
# Where it is done.
HOME = {"src/base/environment.h", "src/base/environment.cc"}
# Functions of the C library, which programs call, and each rank's `environ`, to which these refer.
FOR_PROGRAMS = re.compile(r"src/(?:image/(?:image|variables)|process/(?:libc/\w+|children/(?:exec|fork|shell)))\.(?:cc|h)")


def without_comments_and_texts(line):
    return re.sub(r'//.*|"(?:[^"\\]|\\.)*"', "", line)


def problems_in(root):
    for path in sorted((root / "src").rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in {".h", ".cc"} or name in HOME or FOR_PROGRAMS.fullmatch(name):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if WAYS.search(without_comments_and_texts(line)) or OF_KERNEL.search(line.split("//")[0]):
                yield f"{name}:{number}: ask base::variable() or base::environment() (base/environment.h): {line.strip()}"


def main():
    root = Path(sys.argv[1])
    if not all((root / name).is_file() for name in HOME):
        print("src/base/environment.h or .cc is not there")
        return 1
    problems = list(problems_in(root))
    print("\n".join(problems), end="\n" if problems else "")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
