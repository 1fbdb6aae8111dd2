// The table that mpiexec prints.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/terminal.h"
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

/// Lines of a table: the first column is a name, the others are right-aligned. Where a terminal is too narrow
/// for all, those that matter least are left out.
class Lines {
 public:
  struct Column {
    std::size_t width;
    int dropped = 0;  ///< 1 is left out first; 0: never
  };
  Lines(std::size_t columns, std::vector<Column> all) : all_(std::move(all)) {
    for (int next = 1; width() > columns && next <= std::ssize(all_); ++next)
      for (Column& one : all_)
        if (one.dropped == next) one.width = 0;
  }
  std::string line(const std::vector<std::string>& cells) const {
    std::string text = fmt::format("  {:<{}}", cells[0], all_[0].width);
    for (std::size_t i = 1; i < cells.size(); ++i)
      if (all_[i].width != 0) text += fmt::format(" {:>{}}", cells[i], all_[i].width - 1);
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }

 private:
  std::size_t width() const {
    return std::accumulate(all_.begin(), all_.end(), std::size_t{2},
                           [](std::size_t sum, const Column& one) { return sum + one.width; });
  }
  std::vector<Column> all_;
};

std::string times(const Profile& profile, std::size_t columns) {
  const Range all(profile.ranks, [](const Rank& rank) { return rank.seconds; });
  const Range computing(profile.ranks, compute);
  const Lines lines(columns, {{21}, {11}, {9, 2}, {11}, {11}, {20, 1}});
  std::string text = "\n" + lines.line({"time of a rank", "mean", "", "least", "most", "least, most of"});
  const auto add = [&](const char* name, const Range& range) {
    text += lines.line({name, human_seconds(range.mean), percent(range.mean, all.mean),
                        human_seconds(range.least), human_seconds(range.most),
                        fmt::format("rank {}, {}", range.of_least, range.of_most)});
  };
  add("from begin to end", all);
  add("computing", computing);
  add("in MPI", Range(profile.ranks, [](const Rank& rank) { return rank.mpi(); }));
  add("  of that waiting", Range(profile.ranks, [](const Rank& rank) { return rank.of(Kind::kWaiting); }));
  add("waiting for a core", Range(profile.ranks, [](const Rank& rank) { return rank.of(Kind::kNoCore); }));
  if (computing.mean > all.mean / 100)
    text += fmt::format("  load imbalance: rank {} computes {:.2f} times as long as the mean\n",
                        computing.of_most, computing.most / computing.mean);
  return text;
}

std::string calls(const Profile& profile, std::size_t columns) {
  const auto by_call = profile.all_calls();
  std::vector<std::pair<unsigned, Calls>> all(by_call.begin(), by_call.end());
  std::ranges::sort(all, [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  double whole = 0;
  for (const Rank& rank : profile.ranks) whole += rank.seconds * rank.mean_threads;
  const Lines lines(columns, {{26}, {9}, {11}, {9}, {11, 4}, {11, 2}, {11, 1}, {11, 3}});
  std::string text =
      "\n" + lines.line({"calls, of all ranks", "calls", "time", "", "waiting", "no core", "each", "bytes"});
  for (std::size_t i = 0; i < std::min(all.size(), kMostCalls); ++i) {
    const auto& [call, numbers] = all[i];
    text += lines.line({std::string(name_of_call(call)), human_count(static_cast<double>(numbers.calls)),
                        human_seconds(numbers.seconds), percent(numbers.seconds, whole),
                        human_seconds(numbers.waiting), human_seconds(numbers.no_core),
                        human_seconds(numbers.seconds / static_cast<double>(numbers.calls)),
                        human_bytes(static_cast<double>(numbers.bytes))});
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

std::string as_table(const Profile& profile, std::size_t columns) {
  std::string text =
      fmt::format("profile of {}: {} rank{} on {} host{}, {}\n", profile.program, profile.ranks.size(),
                  profile.ranks.size() == 1 ? "" : "s", profile.hosts.size(),
                  profile.hosts.size() == 1 ? "" : "s", human_seconds(profile.seconds));
  for (const std::string& note : profile.notes) text += "  note: " + note + "\n";
  if (std::ranges::none_of(profile.ranks, [](const Rank& rank) { return rank.is_known; }))
    return text + "  no rank has called MPI_Init\n";
  text += times(profile, columns) + calls(profile, columns) + messages(profile) + waits(profile) +
          unfinished(profile);
  return tools::fit(text, columns);
}

}  // namespace clump::tools::profile
