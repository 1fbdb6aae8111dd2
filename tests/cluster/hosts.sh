#!/usr/bin/env bash
# A cluster on one machine, for tests of what crosses a network: hosts h0, h1, ... are network namespaces with a name and an address of
# their own, joined by a bridge in one more. Needs root and iproute2. DIR keeps what the hosts share; it names this cluster.
#
# Each host gets a core of this machine's, in turn, so that hosts do not meet on one while another is idle.
#
#   hosts.sh up DIR N [RATE]     makes N hosts; RATE limits what each sends (tc, e.g. 1gbit)
#   hosts.sh run DIR HOST CMD... runs a command on a host
#   hosts.sh down DIR            removes them with all that runs there, and DIR
#   hosts.sh keep DIR N [RATE]   makes them, says "up", and removes them when its standard input ends: then whoever has started it has gone
#   hosts.sh with DIR N CMD...   makes N hosts, runs a command, which is told DIR by CLUMP_CLUSTER, and removes them
#
# `up` leaves DIR/agent, which starts a command on a host as ssh would: agent [options] HOST CMD... Like ssh it goes where the address of
# HOST leads, as the host that runs the agent knows it.
#
# A host can differ from the others by files that a test writes: DIR/hosts.hK is its /etc/hosts, DIR/name.hK has its name, and of lines
# "SOURCE TARGET" in DIR/mounts.hK it sees the one at the place of the other.
set -euo pipefail

usage() { sed -n '2,18p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
action=$1 dir=$2
shift 2

usable_cores() {
  local ranges range
  IFS=, read -ra ranges < <(taskset -cp $$ | sed 's/.*: //')
  for range in "${ranges[@]}"; do seq "${range%-*}" "${range#*-}"; done
}

# Of the host hK: one of those that `up` could use, in turn. Who asks may be a host, and have one core himself.
core_of() {
  local cores
  mapfile -t cores <"$dir/cores"
  echo "${cores[$((${1#h} % ${#cores[@]}))]}"
}

# Names of namespaces are the whole machine's.
namespace() {
  local prefix
  prefix=$(cat "$dir/prefix") || exit 1  # it was removed meanwhile
  echo "$prefix-$1"
}

up() {
  local n=$1 rate=${2:-none} k ns switch
  [ "$(id -u)" -eq 0 ] || { echo "hosts.sh: network namespaces need root" >&2; exit 77; }
  [ ! -e "$dir" ] || down
  mkdir -p "$dir"
  dir=$(readlink -f "$dir")
  echo "clump$$" >"$dir/prefix"
  switch=$(namespace switch)
  if ! ip netns add "$switch" || ! ip -n "$switch" link show >/dev/null || ! unshare --uts --mount true; then
    echo "hosts.sh: this machine allows no namespaces" >&2
    down
    exit 77
  fi
  ip -n "$switch" link add br0 type bridge
  ip -n "$switch" link set br0 up
  echo "127.0.0.1 localhost" >"$dir/hosts"
  usable_cores >"$dir/cores"
  for ((k = 0; k < n; k++)); do
    ns=$(namespace "h$k")
    ip netns add "$ns"
    ip -n "$switch" link add "p$k" type veth peer name eth0 netns "$ns"
    ip -n "$switch" link set "p$k" master br0 up
    ip -n "$ns" addr add "10.77.0.$((k + 1))/24" dev eth0
    ip -n "$ns" link set eth0 up
    ip -n "$ns" link set lo up
    [ "$rate" = none ] || ip netns exec "$ns" tc qdisc add dev eth0 root tbf rate "$rate" burst 256kb latency 50ms
    echo "10.77.0.$((k + 1)) h$k" | tee -a "$dir/addresses" >>"$dir/hosts"
  done
  cat >"$dir/agent" <<AGENT
#!/bin/sh
# Options of ssh have no meaning here; its exit code has: 255 when the connection is lost.
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\$1; shift
address=\$(getent ahosts "\$host" | awk '{ print \$1; exit }')
case \$address in
  "") echo "agent: could not resolve hostname \$host" >&2; exit 255 ;;
  127.* | ::1) host=\$CLUMP_CLUSTER_HOST ;;
  *) host=\$(awk -v a="\$address" '\$1 == a { print \$2; exit }' $(printf %q "$dir/addresses")) ;;
esac
cd /
[ -n "\$host" ] || { echo "agent: connect to address \$address port 22: No route to host" >&2; exit 255; }
$(printf %q "$(readlink -f "$0")") run $(printf %q "$dir") "\$host" sh -c "\$*"
code=\$?
[ \$code -lt 128 ] || exit 255
exit \$code
AGENT
  chmod +x "$dir/agent"
}

run() {
  local host=$1
  shift
  [ -f "$dir/agent" ] || { echo "hosts.sh: there is no cluster in $dir" >&2; exit 77; }
  # A folder of its own, as on another machine: PRRTE's daemons take theirs away when they end.
  TMPDIR=$(mktemp -d "$dir/tmp.XXXXXX")
  local name=$host hosts=$dir/hosts
  [ ! -f "$dir/name.$host" ] || name=$(cat "$dir/name.$host")
  [ ! -f "$dir/hosts.$host" ] || hosts=$dir/hosts.$host
  export TMPDIR CLUMP_CLUSTER_HOST=$host
  # shellcheck disable=SC2016  # the inner shell's
  exec taskset -c "$(core_of "$host")" nsenter --net="/run/netns/$(namespace "$host")" unshare --uts --mount \
    sh -c 'hostname "$1"; mount --bind "$2" /etc/hosts
           [ ! -f "$3" ] || while read -r source target; do mount --bind "$source" "$target"; done <"$3"
           shift 3; exec "$@"' sh "$name" "$hosts" "$dir/mounts.$host" "$@"
}

down() {
  local prefix name
  [ -f "$dir/prefix" ] || return 0
  prefix=$(cat "$dir/prefix")
  for name in $(ip netns list | awk -v p="$prefix-" 'index($1, p) == 1 { print $1 }'); do
    ip netns pids "$name" | xargs -r kill -9 2>/dev/null || true  # some may have ended by now
    ip netns del "$name"
  done
  rm -rf "$dir"
}

keep() {
  trap down EXIT
  up "$@"
  echo up
  cat >/dev/null
}

with() {
  local n=$1
  shift
  trap down EXIT
  up "$n"
  CLUMP_CLUSTER=$dir "$@"
}

case $action in
  up) [ $# -ge 1 ] || usage; up "$@" ;;
  run) [ $# -ge 2 ] || usage; run "$@" ;;
  down) down ;;
  keep) [ $# -ge 1 ] || usage; keep "$@" ;;
  with) [ $# -ge 2 ] || usage; with "$@" ;;
  *) usage ;;
esac
