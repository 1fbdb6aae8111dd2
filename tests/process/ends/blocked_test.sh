#!/bin/sh
# mpiexec gets SIGTERM while its ranks block it: it says so, and kills them.
output=$(mktemp)
"$1" -n 2 "$2" >"$output" 2>&1 &
mpiexec=$!
until [ "$(grep -c begun "$output")" = 2 ]; do sleep 0.1; done
kill -TERM $mpiexec
wait $mpiexec
code=$?
cat "$output"
grep -q "has not taken SIGTERM" "$output" && [ $code = 143 ]
good=$?
rm "$output"
exit $good
