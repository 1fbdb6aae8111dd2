#!/bin/sh
# modules.sh COMPILER SOURCES INCLUDE [OBJECT]: compiles the modules mpi_f08_types, mpi_f08 and mpi with a Fortran compiler. Module files go to
# INCLUDE/clump/fortran/FAMILY, with `built_by`, the first line that the compiler says of itself. What code there is, the comparison of handles, goes to
# OBJECT, from which libmpifort_abi.so has it, or to libmpi_f08_types.a beside the module files, which mpifort links.
set -eu
compiler=$1 sources=$2 include=$3 object=${4-}
case $compiler in ./* | ../*) compiler=$PWD/$compiler ;; esac
about=$($compiler --version 2>/dev/null | head -n 1) || about=
case $about in
  "GNU Fortran"*) family=gfortran options=-Wno-c-binding-type ;;  # arguments of default kinds in BIND(C) procedures are meant
  *[Ff]lang*) family=flang options= ;;
  "") echo "'$compiler' is no compiler that can be run: it says nothing to --version" >&2; exit 1 ;;
  *) echo "'$compiler' ($about) is neither gfortran nor flang, for which these modules are written" >&2; exit 1 ;;
esac
modules=$include/clump/fortran/$family
mkdir -p "$modules" 2>/dev/null && [ -w "$modules" ] || { echo "$modules cannot be written: run this as the user who has installed Clump" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for module in mpi_f08_types mpi_f08 mpi; do
  # From their folder, as module files hold the name of the source.
  (cd "$sources" && $compiler -O2 -fPIC $options -J "$work" -c "$module.f90" -o "$work/$module.o")
done
if [ -n "$object" ]; then
  cp "$work/mpi_f08_types.o" "$object"
else
  rm -f "$work/libmpi_f08_types.a"
  ar rcs "$work/libmpi_f08_types.a" "$work/mpi_f08_types.o"
  cp "$work/libmpi_f08_types.a" "$modules/"
fi
cp "$work"/*.mod "$modules/"
echo "$about" > "$modules/built_by"
[ -n "$object" ] || echo "module files of MPI for $about are in $modules"
