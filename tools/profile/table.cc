// The table that mpiexec prints.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "profile.h"

namespace clump::tools::profile {

namespace {

constexpr std::size_t kMostCalls = 12, kMostRanks = 16, kMostWaits = 8;

std::string percent(double part, double whole) {
  return whole <= 0 ? "-" : fmt::format("{:.1f} %", 100 * part / whole);
}

/// Least, mean and most of a number that each rank has.
struct Range {
  double least = 0, mean = 0, most = 0;
  int of_least = 0, of_most = 0;

  template <typename Value>
  Range(const std::vector<Rank>& ranks, Value value) {
    int known = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (!ranks[i].is_known) continue;
      const double one = value(ranks[i]);
      const int number = static_cast<int>(i);
      if (known == 0 || one < least) least = one, of_least = number;
      if (known == 0 || one > most) most = one, of_most = number;
      mean += one;
      ++known;
    }
    if (known != 0) mean /= known;
  }
};

double compute(const Rank& rank) { return rank.of(Kind::kCompute); }

std::string range_line(const char* name, const Range& range, const Range& whole) {
  return fmt::format("  {:<22}{:>10} {:>8} {:>10} {:>10}   rank {} to rank {}\n", name,
                     human_seconds(range.mean), percent(range.mean, whole.mean), human_seconds(range.least),
                     human_seconds(range.most), range.of_least, range.of_most);
}

std::string times(const Profile& profile) {
  const Range all(profile.ranks, [](const Rank& rank) { return rank.seconds; });
  const Range computing(profile.ranks, compute);
  std::string text =
      fmt::format("\n  {:<22}{:>10} {:>8} {:>10} {:>10}\n", "time of a rank", "mean", "", "least", "most");
  text += range_line("from begin to end", all, all);
  text += range_line("computing", computing, all);
  text += range_line("in MPI", Range(profile.ranks, [](const Rank& rank) { return rank.mpi(); }), all);
  text += range_line("  of that waiting",
                     Range(profile.ranks, [](const Rank& rank) { return rank.of(Kind::kWaiting); }), all);
  text += range_line("waiting for a core",
                     Range(profile.ranks, [](const Rank& rank) { return rank.of(Kind::kNoCore); }), all);
  if (computing.mean > all.mean / 100)
    text += fmt::format("  load imbalance: rank {} computes {:.2f} times as long as the mean\n",
                        computing.of_most, computing.most / computing.mean);
  return text;
}

std::string calls(const Profile& profile) {
  const auto by_call = profile.all_calls();
  std::vector<std::pair<unsigned, Calls>> all(by_call.begin(), by_call.end());
  std::ranges::sort(all, [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  double whole = 0;
  for (const Rank& rank : profile.ranks) whole += rank.seconds * rank.mean_threads;
  std::string text =
      fmt::format("\n  {:<26}{:>9} {:>10} {:>8} {:>10} {:>10} {:>10} {:>10}\n", "calls, of all ranks",
                  "calls", "time", "", "waiting", "no core", "each", "bytes");
  for (std::size_t i = 0; i < std::min(all.size(), kMostCalls); ++i) {
    const auto& [call, numbers] = all[i];
    text += fmt::format("  {:<26}{:>9} {:>10} {:>8} {:>10} {:>10} {:>10} {:>10}\n", name_of_call(call),
                        human_count(static_cast<double>(numbers.calls)), human_seconds(numbers.seconds),
                        percent(numbers.seconds, whole), human_seconds(numbers.waiting),
                        human_seconds(numbers.no_core),
                        human_seconds(numbers.seconds / static_cast<double>(numbers.calls)),
                        human_bytes(static_cast<double>(numbers.bytes)));
  }
  if (all.size() > kMostCalls) text += fmt::format("  and {} functions more\n", all.size() - kMostCalls);
  return text;
}

std::string messages(const Profile& profile) {
  const Profile::Distances far = profile.distances();
  Traffic all = far.process;
  all.add(far.host);
  all.add(far.hosts);
  if (all.messages == 0) return "\n  no messages between ranks\n";
  std::string text =
      fmt::format("\n  {:<26}{:>9} {:>10} {:>8}\n", "messages between ranks", "messages", "bytes", "");
  const auto line = [&](const char* name, const Traffic& one) {
    text += fmt::format("  {:<26}{:>9} {:>10} {:>8}\n", name, human_count(static_cast<double>(one.messages)),
                        human_bytes(static_cast<double>(one.bytes)),
                        percent(static_cast<double>(one.bytes), static_cast<double>(all.bytes)));
  };
  line("in one process", far.process);
  line("between processes", far.host);
  line("between hosts", far.hosts);
  return text;
}

std::string waits(const Profile& profile) {
  struct Waited {
    int rank;
    const Waits* wait;
  };
  std::vector<Waited> all;
  for (std::size_t i = 0; i < profile.ranks.size(); ++i)
    for (const Waits& wait : profile.ranks[i].waits) all.push_back({static_cast<int>(i), &wait});
  std::ranges::sort(all, [](const Waited& a, const Waited& b) { return a.wait->seconds > b.wait->seconds; });
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kMostWaits); ++i) {
    const Waits& wait = *all[i].wait;
    text += fmt::format("{}  rank {} waited {} for rank {} in {} ({})\n", i == 0 ? "\n" : "", all[i].rank,
                        human_seconds(wait.seconds), wait.peer, name_of_call(wait.call),
                        wait.times == 1 ? "once" : human_count(static_cast<double>(wait.times)) + " times");
  }
  return text;
}

std::string unfinished(const Profile& profile) {
  std::string text;
  std::size_t count = 0;
  for (std::size_t i = 0; i < profile.ranks.size(); ++i) {
    const Rank& rank = profile.ranks[i];
    if (rank.unfinished.empty() || ++count > kMostRanks) continue;
    text += fmt::format("{}  rank {} was in {} for {} when the job ended\n", count == 1 ? "\n" : "", i,
                        rank.unfinished, human_seconds(rank.unfinished_seconds));
  }
  if (count > kMostRanks) text += fmt::format("  and {} ranks more\n", count - kMostRanks);
  return text;
}

}  // namespace

std::string as_table(const Profile& profile) {
  std::string text =
      fmt::format("profile of {}: {} rank{} on {} host{}, {}\n", profile.program, profile.ranks.size(),
                  profile.ranks.size() == 1 ? "" : "s", profile.hosts.size(),
                  profile.hosts.size() == 1 ? "" : "s", human_seconds(profile.seconds));
  for (const std::string& note : profile.notes) text += "  note: " + note + "\n";
  if (std::ranges::none_of(profile.ranks, [](const Rank& rank) { return rank.is_known; }))
    return text + "  no rank has called MPI_Init\n";
  return text + times(profile) + calls(profile) + messages(profile) + waits(profile) + unfinished(profile);
}

}  // namespace clump::tools::profile
