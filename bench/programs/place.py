"""Where sources come from and programs are built: all of it below one folder, nothing is installed."""

import hashlib
import inspect
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "real"))
import hpcc_make  # noqa: E402,F401  -- for hpcc.py
from sources import Archive, Missing, run_quietly  # noqa: E402,F401  -- the modules of programs use the latter two, too


@dataclass(frozen=True)
class Wrapper:
    """The compilers of one ABI."""
    abi: str                 # "standard" or "openmpi"
    cc: Path
    cxx: Path
    fc: Path = None
    libraries: Path = None   # the folder of the library that they link to
    environment: dict = field(default_factory=dict)


@dataclass
class Place:
    folder: Path             # all of it
    archive: Archive
    jobs: int

    def of(self, wrapper, name):
        return self.folder / wrapper.abi / name

    def source(self, wrapper, package, members=()):
        """The unpacked sources, once for each ABI, because they are built where they lie."""
        return self.archive.source(package, self.of(wrapper, package), members)[0]

    def packages(self, *names):
        (self.folder / "packages").mkdir(parents=True, exist_ok=True)
        return self.archive.packages(list(names), self.folder / "packages" / names[0])

    def run(self, wrapper, command, where, name, **environment):
        """A step of a build; its output is kept."""
        found = {**wrapper.environment, **environment, "PATH": f"{wrapper.cc.parent}:{wrapper.environment['PATH']}"}
        run_quietly(command, self.folder / "logs" / f"{name}-{wrapper.abi}.txt", cwd=where, env=found)

    def compile(self, wrapper, sources, target, *flags, library=(), compiler=None):
        """Sources of one program, compiled one by one and linked; those of `library` go into an archive, of which the linker takes what is needed.
        What is newer than its source is kept."""
        compiler = compiler or wrapper.cc
        folder = target.parent / f"{target.name}.o"
        folder.mkdir(parents=True, exist_ok=True)
        linking = [flag for flag in flags if str(flag).startswith(("-l", "-L", "-Wl,")) or str(flag).endswith(".a")]
        compiling = [flag for flag in flags if flag not in linking]
        made = {}
        for source in [*sources, *library]:
            made[source] = folder / f"{source.parent.name}-{source.stem}.o"
            if not made[source].exists() or made[source].stat().st_mtime < source.stat().st_mtime:
                self.run(wrapper, [compiler, *compiling, "-c", source, "-o", made[source]], folder, f"compile-{target.name}")
        objects = [made[source] for source in sources]
        if library:
            archive = folder / "library.a"
            self.run(wrapper, ["ar", "rcs", archive, *[made[source] for source in library]], folder, f"archive-{target.name}")
            objects.append(archive)
        self.run(wrapper, [compiler, *objects, "-o", target, *linking], folder, f"link-{target.name}")
        return target

    def built(self, program, wrapper):
        """The executable of a program, built now if it was not, or by another version of its module."""
        made_by = hashlib.sha256(Path(inspect.getfile(program.build)).read_bytes() + str(wrapper.cc).encode()).hexdigest()
        stamp = self.folder / wrapper.abi / f".built-{program.name}"
        if stamp.exists():
            written, executable = stamp.read_text().splitlines()
            if written == made_by and Path(executable).exists():
                return Path(executable)
        executable = program.build(self, wrapper)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(f"{made_by}\n{executable}\n")
        return executable

    def inputs(self, program):
        """The folder with the files that the program's runs read."""
        folder = self.folder / "inputs" / program.name
        folder.mkdir(parents=True, exist_ok=True)
        for name, make in (program.inputs or {}).items():
            if not (folder / name).exists():
                part = folder / f"{name}.part"
                part.write_text(make())
                shutil.move(part, folder / name)
        return folder
