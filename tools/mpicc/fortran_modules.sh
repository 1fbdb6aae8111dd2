# Module files belong to a compiler: each has a folder, named after its family.
about_compiler=$($compiler --version 2>/dev/null | head -n 1)
case $about_compiler in
  "GNU Fortran"*) family=gfortran ;;
  *[Ff]lang*) family=flang ;;
  *) family=$(basename "${compiler%% *}") ;;
esac
modules=$include/clump/fortran/$family
[ ! -e "$modules/libmpi_f08_types.a" ] || archive=$modules/libmpi_f08_types.a
