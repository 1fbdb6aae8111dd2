#!/usr/bin/env bash
# expect_output.sh TEXT COMMAND ...: passes when COMMAND exits with 0 and one line of its standard output is TEXT.
set -uo pipefail
text=$1
shift
output=$("$@")
code=$?
printf '%s\n' "$output"
[ "$code" -eq 0 ] || { echo "exit code $code" >&2; exit 1; }
grep -qxF -- "$text" <<<"$output" || { echo "no line '$text' in the output" >&2; exit 1; }
