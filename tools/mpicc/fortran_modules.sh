# Module files belong to a compiler: each family has a folder of the installation, with those of one version. Those of another compiler are made
# once, in a cache of the user.
about_compiler=$($compiler --version 2>/dev/null | head -n 1)
case $about_compiler in
  "GNU Fortran"*) family=gfortran ;;
  *[Ff]lang*) family=flang ;;
  *) family=$(basename "${compiler%% *}") ;;
esac
modules=$include/clump/fortran/$family
why_no_modules=  # what has kept them from being made
fits() { [ -e "$1/built_by" ] && [ "$about_compiler" = "$(cat "$1/built_by")" ]; }
# In a cache for several users: what another one has put there would get into this one's programs.
is_own() { [ -O "$1" ] && fits "$1"; }

# They get their place at once, so other builds see all of them or none. Of several at a time one makes them, and the others wait.
make_modules() {  # cache key sources
  mkdir -p "$1" && work=$(mktemp -d "$1/.$2.XXXXXX") || return
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  ! command -v flock >/dev/null || { exec 9>>"$1/.$2.lock" && flock 9; } || return
  ! is_own "$1/$2" || return 0
  /bin/sh "$3/modules.sh" "$compiler" "$3" "$work" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
  is_own "$1/$2" || rm -rf "$1/$2"  # it is damaged
  mv -T "$work/clump/fortran/$family" "$1/$2" || is_own "$1/$2"
}

sources=$here/../@CMAKE_INSTALL_DATADIR@/clump/fortran
if [ -n "$has_input$show" ] && [ -n "$about_compiler" ] && [ -e "$sources/modules.sh" ] && ! fits "$modules"; then
  cache=${CLUMP_FORTRAN_CACHE:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/clump/fortran}
  key=$family-$(id -u)-$({ echo "$about_compiler"; $compiler -dumpmachine 2>/dev/null; uname -m; cat "$sources"/*; } | cksum | tr ' ' -)
  is_own "$cache/$key" || why_no_modules=$( (make_modules "$cache" "$key" "$sources") 2>&1 | tail -n 1)
  ! is_own "$cache/$key" || modules=$cache/$key
fi
[ ! -e "$modules/libmpi_f08_types.a" ] || archive=$modules/libmpi_f08_types.a
