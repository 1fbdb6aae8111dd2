#include "io/exchange.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "coll/coll.h"
#include "core/rank.h"
#include "io/agreement.h"
#include "io/coverage.h"

namespace clump::io {

namespace {

using base::Status;

/// On one host, two leaders take turns, so that one copies while the other is in the kernel.
constexpr int kAggregatorsPerHost = 2;

/// What each leader tells the others about its round.
struct Summary {
  Extent extent;
  bool failed = false;
  bool seekable = true;
  // Hints, which may differ. Those of the first leader count.
  Hints::Collective use = Hints::Collective::kAutomatic;
  int aggregators = 0;
  Count domain_bytes = 0;
};

/// Blocks in the file, as a message tells them.
struct WireRun {
  Count offset, block, count, stride;
};

/// Bytes for, or from, each leader: one block after the other.
struct Messages {
  explicit Messages(int leaders) : counts(static_cast<std::size_t>(leaders)), displacements(counts.size()) {}

  std::vector<Count> counts, displacements;
  std::vector<std::byte> bytes;

  /// The next block is that of `leader`. Called for all leaders, in their order.
  void begin(int leader) {
    displacements[static_cast<std::size_t>(leader)] = static_cast<Count>(bytes.size());
  }
  void end(int leader) {
    const auto i = static_cast<std::size_t>(leader);
    counts[i] = static_cast<Count>(bytes.size()) - displacements[i];
  }
  void make_room() {
    Count total = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      displacements[i] = total;
      total += counts[i];
    }
    bytes.resize(static_cast<std::size_t>(total));
  }
  std::byte* of(std::size_t leader) { return bytes.data() + displacements[leader]; }
  coll::Blocks blocks() {
    return {bytes.data(), coll::Numbers(counts.data()), coll::Numbers(displacements.data()),
            datatype::predefined(MPI_BYTE)};
  }
};

/// A read or a write that leaders carry out together.
class Exchange {
 public:
  Exchange(OpenedFile& file, core::Comm& leaders, Round& round, const Manner& manner)
      : file_(file), leaders_(leaders), round_(round), manner_(manner), size_(size_of(file.target)) {}

  Status run(const Extent& extent, int aggregators) {
    choose_aggregators(aggregators);
    const Count step = static_cast<Count>(aggregators_.size()) * manner_.domain_bytes;
    for (Count at = extent.begin - extent.begin % manner_.domain_bytes; at < extent.end; at += step)
      CLUMP_TRY(manner_.direction == Direction::kRead ? read_step(at) : write_step(at));
    for (Part* const part : round_.parts)
      part->done =
          manner_.direction == Direction::kRead ? bytes_before(part->access, size_) : part->access.bytes;
    return outcome_;
  }

 private:
  /// Leaders on different hosts in turn, so that each host has its part. Hosts of several jobs have no common
  /// numbers: they count as one.
  void choose_aggregators(int wanted) {
    std::map<int, std::vector<int>> by_host;
    const core::World& world = leaders_.owner.world;
    for (int leader = 0; leader < leaders_.size(); ++leader)
      by_host[leaders_.crosses_jobs() ? 0 : world.node_of(leaders_.group->world_rank(leader))].push_back(
          leader);
    const int most = wanted > 0 ? wanted : static_cast<int>(by_host.size()) * kAggregatorsPerHost;
    for (std::size_t turn = 0; static_cast<int>(aggregators_.size()) < std::min(most, leaders_.size());
         ++turn)
      for (const auto& [host, members] : by_host)
        if (turn < members.size() && static_cast<int>(aggregators_.size()) < most)
          aggregators_.push_back(members[turn]);
    std::ranges::sort(aggregators_);
  }

  /// The file domain of an aggregator in a step; -1: the leader is none.
  Count domain_of(int leader, Count at) const {
    const auto found = std::ranges::lower_bound(aggregators_, leader);
    if (found == aggregators_.end() || *found != leader) return -1;
    return at + (found - aggregators_.begin()) * manner_.domain_bytes;
  }

  struct Slice {
    const Access* access;
    Count first, last;  // view bytes
  };
  std::vector<Slice> slices(Count begin) const {
    std::vector<Slice> found;
    for (const Part* const part : round_.parts) {
      if (part->is_empty()) continue;
      const Access& access = part->access;
      const auto inside = [&](Count offset) {
        return std::clamp(access.view->position_of(offset), access.position, access.position + access.bytes);
      };
      const Slice slice{&access, inside(begin), inside(begin + manner_.domain_bytes)};
      if (slice.first < slice.last) found.push_back(slice);
    }
    return found;
  }

  static void append(std::vector<std::byte>& message, const void* data, std::size_t bytes) {
    const auto* const from = static_cast<const std::byte*>(data);
    message.insert(message.end(), from, from + bytes);
  }

  /// Appends where the slices are in the file: a number, and as many WireRuns.
  static void append_runs(std::vector<std::byte>& message, const std::vector<Slice>& slices) {
    const std::size_t head = message.size();
    Count runs = 0;
    append(message, &runs, sizeof runs);
    const auto add = [&](const WireRun& run) {
      append(message, &run, sizeof run);
      ++runs;
    };
    for (const Slice& slice : slices)
      slice.access->view->for_each_run(slice.first, slice.last - slice.first, [&](const datatype::Run& run) {
        if (run.offsets == nullptr)
          return add({static_cast<Count>(run.base), run.block, run.count, run.stride});
        for (Count i = 0; i < run.count; ++i)
          add({static_cast<Count>(run.address(i)), run.block, 1, run.block});
      });
    std::memcpy(&message[head], &runs, sizeof runs);
  }

  /// The runs of a message from a leader, and what follows them.
  static std::vector<datatype::Run> runs_of(const std::byte*& message) {
    Count number = 0;
    std::memcpy(&number, message, sizeof number);
    message += sizeof number;
    std::vector<datatype::Run> runs;
    for (Count i = 0; i < number; ++i, message += sizeof(WireRun)) {
      WireRun run;
      std::memcpy(&run, message, sizeof run);
      runs.push_back({.base = static_cast<std::intptr_t>(run.offset),
                      .block = run.block,
                      .count = run.count,
                      .stride = run.stride});
    }
    return runs;
  }

  /// Sends what there is in `out`, and receives into `in`. Collective.
  Status send(Messages& out, Messages& in) {
    const int n = leaders_.size();
    const auto bytes = static_cast<Count>(sizeof(Count)) * n;
    const datatype::Layout mine = coll::bytes_at(out.counts.data(), bytes),
                           theirs = coll::bytes_at(in.counts.data(), bytes);
    CLUMP_TRY(coll::run(leaders_, coll::Call::alltoall(n, mine, theirs)));
    in.make_room();
    return send_known(out, in);
  }
  Status send_known(Messages& out, Messages& in) {
    const coll::Blocks from = out.blocks(), to = in.blocks();
    return coll::run(leaders_, coll::Call::alltoallv(from, to));
  }

  Status write_step(Count at) {
    Messages out(leaders_.size()), in(leaders_.size());
    for (int leader = 0; leader < leaders_.size(); ++leader) {
      out.begin(leader);
      if (const Count domain = domain_of(leader, at); domain >= 0) pack_for(domain, out.bytes);
      out.end(leader);
    }
    CLUMP_TRY(send(out, in));
    const Count domain = domain_of(leaders_.rank, at);
    if (domain >= 0 && outcome_.ok()) outcome_ = write_domain(domain, in);  // others go on, so this goes on
    return {};
  }

  void pack_for(Count domain, std::vector<std::byte>& message) const {
    const std::vector<Slice> found = slices(domain);
    if (found.empty()) return;
    append_runs(message, found);
    for (const Slice& slice : found) {
      const std::size_t head = message.size();
      message.resize(head + static_cast<std::size_t>(slice.last - slice.first));
      datatype::pack(std::span(message).subspan(head), slice.access->memory,
                     slice.first - slice.access->position);
    }
  }

  Status write_domain(Count begin, Messages& in) {
    struct From {
      std::vector<datatype::Run> runs;
      const std::byte* data;
    };
    Coverage coverage(begin, begin + manner_.domain_bytes);
    std::vector<From> all;
    for (std::size_t leader = 0; leader < in.counts.size(); ++leader) {
      if (in.counts[leader] == 0) continue;
      const std::byte* message = in.of(leader);
      From from{runs_of(message), nullptr};
      from.data = message;
      for (const datatype::Run& run : from.runs) coverage.measure(run);
      all.push_back(std::move(from));
    }
    if (all.empty()) return {};
    DomainBuffers::Buffer buffer = file_.domain_buffers.take(manner_.domain_bytes);
    std::byte* const bytes_of_domain = buffer.bytes.get();
    for (From& from : all)
      for (const datatype::Run& run : from.runs) {
        coverage.add(run);
        for (Count i = 0; i < run.count; ++i, from.data += run.block)
          std::memcpy(bytes_of_domain + (run.address(i) - begin), from.data,
                      static_cast<std::size_t>(run.block));
      }
    Status outcome;
    coverage.for_each([&](Count offset, Count bytes) {
      Count done = 0;
      outcome = write_at(file_.target, bytes_of_domain + (offset - begin), bytes, offset, done);
      return outcome.ok();
    });
    file_.domain_buffers.give_back(std::move(buffer));
    return outcome;
  }

  Status read_step(Count at) {
    const int n = leaders_.size();
    Messages wishes(n), wanted(n), out(n), in(n);
    for (int leader = 0; leader < n; ++leader) {
      wishes.begin(leader);
      if (const Count domain = domain_of(leader, at); domain >= 0) {
        const std::vector<Slice> found = slices(domain);
        if (!found.empty()) append_runs(wishes.bytes, found);
        for (const Slice& slice : found)
          in.counts[static_cast<std::size_t>(leader)] += slice.last - slice.first;
      }
      wishes.end(leader);
    }
    in.make_room();
    CLUMP_TRY(send(wishes, wanted));
    read_domain(domain_of(leaders_.rank, at), wanted, out);
    CLUMP_TRY(send_known(out, in));
    for (int leader = 0; leader < n; ++leader)
      if (const Count domain = domain_of(leader, at); domain >= 0)
        unpack_from(domain, in.of(static_cast<std::size_t>(leader)));
    return {};
  }

  /// Reads what the leaders want of a domain, and puts it together for them; zeros where the file has ended
  /// or cannot be read.
  void read_domain(Count begin, Messages& wanted, Messages& out) {
    if (begin < 0) return;
    std::vector<std::vector<datatype::Run>> all;
    Count low = begin + manner_.domain_bytes, high = begin;
    for (std::size_t leader = 0; leader < wanted.counts.size(); ++leader) {
      all.emplace_back();
      const std::byte* message = wanted.of(leader);
      if (wanted.counts[leader] > 0) all.back() = runs_of(message);
      for (const datatype::Run& run : all.back()) {
        low = std::min(low, static_cast<Count>(run.address(0)));
        high = std::max(high, static_cast<Count>(run.address(run.count - 1)) + run.block);
        out.counts[leader] += run.count * run.block;
      }
    }
    out.make_room();
    if (low >= high) return;
    DomainBuffers::Buffer buffer = file_.domain_buffers.take(manner_.domain_bytes);
    std::byte* const bytes_of_domain = buffer.bytes.get();
    Count there = 0;
    const Status outcome = read_at(file_.target, bytes_of_domain, high - low, low, there);
    if (outcome_.ok()) outcome_ = outcome;
    std::memset(bytes_of_domain + there, 0, static_cast<std::size_t>(high - low - there));
    for (std::size_t leader = 0; leader < all.size(); ++leader) {
      std::byte* to = out.of(leader);
      for (const datatype::Run& run : all[leader])
        for (Count i = 0; i < run.count; ++i, to += run.block)
          std::memcpy(to, bytes_of_domain + (run.address(i) - low), static_cast<std::size_t>(run.block));
    }
    file_.domain_buffers.give_back(std::move(buffer));
  }

  void unpack_from(Count domain, const std::byte* data) const {
    for (const Slice& slice : slices(domain)) {
      const Count bytes = slice.last - slice.first;
      const Count there = std::clamp(slice.access->view->position_of(size_) - slice.first, Count{0}, bytes);
      if (there > 0)
        datatype::unpack(slice.access->memory, slice.first - slice.access->position,
                         std::span(data, static_cast<std::size_t>(there)));
      data += bytes;
    }
  }

  OpenedFile& file_;
  core::Comm& leaders_;
  Round& round_;
  const Manner& manner_;
  const Count size_;
  std::vector<int> aggregators_;  // in rising order
  Status outcome_;
};

}  // namespace

Status exchange(OpenedFile& file, core::Comm& leaders, Round& round, const Manner& manner, int aggregators) {
  Summary mine{.failed = !round.failure().ok(),
               .seekable = size_of(file.target) >= 0,
               .use = manner.use,
               .aggregators = aggregators,
               .domain_bytes = manner.domain_bytes};
  for (const Part* const part : round.parts) mine.extent.add(*part);
  std::vector<Summary> all(static_cast<std::size_t>(leaders.size()));
  CLUMP_TRY(allgather(leaders, mine, std::span(all)));
  Summary whole;
  for (const Summary& one : all) {
    whole.extent.add(one.extent);
    whole.failed = whole.failed || one.failed;
    whole.seekable = whole.seekable && one.seekable;
  }
  Manner agreed = manner;
  agreed.use = all.front().use;
  agreed.domain_bytes = all.front().domain_bytes;
  if (whole.failed) return agree(leaders, round.failure());
  const bool wanted = agreed.use == Hints::Collective::kAlways ||
                      (agreed.use == Hints::Collective::kAutomatic && !whole.extent.is_coarse());
  if (!wanted || agreed.atomic || !whole.extent.ordered || whole.extent.bytes == 0 || !whole.seekable)
    return agree(leaders, run_each(file, round, agreed));
  return agree(leaders, Exchange(file, leaders, round, agreed).run(whole.extent, all.front().aggregators));
}

}  // namespace clump::io
