# If a file that names MPI does not compile, the compiler's message may not say why.
code=0
$compiler "$@" || code=$?
[ $code -ne 0 ] || exit 0
is_wide=
for argument in "$@"; do
  case $argument in -fdefault-integer-8 | -i8) is_wide=$argument ;; esac
done
for argument in "$@"; do
  case $argument in -* | *.o | *.a | *.so | *.so.*) continue ;; esac
  [ -f "$argument" ] || continue
  line=$(grep -n -i -m 1 -E "^[[:space:]]*use[[:space:]]*(,[[:space:]]*(non_)?intrinsic[[:space:]]*)?(::)?[[:space:]]*mpi(_f08)?[[:space:]]*(,|!|\$)|^[[:space:]#]*include[[:space:]]*['\"<]mpif\.h" "$argument") || continue
  where="@CLUMP_WRAPPER@: $argument, line ${line%%:*}: '$(printf %s "${line#*:}" | sed 's/^[[:space:]]*//; s/[[:space:]]*$//')'"
  if [ -n "$is_wide" ]; then
    echo "$where: MPI's INTEGER has 4 bytes, but $is_wide gives it 8: compile without, and declare what needs it as INTEGER(8)" >&2
  elif [ ! -e "$include/mpif.h" ]; then
    echo "$where: Clump @PROJECT_VERSION@ was built without Fortran bindings, as there was no gfortran" >&2
  elif [ ! -e "$modules/built_by" ]; then
    echo "$where: there are no module files of MPI for this compiler ($about_compiler), only for $(cd "$include/clump/fortran" && cat ./*/built_by | paste -s -d ';')${why_no_modules:+, and none could be made: $why_no_modules}:" \
      "'clump fortran --compiler ${compiler%% *}' makes some" >&2
  elif [ "$about_compiler" != "$(cat "$modules/built_by")" ] && [ "${line#*mpif.h}" = "$line" ]; then
    echo "$where: the module files of MPI are from $(cat "$modules/built_by"), and this compiler is $about_compiler${why_no_modules:+, for which none could be made: $why_no_modules}; if it cannot read" \
      "them, 'clump fortran --compiler ${compiler%% *}' makes new ones" >&2
  fi
  break
done
exit $code
