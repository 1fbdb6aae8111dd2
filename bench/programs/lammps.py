"""LAMMPS: molecular dynamics of a Lennard-Jones fluid, as in its own bench/in.lj. Of its sources only those are compiled that this input needs."""

import re

from .program import Program, numbers
from .ways import STANDARD

CELLS = 14   # a side, of 4 atoms each
INPUT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {cells} 0 {cells} 0 {cells}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 50
run 100
"""

# Styles that the input names, or that are chosen by themselves for it. What these include is found below.
WANTED = ["atom_vec_*", "compute_pe", "compute_pressure", "compute_temp", "create_atoms", "create_box", "fix_nve", "min_cg", "nbin_standard",
          "npair_copy", "npair_half_bin*newton*", "npair_half_nsq*", "npair_skip", "nstencil_half_bin_3d*", "ntopo_*", "pair_lj_cut",
          "region_block", "run", "velocity", "verlet"]
CATEGORIES = ["angle", "atom", "body", "bond", "command", "compute", "dihedral", "dump", "fix", "improper", "integrate", "kspace", "minimize", "nbin",
              "npair", "nstencil", "ntopo", "pair", "reader", "region"]


# What MPICH's header for the standard ABI does not have; the ABI has it under other names.
STANDARD_NAMES = ["-DMPI_Fint=int", "-DMPI_Comm_f2c=MPI_Comm_fromint", "-DMPI_Comm_c2f=MPI_Comm_toint"]


def needed(folder):
    """{header} of all that the wanted styles and main() include, and what those include."""
    found, left = set(), ["main", "lammps", "atom_map", "fmtlib_format", "fmtlib_os"]
    for pattern in WANTED:
        left += [path.stem for path in folder.glob(f"{pattern}.h")]
    while left:
        name = left.pop()
        if name in found or name.startswith(("style_", "packages_")):
            continue
        found.add(name)
        for path in (folder / f"{name}.h", folder / f"{name}.cpp"):
            if path.exists():
                left += re.findall(r'^#include "([\w.]+)\.h"', path.read_text(errors="replace"), re.M)
    return found


def write_lists(folder, names, into):
    """The headers that LAMMPS's own Make.sh writes: the styles that there are, and whose they would be that are not."""
    into.mkdir(parents=True, exist_ok=True)
    for category in CATEGORIES:
        mark = f"{category.upper()}_CLASS"
        styles = [name for name in sorted(names) if (folder / f"{name}.h").exists() and mark in (folder / f"{name}.h").read_text(errors="replace")]
        text, path = "".join(f'#include "{name}.h"\n' for name in styles), into / f"style_{category}.h"
        if path.exists() and path.read_text() != text:  # what includes it is compiled again
            for source in folder.glob("*.cpp"):
                if f'"style_{category}.h"' in source.read_text(errors="replace"):
                    source.touch()
        path.write_text(text)
        (into / f"packages_{category}.h").write_text("")
    (into / "lmpinstalledpkgs.h").write_text("const char * LAMMPS_NS::LAMMPS::installed_packages[] = { NULL };\n")
    (into / "lmpgitversion.h").write_text("const bool LAMMPS_NS::LAMMPS::has_git_info = false;\n"
                                          + "".join(f'const char LAMMPS_NS::LAMMPS::git_{what}[] = "(unknown)";\n'
                                                    for what in ("commit", "branch", "descriptor")))


def build(place, wrapper):
    folder = place.source(wrapper, "lammps", ["src"]) / "src"
    names = needed(folder)
    lists = place.of(wrapper, "lammps-lists")
    write_lists(folder, names, lists)
    sources = [folder / f"{name}.cpp" for name in sorted(names) if (folder / f"{name}.cpp").exists()]
    return place.compile(wrapper, sources, place.of(wrapper, "lmp"), "-O2", "-w", f"-I{lists}", f"-I{folder}",
                         *(STANDARD_NAMES if wrapper.abi == STANDARD else []), compiler=wrapper.cxx)


def check(run):
    return "" if len(numbers(r"^ +(?:0|50|100) +(\S+)", run.output)) == 3 and "Loop time" in run.output else "it has not come to its 100th step"


def energies(run):
    """Total energy and pressure at the last step."""
    lines = re.findall(r"^ +100 +(.*)$", run.output, re.M)
    return [float(word) for word in lines[0].split()[3:5]] if lines else []


PROGRAMS = [Program("lammps", f"LAMMPS, {4 * CELLS ** 3} atoms of a Lennard-Jones fluid", "lammps", build,
                    lambda ranks, inputs: ["-in", "in.lj", "-log", "none"], check, energies, tolerance=1e-4,
                    files=lambda ranks: {"in.lj": INPUT.format(cells=CELLS)})]
