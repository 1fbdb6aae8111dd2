# With mpif.h a program calls MPI_Send with arguments of several types, which gfortran 10 and newer take for an error otherwise.
case $about_compiler in
  "GNU Fortran"*[\ \)]\ [1-9][0-9].*) set -- -fallow-argument-mismatch "$@" ;;
esac
