"""Looks for links that lead nowhere.

usage: check_links.py --sources ROOT     relative links in the Markdown files of the repository: files, and headings in them
       check_links.py --site FOLDER      all links inside the built site: pages, places in them, pictures, style sheets

Links to other sites are not followed. Prints each link that is broken; the exit code says whether there is one."""

import argparse
import re
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Dict, Iterator, Set, Tuple
from urllib.parse import unquote, urlsplit

FENCE = re.compile(r"^\s*(```+|~~~+)")


def text_lines(text: str) -> Iterator[str]:
    """The lines of a Markdown file that are not in a block of code."""
    fence = None
    for line in text.splitlines():
        match = FENCE.match(line)
        if match and fence is None:
            fence = match[1]
        elif match and match[1].startswith(fence):
            fence = None
        elif fence is None:
            yield line


def slug(heading: str) -> str:
    """The name that a heading has as a place in its page, as Git hosts and MyST make it."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).replace("`", "")
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def headings(text: str) -> Set[str]:
    found: Set[str] = set()
    for line in text_lines(text):
        match = re.match(r"#{1,6} (.*)", line)
        if not match:
            continue
        name, number = slug(match[1]), 1
        while name in found:
            name = f"{slug(match[1])}-{number}"
            number += 1
        found.add(name)
    return found


def broken_in_sources(root: Path) -> Iterator[str]:
    listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                            check=True, capture_output=True, text=True)
    for name in listed.stdout.split():
        page = root / name
        for line in text_lines(page.read_text()):
            for target in re.findall(r"!?\[[^\]]*\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "`code`", line)):
                if urlsplit(target).scheme:
                    continue
                path, _, place = target.partition("#")
                file = (page.parent / unquote(path)) if path else page
                if not file.exists():
                    yield f"{name}: {target}: there is no such file"
                elif place and file.suffix == ".md" and unquote(place) not in headings(file.read_text()):
                    yield f"{name}: {target}: there is no such heading"


class Page(HTMLParser):
    """The links of a page, and the places in it that links may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: Set[str] = set()
        self.places: Set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        for name, value in attributes:
            if name in ("href", "src") and value and tag != "use":
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def split(page: Path, target: str) -> Tuple[Path, str]:
    parts = urlsplit(target)
    file = page if not parts.path else (page.parent / unquote(parts.path))
    return (file / "index.html" if file.is_dir() else file).resolve(), unquote(parts.fragment)


def broken_in_site(folder: Path) -> Iterator[str]:
    pages: Dict[Path, Page] = {file.resolve(): Page(file.read_text()) for file in folder.rglob("*.html")}
    if not pages:
        yield f"{folder}: there are no pages"
    for page, content in pages.items():
        for target in sorted(content.links):
            if urlsplit(target).scheme or target.startswith("//"):
                continue
            file, place = split(page, target)
            where = f"{page.relative_to(folder.resolve())}: {target}"
            if not file.exists():
                yield f"{where}: there is no such file"
            elif place and file in pages and place not in pages[file].places:
                yield f"{where}: there is no such place"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--sources", type=Path)
    which.add_argument("--site", type=Path)
    options = parser.parse_args()
    broken = list(broken_in_sources(options.sources) if options.sources else broken_in_site(options.site))
    print("\n".join(broken) if broken else "every link leads somewhere")
    return 1 if broken else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # so that `head` ends it without a word
    sys.exit(main())
