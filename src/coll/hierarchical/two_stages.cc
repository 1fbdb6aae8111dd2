// Collectives whose ranks are on several hosts: within each host to its leader, among the leaders, and back
// within each host. A message to another host takes far longer than one within a host, so few are sent, and
// none has to wait for another that could have gone at the same time.
//
// The leader of a host is its lowest rank; the root of an operation leads its own host. The algorithm of a
// stage is chosen as if there were no ranks but those of the stage; only leaders have limits of their own
// (select/select.h).
#include <algorithm>
#include <utility>
#include <vector>

#include "coll/algorithms/algorithms.h"
#include "coll/algorithms/pieces.h"
#include "coll/hierarchical/stages.h"

namespace clump::coll {

namespace {

using namespace among_leaders;

/// A block for each rank, host by host, in a buffer that has them in the order of ranks; or packed in room of
/// the schedule's own, if these two are not the same.
class ByHost {
 public:
  ByHost(Schedule& s, const Hosts& hosts, const Layout& all, Count block_bytes)
      : s_(s), hosts_(hosts), all_(all), count_(all.count / s.size()), bytes_(block_bytes) {
    if (!hosts.consecutive()) packed_ = s.scratch(block_bytes * s.size());
  }
  Layout operator[](int host) const {
    const Count block = hosts_.consecutive() ? count_ : bytes_;
    const Count ranks = hosts_.before(host + 1) - hosts_.before(host);
    return part(hosts_.consecutive() ? all_ : packed_, hosts_.before(host) * block, ranks * block);
  }
  Layout whole() const { return hosts_.consecutive() ? all_ : packed_; }
  void pack() const {
    for_each_block([this](const Layout& packed, const Layout& block) { s_.copy(packed, block); });
  }
  void unpack() const {
    for_each_block([this](const Layout& packed, const Layout& block) { s_.copy(block, packed); });
  }

 private:
  template <typename Do>
  void for_each_block(Do act) const {
    if (hosts_.consecutive()) return;
    Count at = 0;
    for (const int rank : hosts_.by_host()) {
      act(part(packed_, at, bytes_), part(all_, rank * count_, count_));
      at += bytes_;
    }
  }

  Schedule& s_;
  const Hosts& hosts_;
  const Layout all_;
  const Count count_, bytes_;
  Layout packed_;
};

// As allgather_bruck(), with blocks of different sizes. `place(host)` is where the block of each host lies.
template <typename Place>
void exchange_by_doubling(Schedule& s, Place place) {
  const int size = s.size();
  std::vector<Count> begins(static_cast<std::size_t>(size) + 1, 0);
  for (int i = 0; i < size; ++i)
    begins[static_cast<std::size_t>(i) + 1] =
        begins[static_cast<std::size_t>(i)] + place(wrap(s.rank() + i, size)).bytes();
  const Layout packed = s.scratch(begins.back());
  const auto stretch = [&](int first, int last) {
    const Count begin = begins[static_cast<std::size_t>(first)];
    return part(packed, begin, begins[static_cast<std::size_t>(last)] - begin);
  };
  s.copy(stretch(0, 1), place(s.rank()));
  for (int have = 1; have < size; have *= 2) {
    const int more = std::min(have, size - have);
    s.send(stretch(0, more), wrap(s.rank() - have, size));
    s.receive(stretch(have, have + more), wrap(s.rank() + have, size));
    s.next();
  }
  for (int i = 1; i < size; ++i) s.copy(place(wrap(s.rank() + i, size)), stretch(i, i + 1));
}

// Each leader sends the data of its host to all others at once.
template <typename Place>
void exchange_at_once(Schedule& s, Place place) {
  for (int i = 1; i < s.size(); ++i) {
    const int to = wrap(s.rank() + i, s.size()), from = wrap(s.rank() - i, s.size());
    if (place(s.rank()).bytes() > 0) s.send(place(s.rank()), to);
    if (place(from).bytes() > 0) s.receive(place(from), from);
  }
  s.next();
}

/// Each leader sends the data of its host to all leaders; `place(host)` is where it lies, `bytes` the sum.
template <typename Place>
void exchange_among_leaders(Schedule& s, const Stages& stages, Count bytes, Place place) {
  const auto across = stages.among_leaders();
  if (bytes < kLittleData) return exchange_by_doubling(s, place);
  if (s.size() <= kFewHosts) return exchange_at_once(s, place);
  ring_allgather(s, s.rank(), wrap(s.rank() + 1, s.size()), wrap(s.rank() - 1, s.size()), place);
}

// A message that is a little longer than the largest packet of a network that cuts messages into packets (64
// KB, of the kernel's sockets) comes in two, and the second one may be long in coming.
int messages_of(const Layout& data) {
  constexpr Count kPacket = 64 << 10;
  return data.bytes() >= kPacket && data.bytes() < 2 * kPacket && data.count > 1 ? 2 : 1;
}

void send_in_packets(Schedule& s, const Layout& data, int to) {
  for (int i = 0; i < messages_of(data); ++i) s.send(piece(data, messages_of(data), i), to);
}

void receive_in_packets(Schedule& s, const Layout& data, int from) {
  for (int i = 0; i < messages_of(data); ++i) s.receive(piece(data, messages_of(data), i), from);
}

// Each rank combines a piece for all: as much data as in a ring, in two rounds instead of two for each other
// rank. For operations that commute.
void allreduce_by_pieces(Schedule& s, const Layout& in, const Layout& out) {
  const int size = s.size();
  const Layout mine = piece(in, size, s.rank()), result = piece(out, size, s.rank());
  std::vector<Layout> others;
  for (int i = 1; i < size; ++i) {
    const int to = wrap(s.rank() + i, size), from = wrap(s.rank() - i, size);
    send_in_packets(s, piece(in, size, to), to);
    others.push_back(s.scratch(mine.count, *mine.type));
    receive_in_packets(s, others.back(), from);
  }
  s.next();
  s.copy(result, mine);
  for (const Layout& other : others) s.combine(other, result);
  for (int i = 1; i < size; ++i) {
    const int to = wrap(s.rank() + i, size), from = wrap(s.rank() - i, size);
    send_in_packets(s, result, to);
    receive_in_packets(s, piece(out, size, from), from);
  }
  s.next();
}

void allreduce_across(Schedule& s, const Layout& in, const Layout& out) {
  if (in.bytes() < kLittleData) return allreduce_recursive_doubling(s, in, out);
  if (!s.commutative() || in.count < s.size()) return allreduce(s, in, out);
  if (s.size() <= kFewHosts) return allreduce_by_pieces(s, in, out);
  allreduce_ring(s, in, out);
}

void broadcast_across(Schedule& s, const Layout& buffer, int root) {
  if (buffer.bytes() >= kScatterFirst && s.size() > 2) return broadcast_scatter_allgather(s, buffer, root);
  broadcast_binomial(s, buffer, root);
}

// Each rank leads, for a piece of the data: rank number i of each host with those of the other hosts.
void allreduce_with_many_leaders(Schedule& s, const Stages& stages, const Layout& in, const Layout& out) {
  const int pieces = stages.count_here();
  const int mine = wrap(stages.me + 1, pieces);
  {
    const auto within = stages.within_host();
    ring_reduce_scatter(s, in, out);
  }
  s.next();
  {
    std::vector<int> peers;
    for (int host = 0; host < stages.hosts.count(); ++host)
      peers.push_back(stages.hosts.ranks(host)[static_cast<std::size_t>(stages.me)]);
    const Schedule::Among across(s, peers, stages.host);
    allreduce_across(s, piece(out, pieces, mine), piece(out, pieces, mine));
  }
  s.next();
  const auto within = stages.within_host();
  ring_allgather(s, mine, wrap(stages.me + 1, pieces), wrap(stages.me - 1, pieces),
                 [&](int i) { return piece(out, pieces, i); });
}

// `rows` are what the ranks of this host send, of all hosts one after the other, and become what they get.
void exchange_rows(Schedule& s, const Stages& stages, const Layout& rows, Count block) {
  const Hosts& hosts = stages.hosts;
  const Count here = stages.count_here();
  const Count row = rows.bytes() / here;
  const Layout outgoing = s.scratch(rows.bytes());
  const Layout incoming = s.scratch(rows.bytes());
  std::vector<Count> begins, lengths;  // of what is for each host, and from it
  for (int host = 0; host < hosts.count(); ++host) {
    const Count begin = hosts.before(host) * block;
    const Count length = hosts.before(host + 1) * block - begin;
    begins.push_back(begin * here);
    lengths.push_back(length * here);
    for (Count i = 0; i < here; ++i)
      s.copy(part(outgoing, begins.back() + i * length, length), part(rows, i * row + begin, length));
  }
  {
    const auto across = stages.among_leaders();
    alltoall_direct(s, Blocks(outgoing.base, lengths.data(), begins.data(), outgoing.type),
                    Blocks(incoming.base, lengths.data(), begins.data(), incoming.type));
  }
  for (Count from = 0; from < s.size(); ++from)
    for (Count i = 0; i < here; ++i)
      s.copy(part(rows, i * row + from * block, block), part(incoming, (from * here + i) * block, block));
}

}  // namespace

void barrier_two_stages(Schedule& s) {
  const Stages stages(s);
  const Layout nothing = bytes_at(nullptr, 0);
  const int leader = stages.leaders[static_cast<std::size_t>(stages.host)];
  if (!stages.leads()) {
    s.send(nothing, leader);
    return s.receive(nothing, leader);
  }
  for (const int rank : stages.here)
    if (rank != leader) s.receive(nothing, rank);
  s.next();
  {
    const auto across = stages.among_leaders();
    barrier_dissemination(s);
  }
  for (const int rank : stages.here)
    if (rank != leader) s.send(nothing, rank);
}

// The messages of leaders to each other and to their hosts are in progress together.
void broadcast_two_stages(Schedule& s, const Layout& buffer, int root) {
  const Stages stages(s, root);
  if (stages.leads()) {
    const auto across = stages.among_leaders();
    broadcast_across(s, buffer, stages.hosts.host_of(root));
  }
  const auto within = stages.within_host();
  broadcast(s, buffer, stages.leader);
}

void reduce_two_stages(Schedule& s, const Layout& in, const Layout& out, int root) {
  const Stages stages(s, root);
  const bool is_root = s.rank() == root;
  Layout value = in;  // the host's part of the result
  if (stages.count_here() > 1) {
    if (is_root)
      value = out;
    else if (stages.leads())
      value = s.scratch(in.count, *in.type);
    const auto within = stages.within_host();
    reduce(s, in, value, stages.leader);
  }
  if (!stages.leads()) return;
  s.next();
  const auto across = stages.among_leaders();
  reduce(s, value, out, stages.hosts.host_of(root));
}

void allreduce_two_stages(Schedule& s, const Layout& in, const Layout& out) {
  const Stages stages(s);
  if (stages.hosts.even() && s.commutative() && in.bytes() >= kAllLead && in.count >= stages.count_here())
    return allreduce_with_many_leaders(s, stages, in, out);
  if (stages.count_here() > 1) {
    const auto within = stages.within_host();
    reduce(s, in, out, stages.leader);
  }
  s.next();
  if (stages.leads()) {
    const auto across = stages.among_leaders();
    allreduce_across(s, stages.count_here() > 1 ? out : in, out);
  }
  s.next();
  const auto within = stages.within_host();
  broadcast(s, out, stages.leader);
}

// The highest rank of a host leads: its result within the host is the host's part of the results above.
void prefix_two_stages(Schedule& s, const Layout& value, const Layout& below) {
  std::vector<int> highest;
  for (int host = 0; host < s.hosts()->count(); ++host) highest.push_back(s.hosts()->ranks(host).back());
  const Stages stages(s, std::move(highest));
  {
    const auto within = stages.within_host();
    prefix(s, value, below);
  }
  const Layout lower = s.scratch(value.count, *value.type);  // the result of the hosts below
  if (stages.leads()) {
    const Layout host = s.scratch(value.count, *value.type);
    s.copy(host, value);
    const auto across = stages.among_leaders();
    prefix(s, host, lower);
  }
  if (stages.host == 0) return;
  {
    const auto within = stages.within_host();
    broadcast(s, lower, stages.leader);
  }
  s.combine(lower, value);
  if (below.type == nullptr) return;
  if (stages.me == 0)
    s.copy(below, lower);
  else
    s.combine(lower, below);
}

void allgather_two_stages(Schedule& s, const Layout& mine, const Layout& all) {
  const Stages stages(s);
  if (stages.leads()) {
    const ByHost blocks(s, stages.hosts, all, mine.bytes());
    const auto place = [&](int host) { return blocks[host]; };
    {
      const auto within = stages.within_host();
      gather(s, mine, blocks[stages.host], stages.leader);
    }
    s.next();
    exchange_among_leaders(s, stages, all.bytes(), place);
    blocks.unpack();
  } else {
    const auto within = stages.within_host();
    gather(s, mine, {}, stages.leader);
  }
  s.next();
  const auto within = stages.within_host();
  broadcast(s, all, stages.leader);
}

// Blocks travel packed, host by host, and each rank puts them where they belong.
void allgatherv_two_stages(Schedule& s, const Layout& mine, const Blocks& all) {
  const Stages stages(s);
  const Hosts& hosts = stages.hosts;
  std::vector<Count> lengths, begins{0};  // of the blocks; and the end
  for (const int rank : hosts.by_host()) {
    lengths.push_back(all[rank].bytes());
    begins.push_back(begins.back() + lengths.back());
  }
  const Layout packed = s.scratch(begins.back());
  const auto stretch = [&](int first, int last) {
    const Count begin = begins[static_cast<std::size_t>(first)];
    return part(packed, begin, begins[static_cast<std::size_t>(last)] - begin);
  };
  const int first = hosts.before(stages.host);
  {
    const auto within = stages.within_host();
    gather_direct(s, mine, Blocks(packed.base, lengths.data() + first, begins.data() + first, packed.type),
                  stages.leader);
  }
  s.next();
  if (stages.leads())
    exchange_among_leaders(s, stages, packed.bytes(),
                           [&](int host) { return stretch(hosts.before(host), hosts.before(host + 1)); });
  s.next();
  {
    const auto within = stages.within_host();
    broadcast(s, packed, stages.leader);
  }
  for (int i = 0; i < s.size(); ++i)
    s.copy(all[hosts.by_host()[static_cast<std::size_t>(i)]], stretch(i, i + 1));
}

void gather_two_stages(Schedule& s, const Layout& mine, const Layout& all, int root) {
  const Stages stages(s, root);
  const Count block = mine.bytes();
  if (s.rank() == root) {
    const ByHost blocks(s, stages.hosts, all, block);
    for (int host = 0; host < stages.hosts.count(); ++host)
      if (host != stages.host) s.receive(blocks[host], stages.leaders[static_cast<std::size_t>(host)]);
    {
      const auto within = stages.within_host();
      gather(s, mine, blocks[stages.host], stages.leader);
    }
    return blocks.unpack();
  }
  const bool alone = stages.count_here() == 1;
  const Layout packed = stages.leads() && !alone ? s.scratch(block * stages.count_here()) : Layout{};
  if (!alone) {
    const auto within = stages.within_host();
    gather(s, mine, packed, stages.leader);
  }
  if (!stages.leads()) return;
  s.next();
  s.send(alone ? mine : packed, root);
}

void scatter_two_stages(Schedule& s, const Layout& all, const Layout& mine, int root) {
  const Stages stages(s, root);
  const Count block = mine.bytes();
  if (s.rank() == root) {
    const ByHost blocks(s, stages.hosts, all, block);
    blocks.pack();
    for (int host = 0; host < stages.hosts.count(); ++host)
      if (host != stages.host) s.send(blocks[host], stages.leaders[static_cast<std::size_t>(host)]);
    const auto within = stages.within_host();
    return scatter(s, blocks[stages.host], mine, stages.leader);
  }
  if (stages.count_here() == 1) return s.receive(mine, root);
  Layout packed;
  if (stages.leads()) {
    packed = s.scratch(block * stages.count_here());
    s.receive(packed, root);
    s.next();
  }
  const auto within = stages.within_host();
  scatter(s, packed, mine, stages.leader);
}

// Leaders collect all that their ranks send (a row for each, its blocks host by host), give each other what
// is for the ranks there, and hand each rank a row with what all have sent to it.
void alltoall_two_stages(Schedule& s, const Layout& out, const Layout& in) {
  const Stages stages(s);
  const Hosts& hosts = stages.hosts;
  const Count block = out.bytes() / s.size();
  const ByHost sends(s, hosts, out, block);
  const ByHost receives(s, hosts, in, block);
  sends.pack();
  Layout rows;
  if (stages.leads()) rows = s.scratch(out.bytes() * stages.count_here());
  {
    const auto within = stages.within_host();
    gather(s, sends.whole(), rows, stages.leader);
  }
  if (stages.leads()) exchange_rows(s, stages, rows, block);
  {
    const auto within = stages.within_host();
    scatter(s, rows, receives.whole(), stages.leader);
  }
  receives.unpack();
}

}  // namespace clump::coll
