"""Cases of `./dev real debian`: molecules, fluids, fields, meshes."""

import struct

from debian_case import Case, same_lines, same_numbers, says

WATER = """\
gmx solvate -cs spc216 -box 3.72412 3.72412 3.72412 -o box.gro
{ printf '#include "oplsaa.ff/forcefield.itp"\\n#include "oplsaa.ff/spce.itp"\\n[ system ]\\nwater\\n[ molecules ]\\nSOL '
  echo $(( $(sed -n 2p box.gro) / 3 )); } >topol.top
gmx grompp -f settle.mdp -c box.gro -p topol.top -o settle.tpr
gmx mdrun -ntmpi 1 -ntomp 1 -s settle.tpr -c settled.gro
gmx grompp -f md.mdp -c settled.gro -p topol.top -o topol.tpr
"""


def energy_column(text, name):
    """The values of one energy in all blocks of GROMACS' log, whose fields are 15 characters wide."""
    found, lines = [], text.splitlines()
    for n, line in enumerate(lines[:-1]):
        for at in range(0, len(line), 15):
            if line[at:at + 15].strip() == name and lines[n + 1][at:at + 15].strip():
                found.append(float(lines[n + 1][at:at + 15]))
    return found


def water_energies(ours, peer):
    for name, first, last in ("Potential", 1e-5, 5e-3), ("Total Energy", 1e-5, 5e-3), ("Temperature", 1e-4, 2e-2):
        mine, other = (energy_column(run.read("md.log"), name) for run in (ours, peer))
        if len(mine) < 3 or len(mine) != len(other):
            return f"md.log has {len(mine)} values of {name}, Open MPI's {len(other)}"
        for n, tolerance in (0, first), (-1, last):
            if abs(mine[n] - other[n]) > tolerance * abs(other[n]):
                return f"{name} is {mine[n]} where Open MPI has {other[n]}"
    return ""


def ends_in_time(run):
    return "" if "Finished mdrun" in run.read("md.log") else "md.log does not say that mdrun finished"


BOXES = 4  # in a row, and as many rows


def cavity(ranks):
    """Gerris' file for a fluid in a square of boxes under a lid that moves, with the boxes dealt out to the ranks."""
    boxes, edges = [], []
    for n in range(BOXES * BOXES):
        row, column = divmod(n, BOXES)
        walls = ["top = Boundary { BcDirichlet U 1 }"] if row == BOXES - 1 else ["bottom = Boundary { BcDirichlet U 0 }"] if row == 0 else []
        walls += ["left = Boundary { BcDirichlet V 0 }"] if column == 0 else ["right = Boundary { BcDirichlet V 0 }"] if column == BOXES - 1 else []
        boxes.append(f"GfsBox {{ pid = {n * ranks // (BOXES * BOXES)} {' '.join(walls)} }}")
        edges += [f"{n + 1} {n + 2} right"] if column < BOXES - 1 else []
        edges += [f"{n + 1} {n + 1 + BOXES} top"] if row < BOXES - 1 else []
    return "\n".join([f"{len(boxes)} {len(edges)} GfsSimulation GfsBox GfsGEdge {{}} {{", "  Time { iend = 30 dtmax = 0.05 }", "  Refine 4",
                      "  SourceViscosity 1e-2", "  OutputScalarNorm { istep = 5 } norms.txt { v = U }",
                      "  OutputScalarSum { istep = 5 } sums.txt { v = Velocity2 }", "}", *boxes, *edges]) + "\n"


def square_mesh(side=40):
    """Quadrangles in Gmsh's format, version 2; the lower side is region 1, the upper one 2, the inside 10."""
    nodes = [f"{y * (side + 1) + x + 1} {x / side} {y / side} 0" for y in range(side + 1) for x in range(side + 1)]
    at = lambda x, y: y * (side + 1) + x + 1  # noqa: E731
    elements = [(1, region, (at(x, y), at(x + 1, y))) for region, y in ((1, 0), (2, side)) for x in range(side)]
    elements += [(3, 10, (at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1))) for y in range(side) for x in range(side)]
    lines = [f"{n + 1} {kind} 2 {region} {region} {' '.join(map(str, corners))}" for n, (kind, region, corners) in enumerate(elements)]
    return "\n".join(["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(nodes)), *nodes, "$EndNodes", "$Elements",
                      str(len(lines)), *lines, "$EndElements"]) + "\n"


def corner_points(side=4, height=3):
    """A box of cells in Eclipse's corner-point format, with a permeability for each layer."""
    pillars = [f"{x} {y} 0 {x} {y} {height}" for y in range(side + 1) for x in range(side + 1)]
    depths = [f"{4 * side * side}*{z}" for layer in range(height) for z in (layer, layer + 1)]
    cells = side * side
    layers = " ".join(f"{cells}*{100 * (layer + 1)}" for layer in range(height))
    return "\n".join(["SPECGRID", f"{side} {side} {height} 1 F /", "COORD", *pillars, "/", "ZCORN", *depths, "/", "ACTNUM", f"{cells * height}*1 /",
                      "PORO", f"{cells * height}*0.2 /", "PERMX", layers, "/", "PERMY", layers, "/", "PERMZ", layers, "/"]) + "\n"


def summary(run):
    """The vectors of Eclipse's summary file: blocks of Fortran's records, big-endian."""
    data, at, found = (run.folder / "out/WATERFLOOD.UNSMRY").read_bytes(), 0, []
    while at < len(data):
        name, number, kind = struct.unpack(">4x8si4s4x", data[at:at + 24])
        at, values = at + 24, b""
        while len(values) < 4 * number:
            length = struct.unpack(">i", data[at:at + 4])[0]
            values, at = values + data[at + 4:at + 4 + length], at + 8 + length
        if name == b"PARAMS  " and kind == b"REAL":
            found.append(struct.unpack(f">{number}f", values))
    return found


def same_summary(ours, peer):
    mine, other = summary(ours), summary(peer)
    if len(mine) < 20 or mine[-1][0] != other[-1][0]:
        return f"its summary has {len(mine)} steps, Open MPI's {len(other)}"
    for a, b in zip(mine[-1], other[-1]):
        if abs(a - b) > 2e-3 * max(abs(a), abs(b)):
            return f"its summary ends with {mine[-1]}, Open MPI's with {other[-1]}"
    return ""


def atoms(run):
    """{atom: its place} of each step in the file that lammps' ranks have written together."""
    steps, lines = [], run.read("atoms.mpiio").splitlines()
    for line in lines:
        if line.startswith("ITEM: TIMESTEP"):
            steps.append({})
        words = line.split()
        if len(words) == 4 and not line.startswith("ITEM"):
            steps[-1][int(words[0])] = [float(word) for word in words[1:]]
    return steps


def all_atoms(run):
    found = [len(step) for step in atoms(run)]
    return "" if found == [4000, 4000] else f"atoms.mpiio has steps with {found} atoms, not two of 4000"


def same_atoms(ours, peer):
    for mine, other in zip(atoms(ours), atoms(peer)):
        for atom, place in other.items():
            if max(abs(a - b) for a, b in zip(mine[atom], place)) > 1e-2:
                return f"atom {atom} is at {mine[atom]} where {peer.library} has {place}"
    return ""


THERMO = r"^ +(\d+) +([-\d.e+]+) +([-\d.e+]+) +([-\d.e+]+)"
# Debian's netgen opens libgui.so, and that link is in a package for developers.
GUI = "ln -s /usr/lib/*/netgen/libgui.so.6.2 libgui.so"
ELEMENTS = r"volumeelements\s+(\d+)"

CASES = [
    Case("gmx_mpi", "gromacs", "gmx_mpi", "mdrun -s topol.tpr -ntomp 1 -npme 0 -pin off -reprod", (2, 4, 16), ("gromacs-data",), files=("settle.mdp", "md.mdp"),
         prepare=WATER, sound=ends_in_time, agree=water_energies, says="energies equal", timeout=300),
    Case("gmx_mpi_d", "gromacs", "gmx_mpi_d", "mdrun -s topol.tpr -ntomp 1 -npme 0 -pin off -reprod", needs=("gromacs-data",), files=("settle.mdp", "md.mdp"),
         prepare=WATER, sound=ends_in_time, agree=water_energies, says="energies equal", timeout=300),
    Case("flow", "libopm-simulators-bin", "flow", "WATERFLOOD.DATA --output-dir=out", (2, 4, 16), files=("WATERFLOOD.DATA",), before="mkdir out",
         sound=says(r"End of simulation"), agree=same_summary, says="rates and pressures equal", timeout=300),
    Case("FreeFem++-mpi", "freefem++", "FreeFem++-mpi", "-nw -v 0 poisson.edp", (2, 4, 16), files=("poisson.edp",), sound=says("^reduced 1$"),
         agree=same_numbers(r"^(?:norm|largest) ([-\d.e+]+)$", relative=1e-8, at_least=2)),
    Case("gerris2D", "gerris", "gerris2D", "cavity.$N.gfs", (2, 4, 16), made={f"cavity.{n}.gfs": cavity(n) for n in (2, 4, 16)},
         agree=same_numbers(r"(?:first|second|infty|sum|U): *([-\d.e+]+)", "norms.txt", relative=1e-6, absolute=1e-9, at_least=10), timeout=300),
    Case("getdp-sparskit", "getdp-sparskit", "getdp-sparskit", "plates.pro -msh plates.msh -solve Electrostatics -pos Map", (2, 4, 16),
         files=("plates.pro",), made={"plates.msh": square_mesh()}, agree=same_lines("potential.txt", at_least=20)),
    Case("netgen", "netgen", "netgen", "-batchmode -geofile=cube.geo -meshfile=cube.vol -coarse", (1,), files=("cube.geo",),
         before=GUI, variables={"LD_LIBRARY_PATH": "."}, code=1,  # it exits without MPI_Finalize
         agree=same_numbers(ELEMENTS, "cube.vol")),
    Case("netgen-refuses", "netgen", "netgen", "-batchmode -geofile=cube.geo", files=("cube.geo",), sound=says("Netgen GUI cannot run MPI-parallel"),
         code=134, says="refuses more than one rank"),
    Case("apbs", "apbs", "apbs", "ion.in", (2, 4, 16), files=("ion.in", "ion.pqr"),
         agree=same_numbers(r"Global net ELEC energy = ([-+\d.E]+)", relative=1e-9)),
    Case("molds", "molds", "molds", "ch4_mndo_directCIS_singlet.in", (2, 4), prepare="cp /usr/share/doc/molds/examples/*.in .",
         agree=same_lines(leave_out=r"[Tt]ime|[Dd]ate|\b20\d\d\b|elapsed", at_least=50)),
    Case("esysparticle", "esys-particle", "esysparticle", "spheres.py", (2, 4), files=("spheres.py",),
         agree=same_numbers(r"^particle (\d+) ([-\d.e]+) ([-\d.e]+) ([-\d.e]+)", relative=1e-9, absolute=1e-9, at_least=8)),
    Case("upscale_perm", "libopm-upscaling-bin", "upscale_perm", "-bc f box.grdecl", (1,), made={"box.grdecl": corner_points()},
         agree=same_lines(leave_out=r"[Tt]ime|sec|[Dd]ate|Finished", at_least=5)),
    Case("grdecl2vtu", "libopm-grid-bin", "grdecl2vtu", "box.grdecl", made={"box.grdecl": corner_points()},
         agree=same_lines(at_least=1)),
    Case("lmp", "lammps", "lmp", "-in melt.in", (2, 4, 16), files=("melt.in",), sound=says("^ +100 "),
         agree=same_numbers(THERMO, "log.lammps", relative=1e-4, absolute=1e-6, at_least=15)),
    Case("lmp-mpiio", "lammps", "lmp", "-in melt_files.in", (2, 4, 16), files=("melt_files.in",), sound=all_atoms, agree=same_atoms,
         says="file equal"),
    Case("liggghts", "liggghts", "liggghts", "-in grains.in", (2, 4), files=("grains.in",), sound=says("^ +1000 "),
         agree=same_numbers(r"^ +(\d+) +(\d+) +([-\d.e+]+) ", "log.liggghts", relative=1e-6, absolute=1e-9, at_least=15)),
]
