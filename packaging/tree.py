"""Puts an installation into a folder, brings one there up to date, and takes one away again:

    tree.py install [--made] BUILD PREFIX COMPONENT...
    tree.py uninstall PREFIX

BUILD is a build tree in which the target `installed` is built. DESTDIR in the environment goes before PREFIX. PREFIX/share/clump/install_manifest.txt
lists what was installed, relative to PREFIX: files, and with a slash at the end the folders that were made for them. With --made PREFIX itself ("./") was
made for this. install_checksums.txt beside it tells a file that was installed from one that has been put in its place since. After an interrupted
`install` it has two lines for a file, one for each version.

A file is replaced by rename(2): a program that runs keeps its own. A call that was interrupted can be repeated, and what it has done can be uninstalled.
Files of others are not replaced: `install` refuses before it changes anything. Nothing is written or removed through a link that leads out of PREFIX.
"""

import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FOLDER = "share/clump"
MANIFEST, CHECKSUMS = FOLDER + "/install_manifest.txt", FOLDER + "/install_checksums.txt"
TEMPORARY = ".clump-install-"  # begins the names of folders that hold a file until it is whole
CHANGED = "it was changed after it was installed"


def checksum(path):
    """Of a file, or of where a link leads; "" for folders, pipes and the like, which are never installed."""
    if not (path.is_symlink() or path.is_file()):
        return ""
    content = b"link to " + os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
    return hashlib.sha256(content).hexdigest()


def parents(name):
    """The folders of a file, the innermost first, each with a slash."""
    return [f"{parent}/" for parent in pathlib.PurePosixPath(name).parents if str(parent) != "."]


def is_below(name):
    return name == "./" or not (name.startswith("/") or ".." in name.split("/"))


def leads_out(place, name):
    """The link by which `name` is outside of `place`, or None. Where the last part of `name` leads is not looked at: it is replaced itself."""
    root = os.path.realpath(place)
    for folder in reversed(parents(name)):
        real = os.path.realpath(place / folder)
        if os.path.commonpath([root, real]) != root:
            return place / folder
    return None


def put(target, make):
    """`make(path)` makes a file, which then takes the place of `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=target.parent) as folder:
        temporary = pathlib.Path(folder, target.name)
        make(temporary)
        temporary.replace(target)


class Tree:
    """What is installed in a folder, by its manifest. `sums` has the checksums that a file may have: one, or two after an interrupted installation."""

    def __init__(self, place):
        self.place = place
        self.files, self.folders, self.sums = set(), set(), {}
        if not (place / MANIFEST).is_file():
            return
        lines = {line for line in (place / MANIFEST).read_text(encoding="utf-8").splitlines() if line and is_below(line)}
        self.folders = {line for line in lines if line.endswith("/")}
        self.files = lines - self.folders
        if not self.folders:  # version 0.1 listed none: those that have our name
            self.folders = {folder for name in self.files for folder in parents(name) if "clump" in folder.lower()}
        if (place / CHECKSUMS).is_file():
            for line in (place / CHECKSUMS).read_text(encoding="utf-8").splitlines():
                self.sums.setdefault(line[66:], set()).add(line[:64])

    def write_checksums(self):
        text = "".join(f"{one}  {name}\n" for name in sorted(self.sums) for one in sorted(self.sums[name]))
        put(self.place / CHECKSUMS, lambda path: path.write_text(text, encoding="utf-8"))

    def write_manifest(self):
        text = "".join(f"{name}\n" for name in sorted(self.files | self.folders | {MANIFEST, CHECKSUMS}))
        put(self.place / MANIFEST, lambda path: path.write_text(text, encoding="utf-8"))

    def remove_temporaries(self):
        """Those that an interrupted call has left."""
        for folder in {(self.place / name).parent for name in (*self.files, MANIFEST) if not leads_out(self.place, name)}:
            for path in folder.glob(TEMPORARY + "*"):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)

    def is_changed(self, name):
        """Is another thing there than what was installed? Of files of version 0.1, which has no checksums, no other file is known."""
        there = checksum(self.place / name)
        return there == "" or there not in self.sums.get(name, {there})

    def remove(self, files, folders):
        """Removes files that are as they were installed, and folders that are empty then. Returns how many files, and {name: why} of what is left."""
        left, removed = {}, 0
        for name in sorted(files):
            path = self.place / name
            if not os.path.lexists(path):
                continue
            if link := leads_out(self.place, name):
                left[name] = f"{link} leads out of {self.place}"
            elif self.is_changed(name):
                left[name] = CHANGED
            else:
                path.unlink()
                removed += 1
        for name in sorted(folders, key=lambda folder: (-folder.rstrip("/").count("/"), folder == "./")):
            path = self.place / name
            if not path.is_dir():
                continue
            if link := leads_out(self.place, name):
                left[name] = f"{link} leads out of {self.place}"
            elif not path.is_symlink() and not any(path.iterdir()):
                path.rmdir()
        return removed, left


def staged(build, prefix, components, stage):
    """What cmake installs: {name: path of the file in `stage`}."""
    for component in components:
        subprocess.run(["cmake", "--install", build, "--prefix", prefix, "--component", component], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "DESTDIR": stage})
    root = pathlib.Path(stage + prefix)
    return {str(path.relative_to(root)): path for path in root.rglob("*") if path.is_symlink() or path.is_file()}


def refuse_what_is_of_others(before, files):
    """Ends the program where a file would be written through a link, or would replace one that no earlier call has installed."""
    place = before.place
    for name in (*files, MANIFEST):
        if link := leads_out(place, name):
            sys.exit(f"dev: {link} leads to {os.path.realpath(link)}, which is outside of {place}: remove this link, or choose another folder by --prefix")
        if (place / name).is_dir() and not (place / name).is_symlink():
            sys.exit(f"dev: {place / name} is a folder, where a file would be installed: remove it, or choose another folder by --prefix")
    others = [str(place / name) for name, path in sorted(files.items())
              if name not in before.files and os.path.lexists(place / name) and checksum(place / name) != checksum(path)]
    if others:
        names = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        sys.exit(f"dev: './dev install' has not installed {names}, and does not replace files of others: remove them, or choose another folder by --prefix")


def keep_changed(path):
    """Renames a file to NAME.before, or to the first of NAME.before2, ... that is free. Returns the new path."""
    number = 1
    while os.path.lexists(kept := path.with_name(f"{path.name}.before{number if number > 1 else ''}")):
        number += 1
    return path.rename(kept)


def install(build, prefix, components, made):
    place = pathlib.Path(os.environ.get("DESTDIR", "") + prefix)
    tree, before = Tree(place), Tree(place)
    with tempfile.TemporaryDirectory(dir=build) as stage:
        files = staged(build, prefix, components, stage)
        if not files:
            sys.exit(f"dev: {build} has no files of the components {', '.join(components)}: build the target 'installed' first")
        refuse_what_is_of_others(before, files)
        before.remove_temporaries()
        for name in before.files - set(before.sums) - {MANIFEST, CHECKSUMS}:  # of version 0.1: until they are replaced, they may be as they are
            before.sums[name] = {checksum(place / name)}
        needed = {folder for name in (*files, MANIFEST) for folder in parents(name)}
        tree.folders |= {folder for folder in needed if not (place / folder).is_dir()} | ({"./"} if made else set())
        tree.files |= set(files)
        new = {name: {checksum(path)} for name, path in files.items()}
        tree.sums = {name: before.sums.get(name, set()) | new.get(name, set()) for name in (*before.sums, *new)}
        tree.write_checksums()  # before the manifest: what is listed has its checksums
        tree.write_manifest()
        for name, path in files.items():
            if os.path.lexists(place / name) and tree.is_changed(name):
                print(f"kept {keep_changed(place / name)}: {place / name} was changed after it was installed, and is replaced")
            put(place / name, functools.partial(shutil.copy2, path, follow_symlinks=False))
    removed, left = before.remove(before.files - set(files) - {MANIFEST, CHECKSUMS}, before.folders - needed - {"./"})
    tree.files = set(files)
    tree.folders = {folder for folder in tree.folders if (place / folder).is_dir()}
    tree.sums = new
    tree.write_manifest()  # before the checksums, for the same reason
    tree.write_checksums()
    size = sum((place / name).lstat().st_size for name in files)
    print(f"installed {len(files)} files, {size / 1e6:.0f} MB" + (f"; removed {removed} of an older version" if removed else ""))
    tell_left(place, left)


def tell_left(place, left):
    for name, why in left.items():
        print(f"left {place / name}: {why}")


def uninstall(prefix):
    place = pathlib.Path(os.environ.get("DESTDIR", "") + prefix)
    if not (place / MANIFEST).is_file():
        sys.exit(f"dev: nothing was installed into {place} by './dev install': there is no {MANIFEST}")
    if link := leads_out(place, MANIFEST):
        sys.exit(f"dev: {link} leads to {os.path.realpath(link)}, which is outside of {place}: nothing was removed")
    tree = Tree(place)
    tree.remove_temporaries()
    removed, left = tree.remove(tree.files - {MANIFEST, CHECKSUMS}, set())
    (place / CHECKSUMS).unlink(missing_ok=True)
    (place / MANIFEST).unlink()  # at last: until then the call can be repeated
    left.update(tree.remove([], tree.folders)[1])
    print(f"removed {removed} files from {place}")
    tell_left(place, left)
    for folder in sorted(tree.folders - {"./"}):
        others = [name for name in (*tree.folders, *left) if name != folder and name.startswith(folder) and os.path.lexists(place / name)]
        if (place / folder).is_dir() and folder not in left and not others:
            print(f"left {place / folder}: it has files that were not installed")


def main():
    words = sys.argv[1:]
    made = "--made" in words
    if made:
        words.remove("--made")
    try:
        if len(words) > 3 and words[0] == "install":
            install(words[1], words[2], words[3:], made)
        elif len(words) == 2 and words[0] == "uninstall":
            uninstall(words[1])
        else:
            sys.exit(__doc__)
    except OSError as error:
        sys.exit(f"dev: {error.strerror}: {error.filename}; what was done so far is in the manifest: call this again, or uninstall")
    except subprocess.CalledProcessError as error:
        sys.exit(f"dev: {error}")


if __name__ == "__main__":
    main()
