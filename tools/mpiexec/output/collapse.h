// --collapse: a line that many ranks write is shown once, with their numbers: "[0-15] text". A line waits a
// tenth of a second for others to write it too; the lines of each rank stay in their order.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clump::mpiexec {

/// Of one stream. Kept apart from clocks and descriptors, for tests.
class Collapser {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kWindow{100};

  /// `ranks`: of the job. A line that all have written is shown at once.
  explicit Collapser(int ranks) : next_of_(static_cast<std::size_t>(ranks)) {}

  /// Whole lines. A line without a mark (pmi/job.h) is of no rank, and shown as it is.
  void add(std::string_view lines, Clock::time_point now);
  /// What is to be shown by now.
  std::string take(Clock::time_point now);
  /// All of it.
  std::string take_all() { return take(Clock::time_point::max()); }
  /// When there will be something to show, if nothing comes before.
  std::optional<Clock::time_point> next() const;

 private:
  struct Group {
    std::string text;
    std::vector<int> ranks;  // none: of no rank
    Clock::time_point shown_at;
  };
  void add_line(std::string_view line, Clock::time_point now);
  Group& group_for(int rank, const std::string& text, Clock::time_point now);
  bool is_due(const Group& group, Clock::time_point now) const;

  std::deque<Group> groups_;            // in the order in which they are shown
  std::uint64_t first_ = 0;             // the number of the first of them; they are numbered through
  std::size_t bytes_ = 0;               // of their texts
  std::vector<std::uint64_t> next_of_;  // by rank: its next line belongs into no group before this one
  std::map<std::string, std::deque<std::uint64_t>> numbers_of_;  // by text
};

/// mpiexec's stdout and stderr.
class CollapsedScreen {
 public:
  explicit CollapsedScreen(int ranks) : of_{Collapser(ranks), Collapser(ranks)} {}

  /// `descriptor` is 1 or 2.
  void add(int descriptor, std::string_view lines);
  void show();
  void show_all();
  std::optional<Collapser::Clock::time_point> next() const;

 private:
  Collapser of_[2];
};

}  // namespace clump::mpiexec
