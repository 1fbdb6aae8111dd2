#include "read.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "record/clock.h"

namespace clump::tools::profile {

namespace {

/// One thread of a rank.
class ThreadReader {
 public:
  ThreadReader(const Source& source, record::ThreadRecord& thread, Profile& profile, Rank& rank)
      : source_(source), thread_(thread), profile_(profile), rank_(rank) {}

  void read() {
    ++rank_.threads;
    read_calls();
    rank_.kinds[static_cast<std::size_t>(Kind::kNoCore)] += source_.seconds(thread_.no_core.value());
    read_unfinished();
    read_peers();
    read_waits();
    read_sizes(thread_.messages, rank_.messages);
    read_sizes(thread_.collectives, rank_.collectives);
  }

 private:
  void read_calls() {
    for (unsigned call = 0; call < record::kCalls; ++call) {
      const record::CallRecord& from = thread_.calls[call];
      if (from.calls.value() == 0) continue;
      add(call,
          {from.calls.value(), source_.seconds(from.ticks.value()), source_.seconds(from.waited.value()),
           source_.seconds(from.no_core.value()), from.bytes.value()});
    }
  }

  /// What it was in when the job ended counts until then.
  void read_unfinished() {
    const std::uint64_t begun = thread_.call_begun.load();
    if (begun == 0 || begun >= source_.end.ticks) return;
    const unsigned call = thread_.call.load();
    const double seconds = source_.seconds(source_.end.ticks - begun);
    if (seconds > rank_.unfinished_seconds) {
      rank_.unfinished = name_of_call(call);
      rank_.unfinished_seconds = seconds;
    }
    add(call, {1, seconds, 0, 0, 0});
  }

  void add(unsigned call, const Calls& numbers) {
    rank_.calls[call].add(numbers);
    rank_.kinds[static_cast<std::size_t>(kind_of_call(call))] +=
        std::max(0.0, numbers.seconds - numbers.waiting - numbers.no_core);
    rank_.kinds[static_cast<std::size_t>(Kind::kWaiting)] += numbers.waiting;
    rank_.kinds[static_cast<std::size_t>(Kind::kNoCore)] += numbers.no_core;
  }

  void read_peers() {
    const auto chunks = source_.region.peers_of(thread_);
    for (std::size_t number = 0; number < chunks.size(); ++number) {
      const auto* const chunk = source_.region.at<record::PeerChunk>(chunks[number].load());
      if (chunk == nullptr) continue;
      for (std::size_t i = 0; i < record::kPeersInChunk; ++i) {
        const std::size_t peer = number * record::kPeersInChunk + i;
        const Traffic traffic{chunk->peers[i].messages.value(), chunk->peers[i].bytes.value()};
        if (traffic.messages == 0 || peer >= profile_.ranks.size()) continue;
        rank_.sent[static_cast<int>(peer)].add(traffic);
        profile_.ranks[peer].received.add(traffic);
      }
    }
  }

  void read_waits() {
    rank_.waits_left_out += source_.seconds(thread_.waits_left_out.value());
    for (const record::WaitRecord& wait : thread_.waits) {
      const std::uint64_t who = wait.who.load();
      if (who == 0) continue;
      const Waits found{static_cast<int>(who >> 16) - 1, static_cast<unsigned>(who & 0xffff),
                        wait.waits.value(), source_.seconds(wait.ticks.value())};
      const auto same = std::ranges::find_if(
          rank_.waits, [&](const Waits& one) { return one.peer == found.peer && one.call == found.call; });
      if (same == rank_.waits.end()) {
        rank_.waits.push_back(found);
      } else {
        same->times += found.times;
        same->seconds += found.seconds;
      }
    }
  }

  static void read_sizes(const std::array<record::SizeRecord, record::kSizes>& from, Sizes& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i].add({from[i].messages.value(), from[i].bytes.value()});
  }

  const Source& source_;
  record::ThreadRecord& thread_;
  Profile& profile_;
  Rank& rank_;
};

/// From when a rank was watched first until it was watched last.
struct Span {
  std::uint64_t begin, end;

  /// For which part of it threads had the record, one after the other.
  double part_of(const record::ThreadRecord& thread) const {
    const std::uint64_t since = thread.had_since.load();
    const std::uint64_t had = thread.had.value() + (since != 0 && since < end ? end - since : 0);
    return begin < end ? std::min(1.0, static_cast<double>(had) / static_cast<double>(end - begin)) : 0;
  }
};

/// The time of a rank is that of each of its threads: what they do is shown as their mean, each by the time
/// for which it was there.
void finish(Rank& rank) {
  double called = 0;
  for (double& seconds : rank.kinds) {
    seconds /= rank.mean_threads;
    called += seconds;
  }
  rank.kinds[static_cast<std::size_t>(Kind::kCompute)] = std::max(0.0, rank.seconds - called);
  rank.seconds = std::max(rank.seconds, called);
  std::ranges::sort(rank.waits, [](const Waits& a, const Waits& b) { return a.seconds > b.seconds; });
}

}  // namespace

Moment now() {
  static const bool by_counter = record::counter_is_steady();
  const std::uint64_t before = record::system_nanoseconds();
  const std::uint64_t ticks = record::ticks(by_counter);
  return {ticks, static_cast<std::int64_t>(before + (record::system_nanoseconds() - before) / 2)};
}

void describe(const pmi::Job& job, Profile& profile) {
  char here[256] = {};
  ::gethostname(here, sizeof here - 1);
  for (const pmi::Node& node : job.nodes) profile.hosts.push_back(node.name.empty() ? here : node.name);
  profile.ranks.resize(static_cast<std::size_t>(job.ranks()));
  for (int number = 0; number < job.ranks(); ++number) {
    Rank& rank = profile.ranks[static_cast<std::size_t>(number)];
    rank.host = job.node_of(number);
    rank.process = job.process_of(number);
    rank.app = job.app_of(number);
  }
}

void read(const Source& source, const pmi::Job& job, Profile& profile) {
  const record::Region& region = source.region;
  if (region.header().full.load() != 0)
    profile.notes.push_back(fmt::format("{}: the room for records was full; some calls are missing",
                                        profile.hosts[static_cast<std::size_t>(source.host)]));
  if (region.header().core_is_untold.load() != 0)
    profile.notes.push_back(
        fmt::format("{}: the kernel does not tell how long threads wait for a core "
                    "(/proc/thread-self/schedstat), so that time is part of the others",
                    profile.hosts[static_cast<std::size_t>(source.host)]));
  for (int number = 0; number < job.ranks(); ++number) {
    Rank& rank = profile.ranks[static_cast<std::size_t>(number)];
    if (rank.host != source.host) continue;
    const record::RankRecord& record = region.rank(number);
    if (record.first_watched.load() == 0) continue;
    rank.is_known = true;
    rank.seconds = source.seconds(record.watched.value());
    Span span{record.first_watched.load(), record.last_watched.load()};
    if (const std::uint64_t since = record.since.load(); since != 0 && since < source.end.ticks) {
      rank.seconds += source.seconds(source.end.ticks - since);
      span.end = source.end.ticks;
    }
    double at_a_time = 0;
    for (auto* thread = region.at<record::ThreadRecord>(record.threads.load()); thread != nullptr;
         thread = region.at<record::ThreadRecord>(thread->next.load())) {
      ThreadReader(source, *thread, profile, rank).read();
      at_a_time += span.part_of(*thread);
    }
    rank.threads = std::max(rank.threads, 1);
    rank.mean_threads = std::max(at_a_time, 1.0);
    finish(rank);
  }
}

}  // namespace clump::tools::profile
