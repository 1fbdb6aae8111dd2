"""Each README.md with a file map has a row for every file of its folder, and for no other one.

  check_maps.py ROOT FOLDER...

A row is "| names | what they have |"; the folder's map is the table under "| file |". A folder inside that has no README.md of its own is part of it:
its files are named with their folder.
"""

import sys
from pathlib import Path

SOURCES = {".h", ".cc"}


def listed(readme):
    """The names in the first column of the table of files."""
    names, in_map = [], False
    for line in readme.read_text().splitlines():
        if line.startswith("| file |"):
            in_map = True
        elif in_map and line.startswith("|"):
            names += line.split("|")[1].split()
        else:
            in_map = False
    return [name for name in names if not set(name) <= {"-"}]


def files_of(folder, top):
    """Their names as seen from `top`."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not (path / "README.md").exists():
            yield from files_of(path, top)
        elif path.suffix in SOURCES:
            yield path.relative_to(top).as_posix()


def check(folder):
    readme = folder / "README.md"
    if not readme.exists():
        yield f"{readme}: missing"
        return
    names = listed(readme)
    there = set(files_of(folder, folder))
    yield from (f"{readme}: does not name {name}" for name in sorted(there - set(names)))
    yield from (f"{readme}: names {name}, which is not there" for name in sorted(set(names) - there))
    yield from (f"{readme}: names {name} twice" for name in sorted({name for name in names if names.count(name) > 1}))


def main():
    root = Path(sys.argv[1])
    problems = [problem for folder in sys.argv[2:] for problem in check(root / folder)]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems or not sys.argv[2:] else 0


if __name__ == "__main__":
    sys.exit(main())
