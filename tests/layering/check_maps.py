"""Each README.md with a file map has a row for every file of its folder, and for no other one; and each map of channels has all of them.

  check_maps.py ROOT

A layer, which is a folder in src, and a part of mpiexec have a README.md with a map. A row is "| names | what they have |"; the folder's map is the table under "| file |". A folder inside that has no README.md of its own is part of it:
its files are named with their folder.
"""

import re
import sys
from pathlib import Path

SOURCES = {".h", ".cc"}
# Where all channels are named, and how the place begins.
OF_CHANNELS = {"docs/architecture.md": "| channel;", "src/README.md": "| [net]", "src/net/README.md": "Channels:", "src/net/channel.h": "//   p2p --"}


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


def folders(root):
    """Those that have a map: the layers, the parts of mpiexec, and the folders inside that have a README.md."""
    for top in (root / "src", root / "tools/mpiexec"):
        for folder in sorted(top.iterdir()):
            if folder.is_dir() and any(path.suffix in SOURCES for path in folder.rglob("*")):
                yield folder
                yield from sorted(path.parent for path in folder.rglob("README.md") if path.parent != folder)


def channels(root):
    """The folders of src/net with a channel in them."""
    return sorted({path.parent.name for path in (root / "src/net").glob("*/*_channel.h")})


def without_channels(root):
    for name, begin in OF_CHANNELS.items():
        text = (root / name).read_text()
        at = text.find(begin)
        place = text[at:text.find("\n", at)] if at >= 0 else ""
        yield from (f"{name}: '{begin}' has no channel {channel}" for channel in channels(root) if not re.search(rf"\b{channel}\b", place))


def main():
    root = Path(sys.argv[1])
    checked = list(folders(root))
    problems = [problem for folder in checked for problem in check(folder)] + list(without_channels(root))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems or len(checked) < 30 or len(channels(root)) < 4 else 0


if __name__ == "__main__":
    sys.exit(main())
