"""An installation as users have it: made from the build tree by `python3 place.py`, then moved. Environment variables: CLUMP_BUILD, the build tree;
CLUMP_CMAKE, the cmake that made it."""

import os
import pathlib
import shutil
import subprocess
import unittest

BUILD = pathlib.Path(os.environ["CLUMP_BUILD"])
FOLDER = BUILD / "tests" / "install"
FIRST = FOLDER / "first place"
PREFIX = FOLDER / "second place"  # a space in its name, and not where it was installed
BIN = PREFIX / "bin"
COMPONENTS = ("runtime", "development", "documentation")


def install(prefix, *components):
    """The files that cmake says it has installed, relative to the prefix."""
    files = []
    for component in components:
        subprocess.run([os.environ["CLUMP_CMAKE"], "--install", str(BUILD), "--prefix", str(prefix), "--component", component],
                       check=True, capture_output=True, text=True, env={k: v for k, v in os.environ.items() if k != "DESTDIR"})
        listed = (BUILD / f"install_manifest_{component}.txt").read_text().split("\n")
        files += [os.path.relpath(name, prefix) for name in listed if name]
    return files


def environment(**more):
    """The user's, with the installation first, as its modulefile sets it, and no setting of these tests or of another MPI."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("CLUMP_", "MPI", "OMPI_", "PKG_CONFIG", "CMAKE_", "LD_")) and name not in ("CC", "CXX", "FC", "CFLAGS", "LDFLAGS")}
    kept["PATH"] = f"{BIN}:{kept['PATH']}"
    kept["OMPI_ALLOW_RUN_AS_ROOT"] = kept["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return {**kept, **more}


class Case(unittest.TestCase):
    maxDiff = None

    def run_here(self, *words, cwd=None, env=None, code=0, limit=400):
        """stdout; the exit code has to be `code`, or any but 0 if that is None."""
        done = subprocess.run([str(word) for word in words], cwd=cwd, env=env or environment(), capture_output=True, text=True, timeout=limit)
        if code is None:
            self.assertNotEqual(done.returncode, 0, f"{words}\n{done.stdout}\n{done.stderr}")
        else:
            self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        self.err = done.stderr
        return done.stdout


def main():
    for folder in (FIRST, PREFIX):
        shutil.rmtree(folder, ignore_errors=True)
    files = install(FIRST, *COMPONENTS)
    FIRST.rename(PREFIX)
    (FOLDER / "files.txt").write_text("\n".join(sorted(files)) + "\n")
    print(f"{len(files)} files in {PREFIX}")


if __name__ == "__main__":
    main()
