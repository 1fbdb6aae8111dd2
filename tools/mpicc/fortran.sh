# Fortran that does not name MPI is compiled and linked as it is. For one that does there is nothing yet, and the compiler's message about a
# missing file would not say so.
code=0
$compiler "$@" || code=$?
[ $code -ne 0 ] || exit 0
for argument in "$@"; do
  case $argument in -* | *.o | *.a | *.so | *.so.*) continue ;; esac
  [ -f "$argument" ] || continue
  line=$(grep -n -i -m 1 -E "^[[:space:]]*use[[:space:]]*(,[[:space:]]*(non_)?intrinsic[[:space:]]*)?(::)?[[:space:]]*mpi(_f08)?[[:space:]]*(,|!|\$)|^[[:space:]#]*include[[:space:]]*['\"<]mpif\.h" "$argument") || continue
  echo "@CLUMP_WRAPPER@: $argument, line ${line%%:*}: '$(printf %s "${line#*:}" | sed 's/^[[:space:]]*//; s/[[:space:]]*$//')': Clump @PROJECT_VERSION@ has no Fortran" \
    "bindings yet (neither mpi_f08 nor mpi nor mpif.h); Fortran can call MPI through functions in C" >&2
  break
done
exit $code
