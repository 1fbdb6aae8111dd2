"""The programs, in the order of the page."""

from . import files, fftw, hpcc, hypre, lammps, nas, one_sided, p4est, scotch

PROGRAMS = [program for module in (hpcc, hypre, scotch, fftw, p4est, lammps, nas, one_sided, files) for program in module.PROGRAMS]
