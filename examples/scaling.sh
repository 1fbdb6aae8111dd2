#!/usr/bin/env bash
# Runs a program of this folder that prints a header and a row, such as matmul, on 1, 2, 4, ... ranks, and prints one table.
#   scaling.sh MPIEXEC MAX_RANKS PROGRAM [ARG ...]
set -euo pipefail
mpiexec=$1 max=$2
shift 2
header=
for ((ranks = 1; ranks <= max; ranks *= 2)); do
  output=$("$mpiexec" -n "$ranks" "$@")
  [ -n "$header" ] || { header=1; head -n 1 <<<"$output"; }
  tail -n 1 <<<"$output"
done
