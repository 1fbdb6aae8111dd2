// Gatherv, scatterv, alltoallv and alltoallw across hosts in two stages. Leaders do not know how large the
// blocks of their ranks are: these travel in packed blocks, which say so. A large block goes straight from
// its owner to its user, who both know its size.
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "coll/algorithms/algorithms.h"
#include "coll/hierarchical/stages.h"

namespace clump::coll {

namespace {

// Larger blocks go straight. Packed blocks for all ranks has less room for each if they are many; how much is
// an estimate.
constexpr Count kMostOfBlock = 8 << 10, kMostOfOneInMany = 1 << 10, kMostOfMany = 64 << 10;

/// The lengths of some blocks, and those of them that are not too large. In room of a schedule's own; filled
/// and read when it runs, block by block from the first one on.
class PackedBlocks {
 public:
  PackedBlocks(Schedule& s, Count blocks, Count most)
      : room_(s.scratch(blocks * (static_cast<Count>(sizeof(Count)) + most))),
        head_(blocks * static_cast<Count>(sizeof(Count))),
        most_(most) {}

  const Layout& room() const { return room_; }
  /// The part that has been filled.
  Layout content() const { return datatype::part(room_, 0, end_); }

  /// Before it is filled, and before it is read.
  void begin() { next_ = 0, end_ = head_; }
  void add(const Layout& block) {
    *length() = block.bytes();
    datatype::copy(rest(block.bytes()), block, 0, here(block.bytes()));
    step();
  }
  void add_next_of(PackedBlocks& other) {
    *length() = *other.length();
    std::memcpy(at(end_), other.at(other.end_), static_cast<std::size_t>(here(*length())));
    step();
    other.step();
  }
  /// The next block is `owner`'s. A block that went straight is not here.
  base::Status take(const Schedule& s, const Layout& to, int owner) {
    const Count bytes = *length();
    if (bytes == to.bytes()) datatype::copy(to, rest(bytes), 0, here(bytes));
    step();
    return bytes == to.bytes() ? base::Status{} : s.unequal(owner, bytes, to.bytes());
  }

 private:
  std::byte* at(Count offset) const { return static_cast<std::byte*>(room_.base) + offset; }
  Count* length() const { return reinterpret_cast<Count*>(room_.base) + next_; }
  /// How much of a block is packed: never more than there is room for.
  Count here(Count bytes) const { return bytes >= 0 && bytes <= most_ ? bytes : 0; }
  Layout rest(Count bytes) const { return bytes_at(at(end_), here(bytes)); }
  void step() {
    end_ += here(*length());
    ++next_;
  }

  const Layout room_;
  const Count head_, most_;
  Count next_ = 0, end_ = 0;
};

using SharedBlocks = std::shared_ptr<PackedBlocks>;

void send(Schedule& s, const SharedBlocks& packed, int to) {
  s.send([packed] { return packed->content(); }, to);
}

SharedBlocks receive(Schedule& s, Count blocks, Count most, int from) {
  auto packed = std::make_shared<PackedBlocks>(s, blocks, most);
  s.receive_up_to(packed->room(), from);
  return packed;
}

/// One for each other host, for so many blocks of each of its ranks; null for the caller's.
std::vector<SharedBlocks> make_packed(Schedule& s, const Stages& stages, Count blocks, Count most) {
  std::vector<SharedBlocks> packed;
  for (int host = 0; host < stages.hosts.count(); ++host)
    packed.push_back(host == stages.host ? nullptr
                                         : std::make_shared<PackedBlocks>(
                                               s, blocks * std::ssize(stages.hosts.ranks(host)), most));
  return packed;
}

/// As they are when the schedule is written: the counts may be gone when it runs.
std::vector<Layout> all_of(const Blocks& blocks, int count) {
  std::vector<Layout> all;
  for (int i = 0; i < count; ++i) all.push_back(blocks[i]);
  return all;
}

/// Of the root of a gatherv or scatterv: does something for each rank whose block goes straight.
void for_each_straight(const Stages& stages, const std::vector<Layout>& blocks, int root,
                       const std::function<void(const Layout& block, int rank)>& act) {
  for (int rank = 0; rank < std::ssize(blocks); ++rank) {
    const Layout& block = blocks[static_cast<std::size_t>(rank)];
    const bool near = stages.hosts.host_of(rank) == stages.host;
    if (rank != root && (near ? block.bytes() > 0 : block.bytes() > kMostOfBlock)) act(block, rank);
  }
}

void gather_packed(Schedule& s, const Stages& stages, const Layout& mine, const std::vector<Layout>& blocks) {
  const Hosts& hosts = stages.hosts;
  const std::vector<SharedBlocks> packed = make_packed(s, stages, 1, kMostOfBlock);
  for (int host = 0; host < hosts.count(); ++host)
    if (host != stages.host)
      s.receive_up_to(packed[static_cast<std::size_t>(host)]->room(),
                      stages.leaders[static_cast<std::size_t>(host)]);
  for_each_straight(stages, blocks, s.rank(), [&](const Layout& block, int rank) { s.receive(block, rank); });
  s.copy(blocks[static_cast<std::size_t>(s.rank())], mine);
  s.act([&s, &hosts, packed, blocks] {
    base::Status outcome;
    for (int host = 0; host < hosts.count(); ++host) {
      const SharedBlocks& of_host = packed[static_cast<std::size_t>(host)];
      if (of_host == nullptr) continue;
      of_host->begin();
      for (const int rank : hosts.ranks(host)) {
        const base::Status taken = of_host->take(s, blocks[static_cast<std::size_t>(rank)], rank);
        if (outcome.ok()) outcome = taken;
      }
    }
    return outcome;
  });
}

void scatter_packed(Schedule& s, const Stages& stages, const std::vector<Layout>& blocks,
                    const Layout& mine) {
  const Hosts& hosts = stages.hosts;
  const std::vector<SharedBlocks> packed = make_packed(s, stages, 1, kMostOfBlock);
  s.act([&hosts, packed, blocks] {
    for (int host = 0; host < hosts.count(); ++host) {
      const SharedBlocks& of_host = packed[static_cast<std::size_t>(host)];
      if (of_host == nullptr) continue;
      of_host->begin();
      for (const int rank : hosts.ranks(host)) of_host->add(blocks[static_cast<std::size_t>(rank)]);
    }
    return base::Status{};
  });
  for (int host = 0; host < hosts.count(); ++host)
    if (host != stages.host)
      send(s, packed[static_cast<std::size_t>(host)], stages.leaders[static_cast<std::size_t>(host)]);
  for_each_straight(stages, blocks, s.rank(), [&](const Layout& block, int rank) { s.send(block, rank); });
  s.copy(mine, blocks[static_cast<std::size_t>(s.rank())]);
}

/// The work of a leader in between: sorts the blocks of its ranks by hosts, and blocks from other hosts by
/// ranks. `outgoing` and `incoming` are its own.
void sort_packed(Schedule& s, const Stages& stages, Count most, const SharedBlocks& outgoing,
                 const SharedBlocks& incoming) {
  const Hosts& hosts = stages.hosts;
  const Count others = s.size() - stages.count_here();
  std::vector<SharedBlocks> from_here{outgoing}, to_here{incoming};
  for (const int rank : stages.here.subspan(1)) {
    from_here.push_back(receive(s, others, most, rank));
    to_here.push_back(std::make_shared<PackedBlocks>(s, others, most));
  }
  const std::vector<SharedBlocks> leaving = make_packed(s, stages, stages.count_here(), most);
  const std::vector<SharedBlocks> arriving = make_packed(s, stages, stages.count_here(), most);
  s.act([=, &hosts] {
    for (const SharedBlocks& packed : from_here) packed->begin();
    for (std::size_t host = 0; host < leaving.size(); ++host) {
      if (leaving[host] == nullptr) continue;
      leaving[host]->begin();
      for (const SharedBlocks& packed : from_here)
        for (std::size_t i = 0; i < hosts.ranks(static_cast<int>(host)).size(); ++i)
          leaving[host]->add_next_of(*packed);
    }
    return base::Status{};
  });
  for (std::size_t host = 0; host < leaving.size(); ++host) {
    if (leaving[host] == nullptr) continue;
    send(s, leaving[host], stages.leaders[host]);
    s.receive_up_to(arriving[host]->room(), stages.leaders[host]);
  }
  s.act([=, &hosts] {
    for (const SharedBlocks& packed : to_here) packed->begin();
    for (std::size_t host = 0; host < arriving.size(); ++host) {
      if (arriving[host] == nullptr) continue;
      arriving[host]->begin();
      for (std::size_t i = 0; i < hosts.ranks(static_cast<int>(host)).size(); ++i)
        for (const SharedBlocks& packed : to_here) packed->add_next_of(*arriving[host]);
    }
    return base::Status{};
  });
  for (std::size_t i = 1; i < to_here.size(); ++i) send(s, to_here[i], stages.here[i]);
}

}  // namespace

void gatherv_two_stages(Schedule& s, const Layout& mine, const Blocks& all, int root) {
  const Stages stages(s, root);
  if (s.rank() == root) return gather_packed(s, stages, mine, all_of(all, s.size()));
  if (stages.host == stages.hosts.host_of(root)) return gather_direct(s, mine, all, root);
  std::vector<SharedBlocks> others;
  if (stages.leads())
    for (const int rank : stages.here.subspan(1)) others.push_back(receive(s, 1, kMostOfBlock, rank));
  const auto packed = std::make_shared<PackedBlocks>(s, 1 + std::ssize(others), kMostOfBlock);
  s.act([=] {
    packed->begin();
    packed->add(mine);
    for (const SharedBlocks& other : others) {
      other->begin();
      packed->add_next_of(*other);
    }
    return base::Status{};
  });
  send(s, packed, stages.leads() ? root : stages.leader_rank());
  if (mine.bytes() > kMostOfBlock) s.send(mine, root);
}

void scatterv_two_stages(Schedule& s, const Blocks& all, const Layout& mine, int root) {
  const Stages stages(s, root);
  if (s.rank() == root) return scatter_packed(s, stages, all_of(all, s.size()), mine);
  if (stages.host == stages.hosts.host_of(root)) return scatter_direct(s, all, mine, root);
  const auto packed = receive(s, stages.leads() ? stages.count_here() : 1, kMostOfBlock,
                              stages.leads() ? root : stages.leader_rank());
  if (mine.bytes() > kMostOfBlock) s.receive(mine, root);
  std::vector<SharedBlocks> others;
  if (stages.leads())
    for (int i = 1; i < stages.count_here(); ++i)
      others.push_back(std::make_shared<PackedBlocks>(s, 1, kMostOfBlock));
  s.act([=, &s] {
    packed->begin();
    const base::Status taken = packed->take(s, mine, root);
    for (const SharedBlocks& other : others) {
      other->begin();
      other->add_next_of(*packed);
    }
    return taken;
  });
  for (std::size_t i = 0; i < others.size(); ++i) send(s, others[i], stages.here[i + 1]);
}

void alltoallv_two_stages(Schedule& s, const Blocks& out, const Blocks& in) {
  const Stages stages(s);
  const Count most = std::min(kMostOfOneInMany, kMostOfMany / s.size());
  std::vector<int> others;  // ranks of other hosts, host by host
  std::vector<Layout> sent, received;
  for (const int rank : stages.hosts.by_host()) {
    if (stages.hosts.host_of(rank) == stages.host) continue;
    others.push_back(rank);
    sent.push_back(out[rank]);
    received.push_back(in[rank]);
  }
  const auto outgoing = std::make_shared<PackedBlocks>(s, std::ssize(others), most);
  s.act([=] {
    outgoing->begin();
    for (const Layout& block : sent) outgoing->add(block);
    return base::Status{};
  });
  SharedBlocks incoming;
  if (stages.leads()) {
    incoming = std::make_shared<PackedBlocks>(s, std::ssize(others), most);
    sort_packed(s, stages, most, outgoing, incoming);
  } else {
    send(s, outgoing, stages.leader_rank());
    incoming = receive(s, std::ssize(others), most, stages.leader_rank());
  }
  s.act([=, &s] {
    base::Status outcome;
    incoming->begin();
    for (std::size_t i = 0; i < others.size(); ++i) {
      const base::Status taken = incoming->take(s, received[i], others[i]);
      if (outcome.ok()) outcome = taken;
    }
    return outcome;
  });
  exchange_directly(s, out, in, [&](int peer, Count bytes) {
    return bytes > (stages.hosts.host_of(peer) == stages.host ? 0 : most);
  });
}

}  // namespace clump::coll
