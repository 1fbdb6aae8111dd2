#!/usr/bin/env bash
# repeat.sh TIMES COMMAND ...: stops at the first run that fails or takes more than 20 seconds, and shows what it said.
set -uo pipefail
times=$1
shift
for ((run = 1; run <= times; ++run)); do
  output=$(timeout 20 "$@" 2>&1) || { code=$?; printf 'run %d of %d: exit code %d\n%s\n' "$run" "$times" "$code" "$output"; exit 1; }
done
echo "$times runs"
