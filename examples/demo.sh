#!/usr/bin/env bash
# What `./dev demo` shows, once everything is built.
#   demo.sh BIN WORK RANKS      BIN: our mpicc and mpiexec; WORK: where the programs are put
set -euo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
bin=$1 work=$2 ranks=$3
mkdir -p "$work"

echo "==> compiling two plain MPI programs with our mpicc"
for program in hello matmul; do
  "$bin/mpicc" -O3 "$here/$program.c" -o "$work/$program"
done

echo
echo "==> mpiexec -n $ranks hello"
hello=$("$bin/mpiexec" -n "$ranks" "$work/hello" | sort -t ' ' -k 4n)
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
echo "==> mpiexec -n R matmul 1024 32: the product of two 1024 x 1024 matrices by broadcast, on $(nproc) cores"
"$here/scaling.sh" "$bin/mpiexec" "$ranks" "$work/matmul" 1024 32
echo
echo "Every element was compared with its exact value. The programs are in examples/; docs/user-guide.md says how to run your own."
