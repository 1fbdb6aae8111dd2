"""How HPC Challenge is built, over Debian's OpenBLAS without threads, which is unpacked beside it: for hpcc.py and for bench/programs/hpcc.py."""

PACKAGES = ["libopenblas0-serial", "libopenblas-serial-dev"]

# HPL sends panels as derived datatypes, with names that MPI-3 removed; their successors take the same arguments.
MAKE = """\
SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir -p
RM = rm -f
TOUCH = touch
ARCH = {arch}
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
LAlib = -L{blas} -Wl,-rpath,{blas} -lopenblas
HPL_OPTS = -DMPI_Address=MPI_Get_address -DMPI_Type_struct=MPI_Type_create_struct
HPL_DEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle $(HPL_OPTS) -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) $(LAlib) -lm
CC = {cc}
CCNOOPT = $(HPL_DEFS)
CCFLAGS = $(HPL_DEFS) -O2 -w
LINKER = $(CC)
LINKFLAGS = $(CCFLAGS)
ARCHIVER = ar
ARFLAGS = r
RANLIB = ranlib
"""


def write(folder, arch, packages, cc):
    """The file that `make arch=ARCH` reads; `packages` is the folder where PACKAGES are unpacked."""
    blas = next(packages.glob("usr/lib/*/openblas-serial"))
    (folder / f"hpl/Make.{arch}").write_text(MAKE.format(arch=arch, blas=blas, cc=cc))
