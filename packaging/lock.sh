#!/usr/bin/env bash
# Writes the lists of Python packages that ./dev installs: for each NAME.in, which has the packages that are wanted, NAME.txt with these and all that they
# need, for each version of Python from 3.10 on (`plot`: from 3.11 on), and with the hashes of all their wheels. Call it after a change of a NAME.in. It needs
# the program uv.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
for list in gen/requirements docs/site/requirements packaging/wheel/requirements bench/requirements/{mpich,openmpi,intel,plot}; do
  oldest=3.10
  [ "$list" != bench/requirements/plot ] || oldest=3.11  # as its matplotlib
  uv pip compile -q --universal --generate-hashes --python-version "$oldest" --only-binary :all: --no-header --no-annotate "$list.in" -o "$list.new"
  { echo "# Made from the .in file beside it by packaging/lock.sh: all files of these versions, with their hashes."; cat "$list.new"; } >"$list.txt"
  rm "$list.new"
done
