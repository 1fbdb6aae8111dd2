"""Puts an installation into a folder, brings one there up to date, and takes one away again:

    tree.py install [--made] BUILD PREFIX COMPONENT...
    tree.py uninstall PREFIX

BUILD is a build tree in which the target `installed` is built. DESTDIR in the environment goes before PREFIX. PREFIX/share/clump/install_manifest.txt
lists what was installed, relative to PREFIX: files, and with a slash at the end the folders that were made for them. With --made PREFIX itself ("./") was
made for this. install_checksums.txt beside it tells a file that was installed from one that has been put in its place since.

A file is replaced by rename(2): a program that runs keeps its own. A call that was interrupted can be repeated, and what it has done can be uninstalled.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FOLDER = "share/clump"
MANIFEST, CHECKSUMS = FOLDER + "/install_manifest.txt", FOLDER + "/install_checksums.txt"


def checksum(path):
    content = b"link to " + os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
    return hashlib.sha256(content).hexdigest()


def parents(name):
    """The folders of a file, the innermost first, each with a slash."""
    return [f"{parent}/" for parent in pathlib.PurePosixPath(name).parents if str(parent) != "."]


def is_below(name):
    return name == "./" or not (name.startswith("/") or ".." in name.split("/"))


class Tree:
    """What is installed in a folder, by its manifest."""

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
            self.sums = {line[66:]: line[:64] for line in (place / CHECKSUMS).read_text(encoding="utf-8").splitlines()}

    def write(self):
        (self.place / FOLDER).mkdir(parents=True, exist_ok=True)
        self.replace(CHECKSUMS, "".join(f"{self.sums[name]}  {name}\n" for name in sorted(self.sums)))
        self.replace(MANIFEST, "".join(f"{name}\n" for name in sorted(self.files | self.folders | {MANIFEST, CHECKSUMS})))

    def replace(self, name, text):
        temporary = self.place / (name + ".new")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(self.place / name)

    def remove(self, files, folders):
        """Removes files that are as they were installed, and folders that are empty then. Returns how many files, and the names of those that are left."""
        left, removed = [], 0
        for name in sorted(files):
            path = self.place / name
            if not os.path.lexists(path):
                continue
            if (path.is_dir() and not path.is_symlink()) or (name in self.sums and checksum(path) != self.sums[name]):
                left.append(name)
            else:
                path.unlink()
                removed += 1
        for name in sorted(folders, key=lambda folder: (-folder.rstrip("/").count("/"), folder == "./")):
            path = self.place / name
            if path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
                path.rmdir()
        return removed, left


def staged(build, prefix, components, stage):
    """What cmake installs: {name: path of the file in `stage`}."""
    for component in components:
        subprocess.run(["cmake", "--install", build, "--prefix", prefix, "--component", component], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "DESTDIR": stage})
    root = pathlib.Path(stage + prefix)
    return {str(path.relative_to(root)): path for path in root.rglob("*") if path.is_symlink() or path.is_file()}


def put(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir() and not target.is_symlink():
        sys.exit(f"tree.py: {target} is a folder, where a file would be installed: remove it, or choose another folder by --prefix")
    temporary = target.with_name(target.name + ".new")
    temporary.unlink(missing_ok=True)
    shutil.copy2(source, temporary, follow_symlinks=False)
    temporary.replace(target)


def install(build, prefix, components, made):
    place = pathlib.Path(os.environ.get("DESTDIR", "") + prefix)
    tree, before = Tree(place), Tree(place)
    with tempfile.TemporaryDirectory(dir=build) as stage:
        files = staged(build, prefix, components, stage)
        needed = {folder for name in (*files, MANIFEST) for folder in parents(name)}
        tree.folders |= {folder for folder in needed if not (place / folder).is_dir()} | ({"./"} if made else set())
        tree.files |= set(files)
        tree.sums.update({name: checksum(path) for name, path in files.items()})
        tree.write()
        for name, path in files.items():
            put(path, place / name)
    removed, left = before.remove(before.files - set(files) - {MANIFEST, CHECKSUMS}, before.folders - needed - {"./"})
    tree.files = set(files)
    tree.folders = {folder for folder in tree.folders if (place / folder).is_dir()}
    tree.sums = {name: tree.sums[name] for name in files}
    tree.write()
    size = sum((place / name).lstat().st_size for name in files)
    print(f"installed {len(files)} files, {size / 1e6:.0f} MB" + (f"; removed {removed} of an older version" if removed else ""))
    tell_left(place, left)


def tell_left(place, left):
    for name in left:
        print(f"left {place / name}: it was changed after it was installed")


def uninstall(prefix):
    place = pathlib.Path(os.environ.get("DESTDIR", "") + prefix)
    if not (place / MANIFEST).is_file():
        sys.exit(f"tree.py: nothing was installed into {place} by './dev install': there is no {MANIFEST}")
    tree = Tree(place)
    removed, left = tree.remove(tree.files - {MANIFEST, CHECKSUMS}, set())
    (place / CHECKSUMS).unlink(missing_ok=True)
    (place / MANIFEST).unlink()  # at last: until then the call can be repeated
    tree.remove([], tree.folders)
    print(f"removed {removed} files from {place}")
    tell_left(place, left)
    for folder in sorted(tree.folders - {"./"}):
        others = [name for name in (*tree.folders, *left) if name != folder and name.startswith(folder) and os.path.lexists(place / name)]
        if (place / folder).is_dir() and not others:
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
        sys.exit(f"tree.py: {error.strerror}: {error.filename}; what was done so far is in the manifest: call this again, or uninstall")
    except subprocess.CalledProcessError as error:
        sys.exit(f"tree.py: {error}")


if __name__ == "__main__":
    main()
