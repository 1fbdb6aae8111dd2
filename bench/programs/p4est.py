"""p4est: its timings3 refines, balances and partitions a forest of octrees and numbers its nodes."""

import re

from .program import Program

LEVEL = 5

# What its configure would find. The Debian package has no generated configure; the sources need little of it.
SC_CONFIG = """\
#ifndef SC_CONFIG_H
#define SC_CONFIG_H
#define SC_ENABLE_MPI 1
#define SC_ENABLE_MPICOMMSHARED 1
#define SC_ENABLE_MPIIO 1
#define SC_ENABLE_MPITHREAD 1
#define SC_ENABLE_USE_REALLOC 1
#define SC_HAVE_SIGNAL_H 1
#define SC_HAVE_STRTOLL 1
#define SC_HAVE_SYS_TIME_H 1
#define SC_HAVE_SYS_TYPES_H 1
#define SC_HAVE_TIME_H 1
#define SC_HAVE_ZLIB 1
#define SC_SIZEOF_INT 4
#define SC_SIZEOF_LONG 8
#define SC_SIZEOF_LONG_LONG 8
#define SC_SIZEOF_UNSIGNED_LONG 8
#define SC_SIZEOF_UNSIGNED_LONG_LONG 8
#define SC_SIZEOF_VOID_P 8
#define SC_PACKAGE_STRING "libsc"
#define SC_PACKAGE_VERSION "2.2"
#define SC_VERSION "2.2"
#define SC_CPP ""
#define SC_CPPFLAGS ""
#define SC_CC ""
#define SC_CFLAGS ""
#define SC_LDFLAGS ""
#define SC_LIBS ""
#define SC_FFLAGS ""
#define SC_FLIBS ""
#endif
"""
P4EST_CONFIG = """\
#ifndef P4EST_CONFIG_H
#define P4EST_CONFIG_H
#define P4EST_ENABLE_BUILD_2D 1
#define P4EST_ENABLE_BUILD_3D 1
#define P4EST_ENABLE_BUILD_P6EST 1
#define P4EST_ENABLE_MPI 1
#define P4EST_ENABLE_MPIIO 1
#define P4EST_HAVE_ARPA_NET_H 1
#define P4EST_HAVE_NETINET_IN_H 1
#define P4EST_HAVE_UNISTD_H 1
#define P4EST_HAVE_FSYNC 1
#define P4EST_HAVE_ZLIB 1
#define P4EST_PACKAGE_STRING "p4est"
#define P4EST_PACKAGE_VERSION "2.2"
#define P4EST_VERSION "2.2"
#define P4EST_CPP ""
#define P4EST_CPPFLAGS ""
#define P4EST_CC ""
#define P4EST_CFLAGS ""
#define P4EST_LDFLAGS ""
#define P4EST_LIBS ""
#endif
"""


def build(place, wrapper):
    folder = place.source(wrapper, "p4est")
    (folder / "src/p4est_config.h").write_text(P4EST_CONFIG)
    (folder / "sc/src/sc_config.h").write_text(SC_CONFIG)
    zlib = place.packages("zlib1g-dev")
    library = next(zlib.glob("usr/lib/*/libz.a"))
    sources = [path for path in sorted((folder / "sc/src").glob("*.c"))]
    sources += [folder / "sc/iniparser" / name for name in ("dictionary.c", "iniparser.c")]
    sources += [folder / "sc/libb64" / name for name in ("cdecode.c", "cencode.c")]
    sources += [path for path in sorted((folder / "src").glob("p[48]est*.c")) if "empty" not in path.name]
    sources += [folder / "example/timings/timings3.c"]
    include = ["src", "sc", "sc/src", "sc/iniparser", "sc/libb64"]
    return place.compile(wrapper, sources, place.of(wrapper, "p8est_timings"), "-O2", "-w", *[f"-I{folder}/{name}" for name in include],
                         f"-I{zlib}/usr/include", str(library), "-lm")


def check(run):
    return "" if len(checksums(run)) == 2 else "it does not say the checksums of its forest and ghosts"


def checksums(run):
    found = re.search(r"checksums 0x([0-9a-f]+) 0x([0-9a-f]+)", run.output)
    return [float(int(word, 16)) for word in found.groups()] if found else []


PROGRAMS = [Program("p4est", "p4est's timings3, a spherical shell of octrees", "p4est", build, lambda ranks, inputs: ["-c", "shell", "-l", LEVEL],
                    check, checksums, tolerance=0)]
