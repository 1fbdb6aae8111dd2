"""The documents that lead through the code name files and identifiers that exist.

check_names.py ROOT: looks at docs/architecture.md, docs/find-your-way.md, docs/life-of-*.md and the README.md files below src. Prints each
name in `backticks` that is the form of a file or an identifier and that no file of the tree has. Of other pages, which name much that is not
ours, it looks at files and at identifiers in our namespaces. Exit code 1 if there is one.
"""
import re
import subprocess
import sys
from pathlib import Path

FILE = re.compile(r"([\w./-]+/)?[\w.-]+\.(h|cc|c|py|S)")
IDENTIFIER = re.compile(r"~?[A-Za-z_]\w*(::~?\w+)*(\(\))?")
MADE_BY_THE_BUILD = {"mpi.h", "mpif.h"}
NOT_OURS = {"ISO_Fortran_binding.h", "name_test.cc", "sum.py", "test_futures.py", "tuning.h"}  # of others, examples


def documents(root: Path) -> list[Path]:
    docs = root / "docs"
    return [docs / "architecture.md", docs / "find-your-way.md", *sorted(docs.glob("life-of-*.md")), *sorted((root / "src").rglob("README.md"))]


def other_pages(root: Path) -> list[Path]:
    """But for those that tell what was once: experiments, and reports of the lab."""
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    return [page for page in pages if page not in documents(root) and not {"experiments", "lab"} & set(page.relative_to(root).parts[:-1])]


def main(root: Path) -> int:
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True)
    files = [name for name in listed.stdout.splitlines() if (root / name).is_file()]
    code = [root / name for name in files if re.match(r"(src|tools|gen|bench|tests)/.*\.(h|cc|c|py|S|txt|in)$", name)]
    words = set(re.findall(r"\w+", "\n".join(path.read_text(errors="replace") for path in code)))
    ends = {"/".join(parts[i:]) for parts in (name.split("/") for name in files) for i in range(len(parts))} | MADE_BY_THE_BUILD

    layers = {path.name for path in (root / "src").iterdir() if path.is_dir()}
    found = wrong = 0
    for document in [*documents(root), *other_pages(root)]:
        names_all = document in documents(root)
        for name in re.findall(r"`([^`\n]+)`", document.read_text()):
            if FILE.fullmatch(name):
                is_right = name in ends or name in NOT_OURS
            elif IDENTIFIER.fullmatch(name) and (names_all or name.partition("::")[0] in layers and "::" in name):
                is_right = all(word in words for word in re.findall(r"\w+", name))
            else:
                continue
            found += 1
            if not is_right:
                wrong += 1
                print(f"{document.relative_to(root)}: there is no {name}")
    if found == 0:
        print("no document names a file: this test looks in the wrong place")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
