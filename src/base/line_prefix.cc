#include "base/line_prefix.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace clump::base {

namespace {

constexpr std::string_view kSigns = "rht%";

/// "2026-11-29 18:04:05.678", by arithmetic alone: localtime() has locks and variables that are the
/// program's.
char* write_time(char* to, long east) {
  using namespace std::chrono;
  const auto now = floor<milliseconds>(system_clock::now()) + seconds(east);
  const auto day = floor<days>(now);
  const year_month_day date(day);
  const hh_mm_ss time(now - day);
  return fmt::format_to(to, "{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}", static_cast<int>(date.year()),
                        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                        time.hours().count(), time.minutes().count(), time.seconds().count(),
                        time.subseconds().count());
}

}  // namespace

std::string LinePrefix::complaint(std::string_view pattern) {
  if (pattern.size() > kLongest / 2)
    return fmt::format("{} bytes are too many, there may be {}", pattern.size(), kLongest / 2);
  for (std::size_t at = pattern.find('%'); at != std::string_view::npos; at = pattern.find('%', at + 2)) {
    if (at + 1 == pattern.size() || kSigns.find(pattern[at + 1]) == std::string_view::npos)
      return fmt::format("'{}' has no meaning; there are %r (the rank), %h (its host), %t (the time), %%",
                         pattern.substr(at, 2));
  }
  return {};
}

LinePrefix::LinePrefix(std::string_view pattern, std::string_view host, long east) : east_(east) {
  const auto add = [this](std::string_view text) { size_ += text.copy(pattern_ + size_, kLongest - size_); };
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const std::string_view sign = pattern.substr(at, pattern[at] == '%' ? 2 : 1);
    if (sign == "%h") {
      for (const char& letter : host)
        add(letter == '%' ? std::string_view("%%") : std::string_view(&letter, 1));
    } else {
      add(sign);
    }
    at += sign.size() - 1;
  }
}

std::size_t LinePrefix::write(std::span<char, kLongestLine> to, int launch, int rank) const {
  char* end = to.data();
  for (std::size_t at = 0; at < size_; ++at) {
    const char sign = pattern_[at] == '%' && at + 1 < size_ ? pattern_[at + 1] : '\0';
    if (sign == 'r')
      end = launch == 0 ? fmt::format_to(end, "{}", rank) : fmt::format_to(end, "{}:{}", launch, rank);
    else if (sign == 't')
      end = write_time(end, east_);
    else
      *end++ = pattern_[at];
    at += sign == 'r' || sign == 't' || sign == '%' ? 1 : 0;
  }
  return static_cast<std::size_t>(end - to.data());
}

}  // namespace clump::base
