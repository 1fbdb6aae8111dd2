"""Cases of `./dev real debian` in Fortran: testers of linear algebra, and chemistry."""

from debian_case import Case, same_numbers, says

TESTERS = "/usr/lib/x86_64-linux-gnu/scalapack/{}-tests"
# Equations, inverses, factorisations and eigenvalues of dense and banded matrices.
SCALAPACK = ["xdlu", "xdllt", "xdinv", "xdqr", "xdls", "xdsep", "xdgsep", "xdbrd", "xdhrd", "xdtrd", "xddblu", "xddtlu", "xdgblu", "xdpbllt",
             "xdptllt", "xdnep", "xzlu", "xzevc"]  # fmt: skip
PROCESSES = {"CLUMP_RANKS": "processes"}  # Open MPI does not look at it


def tester(name, ranks_are="", peer="openmpi", **options):
    folder = TESTERS.format(peer)
    return Case(name + ranks_are + ("" if peer == "openmpi" else f"-{peer}"), "scalapack-mpi-test", f"{folder}/{name}", prepare=f"cp -L {folder}/*.dat .",
                ranks=(4,), sound=says(r"[1-9]\d* tests completed and passed", r"\b0 tests completed and failed"),
                agree=same_numbers(r"(\d+) tests completed and (?:passed|failed)", at_least=2), says="all tests pass", timeout=300, peer=peer, **options)


def simple_test(kind, number, tolerance, ranks_are="", **options):
    """An example of MUMPS: five equations, whose solution is 1, 2, 3, 4, 5."""
    matrix = "cmplx" if kind in "cz" else "real"
    return Case(f"mumps-{kind}simpletest{ranks_are}", "mumps-test", f"/usr/lib/mumps/{kind}simpletest", f"< /usr/lib/mumps/input_simpletest_{matrix}",
                ranks=(2, 4), sound=says("Solution is"), agree=same_numbers(r"Solution is" + rf"\s*{number}" * 5, absolute=tolerance, at_least=5), **options)


def chemistry(name, peer, **options):
    return Case(name, f"nwchem-{peer}", f"nwchem.{peer}", "water.nw", ranks=(2, 4), needs=("nwchem-data",), made={"water.nw": WATER},
                agree=same_numbers(r"Total SCF energy = +(\S+)", absolute=1e-8), says="energy equal", peer=peer, **options)


def eigenvalues(library, package, flags, needs, ranks_are="", **options):
    """A program over that library whose eigenvalues are known, compiled by Debian's own compiler for Open MPI."""
    program = f"/usr/local/bin/{library}"
    return Case(library + ranks_are, package, program, ranks=(2, 4), needs=("libopenmpi-dev", "gfortran", *needs), files=(f"{library}.f90",),
                prepare=f"mpif90.openmpi -O1 -ffree-line-length-none -fallow-argument-mismatch {library}.f90 -o {program} {flags}",
                sound=says("eigenvalues are right"), agree=same_numbers(r"^ *eigenvalue +(\S+)", absolute=1e-10, at_least=4), **options)


REAL, COMPLEX = r"(\S+)", r"\(([^,)]+),[^)]+\)"
WATER = """\
start h2o
geometry units angstrom
 O 0.0  0.0    0.117
 H 0.0  0.757 -0.467
 H 0.0 -0.757 -0.467
end
basis
 * library 6-31g
end
task scf energy
"""
SILICON = """\
&control
 calculation='scf', prefix='si', pseudo_dir='/usr/share/espresso/pseudo', outdir='./out'
/
&system
 ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc=12.0
/
&electrons
 conv_thr=1.0d-8
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.25 0.25 0.25
K_POINTS automatic
 2 2 2 1 1 1
"""

DIAMOND = """\
pp_dirpath "/usr/share/abinit/psp"
pseudos "14si.pspnc"
acell 3*10.18
rprim 0.0 0.5 0.5  0.5 0.0 0.5  0.5 0.5 0.0
ntypat 1
znucl 14
natom 2
typat 1 1
xred 0.0 0.0 0.0  0.25 0.25 0.25
ngkpt 4 4 4
nshiftk 4
shiftk 0.5 0.5 0.5  0.5 0.0 0.0  0.0 0.5 0.0  0.0 0.0 0.5
ecut 8.0
nstep 20
toldfe 1.0d-10
diemac 12.0
"""

PARPACK = ("parpack", "libparpack2-dev", "-lparpack -larpack", ("libarpack2-dev",))
ELPA = ("elpa", "libelpa-dev", "-I/usr/include/elpa/modules -lelpa", ())
MUMPS = (("d", REAL, 1e-12), ("s", REAL, 1e-5), ("z", COMPLEX, 1e-12), ("c", COMPLEX, 1e-5))

CASES = [
    *[simple_test(*how) for how in MUMPS],
    *[simple_test(*how, "-processes", variables=PROCESSES) for how in MUMPS],
    *[eigenvalues(*which) for which in (PARPACK, ELPA)], *[eigenvalues(*which, "-processes", variables=PROCESSES) for which in (PARPACK, ELPA)],
    chemistry("nwchem", "openmpi"), chemistry("nwchem-mpich", "mpich"),
    Case("pw.x", "quantum-espresso", "pw.x", "-i si.in", ranks=(2, 4), needs=("quantum-espresso-data",), made={"si.in": SILICON},
         agree=same_numbers(r"^! +total energy += +(\S+)", absolute=1e-7), says="energy equal"),
    Case("abinit", "abinit", "abinit", "si.abi", ranks=(2, 4), needs=("abinit-data",), made={"si.abi": DIAMOND},
         agree=same_numbers(r"^ *etotal +(-\S+)", file="si.abo", absolute=1e-8), says="energy equal"),
    *[tester(name) for name in SCALAPACK],
    *[tester(name, "-processes", variables=PROCESSES) for name in ("xdlu", "xdqr", "xdsep")],
    *[tester(name, peer="mpich") for name in ("xdlu", "xdqr", "xdsep", "xzlu")],
]  # fmt: skip
