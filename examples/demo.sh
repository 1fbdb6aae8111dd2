#!/usr/bin/env bash
# What `./dev demo` shows, once everything is built.
#   demo.sh BIN WORK RANKS      BIN: our mpicc and mpiexec; WORK: where the programs are put
set -euo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
bin=$1 work=$2 ranks=$3
cores=$(nproc)
mkdir -p "$work"
cd "$work"

echo "==> compiling four plain MPI programs with our mpicc"
for program in hello matmul exchange jacobi; do
  "$bin/mpicc" -O3 -g "$here/$program.c" -o "$program" -lm
done

echo
echo "==> mpiexec -n $ranks hello"
hello=$("$bin/mpiexec" -n "$ranks" ./hello | sort -t ' ' -k 4n)
shown=$((ranks < 4 ? ranks : 4))
head -n "$shown" <<<"$hello"
[ "$ranks" -le "$shown" ] || echo "..."
explained=$("$bin/mpiexec" --explain -n "$ranks" "$work/hello" 2>&1 >"$work/hello.out")
counters=$(grep -o 'at 0x.*' <<<"$hello" | sort -u | wc -l)
echo
echo "$explained"
echo "$ranks ranks, 1 process, $counters places in memory for the global variable 'counter'."
echo "hello.c knows nothing of this: Clump made a private copy of its globals for every rank and shares the rest."
[[ $explained == *"one process"* ]] && [ "$counters" -eq "$ranks" ]

echo
echo "==> mpiexec -n R matmul 1024 32: the product of two 1024 x 1024 matrices by broadcast, on 1 to 4 times as many ranks as cores ($cores)"
table=$("$here/scaling.sh" "$bin/mpiexec" "$((4 * cores))" ./matmul 1024 32)
echo "$table"
awk -v cores="$cores" 'NR == 2 { printf "At best: %.3f seconds, which is one rank'\''s time divided by the cores.\n", $4 / cores }' <<<"$table"
echo "Every element was compared with its exact value."

echo
echo "==> mpiexec -n 4 exchange: a program with a mistake, which hangs under any MPI library"
if "$bin/mpiexec" -n 4 ./exchange; then
  echo "demo.sh: exchange has ended without a report" >&2
  exit 1
fi

echo
echo "==> mpiexec --profile=jacobi -n 4 jacobi 1024 200: where the time of a program goes"
"$bin/mpiexec" --profile=jacobi -n 4 ./jacobi 1024 200
echo
echo "Look at $work/jacobi.html in a browser."
echo "The programs are in examples/; docs/quick-start.md says how to run your own:  PATH=$(printf %q "$bin"):\$PATH"
