#include "output/collapse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "output/output_buffer.h"
#include "plan/rank_list.h"
#include "pmi/job.h"

namespace clump::mpiexec {

namespace {

/// No more is kept back, however many different lines there are.
constexpr std::size_t kMostBytes = 4 << 20;

/// Takes the mark away from a line; -1: it has none.
int take_rank(std::string_view& line, std::size_t ranks) {
  if (!line.starts_with(pmi::kLineMark)) return -1;
  std::size_t rank = 0;
  const char* const end = line.data() + line.size();
  const auto [after, error] = std::from_chars(line.data() + 1, end, rank);
  if (error != std::errc() || after == end || *after != pmi::kLineMark || rank >= ranks) return -1;
  line.remove_prefix(static_cast<std::size_t>(after + 1 - line.data()));
  return static_cast<int>(rank);
}

}  // namespace

void Collapser::add(std::string_view lines, Clock::time_point now) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    add_line(lines.substr(0, end), now);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

void Collapser::add_line(std::string_view line, Clock::time_point now) {
  const int rank = take_rank(line, next_of_.size());
  if (rank >= 0) {
    group_for(rank, std::string(line), now).ranks.push_back(rank);
  } else {
    groups_.push_back({std::string(line), {}, now});
    bytes_ += line.size();
  }
}

/// The first one with this text behind the rank's line before; so the lines of each rank stay in order.
Collapser::Group& Collapser::group_for(int rank, const std::string& text, Clock::time_point now) {
  std::uint64_t& next = next_of_[static_cast<std::size_t>(rank)];
  std::deque<std::uint64_t>& numbers = numbers_of_[text];
  auto found = std::ranges::lower_bound(numbers, next);
  if (found == numbers.end()) {
    found = numbers.insert(found, first_ + groups_.size());
    groups_.push_back({text, {}, now + kWindow});
    bytes_ += text.size();
  }
  next = *found + 1;
  return groups_[*found - first_];
}

bool Collapser::is_due(const Group& group, Clock::time_point now) const {
  return group.shown_at <= now || group.ranks.size() == next_of_.size() || bytes_ > kMostBytes;
}

std::string Collapser::take(Clock::time_point now) {
  std::string shown;
  for (; !groups_.empty() && is_due(groups_.front(), now); ++first_, groups_.pop_front()) {
    Group& group = groups_.front();
    bytes_ -= group.text.size();
    if (!group.ranks.empty()) {
      std::ranges::sort(group.ranks);
      shown += fmt::format("[{}] ", rank_list(group.ranks));
      const auto same = numbers_of_.find(group.text);
      same->second.pop_front();
      if (same->second.empty()) numbers_of_.erase(same);
    }
    shown.append(group.text).push_back('\n');
  }
  return shown;
}

std::optional<Collapser::Clock::time_point> Collapser::next() const {
  if (groups_.empty()) return {};
  return groups_.front().shown_at;
}

void CollapsedScreen::add(int descriptor, std::string_view lines) {
  of_[descriptor - 1].add(lines, Collapser::Clock::now());
  show();
}

void CollapsedScreen::show() {
  for (const int descriptor : {1, 2})
    output_buffer(descriptor).put(of_[descriptor - 1].take(Collapser::Clock::now()));
}

void CollapsedScreen::show_all() {
  for (const int descriptor : {1, 2}) output_buffer(descriptor).put(of_[descriptor - 1].take_all());
}

std::optional<Collapser::Clock::time_point> CollapsedScreen::next() const {
  const auto out = of_[0].next(), err = of_[1].next();
  return out && err ? std::min(*out, *err) : out ? out : err;
}

}  // namespace clump::mpiexec
