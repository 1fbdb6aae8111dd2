#!/bin/sh
# Runs the program `input` with standard input of each kind: a pipe and a file, for rank 0, another one, all and none.
# usage: input_test.sh MPIEXEC PROGRAM
set -eu
mpiexec=$1
program=$2
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
awk 'BEGIN { for (i = 0; i < 20000; ++i) print "line " i }' >"$lines"
"$mpiexec" -n 4 "$program" 0 <"$lines"
cat "$lines" | "$mpiexec" -n 4 "$program" 0
cat "$lines" | "$mpiexec" --stdin 2 -n 4 "$program" 2
cat "$lines" | "$mpiexec" --stdin all -n 4 "$program" -2
"$mpiexec" -stdin all -n 4 "$program" -2 <"$lines"
cat "$lines" | "$mpiexec" --stdin none -n 4 "$program" -1
if "$mpiexec" --stdin 4 -n 4 "$program" 4 2>"$lines"; then
  echo "--stdin 4 is accepted by a job of 4 ranks" >&2
  exit 1
fi
grep -q -- '--stdin 4: the job has 4 ranks' "$lines"
