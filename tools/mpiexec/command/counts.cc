#include "command/counts.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace clump::mpiexec {

namespace {

/// One of the list: `first`, and then every `step` as far as `last`.
struct Range {
  int first = 0, last = 0, step = 1;
};

bool parse_range(const std::string& text, Range& range) {
  std::array<int, 3> numbers{0, 0, 1};
  std::size_t count = 0;
  for (const char *at = text.data(), *end = at + text.size();; ++at) {
    if (count == numbers.size()) return false;
    const auto [stop, error] = std::from_chars(at, end, numbers[count++]);
    if (error != std::errc() || (stop != end && *stop != ':')) return false;
    if ((at = stop) == end) break;
  }
  range = {numbers[0], count > 1 ? numbers[1] : numbers[0], numbers[2]};
  return range.step != 0;
}

/// The largest number of the range from 1 to `most`; 0 if there is none.
int largest(const Range& range, int most) {
  const std::int64_t first = range.first, last = range.last, step = range.step;  // no sum of them overflows
  const bool rises = step > 0;
  if (rises ? last < first : last > first) return 0;
  if (rises) {
    if (first > most) return 0;
    const std::int64_t found = first + (std::min<std::int64_t>(last, most) - first) / step * step;
    return static_cast<int>(std::max<std::int64_t>(found, 0));
  }
  if (first <= most) return static_cast<int>(std::max<std::int64_t>(first, 0));
  const std::int64_t found = first + (first - most - step - 1) / -step * step;
  return found >= std::max<std::int64_t>(last, 1) ? static_cast<int>(found) : 0;
}

/// As uname() and as compilers and batch systems call it.
std::string usual_name(std::string name) {
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return c == '-' ? '_' : std::tolower(c); });
  if (name == "amd64" || name == "x64" || name == "em64t") return "x86_64";
  if (name == "arm64") return "aarch64";
  return name;
}

}  // namespace

base::Status choose_soft(const std::string& option, const std::string& list, int& ranks) {
  int found = 0;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(',', from), list.size());
    Range range;
    if (!parse_range(list.substr(from, to - from), range))
      return base::fail(
          MPI_ERR_ARG,
          "{} {}: '{}' is no number of ranks: write numbers, a:b or a:b:step, with commas between", option,
          list, list.substr(from, to - from));
    found = std::max(found, largest(range, ranks));
    from = to + 1;
  }
  if (found == 0)
    return base::fail(MPI_ERR_ARG, "{} {}: none of these is from 1 to {}, the number of ranks (-n)", option,
                      list, ranks);
  ranks = found;
  return {};
}

base::Status check_architecture(const std::string& option, const std::string& wanted) {
  utsname machine{};
  ::uname(&machine);  // cannot fail
  if (usual_name(wanted) == usual_name(machine.machine)) return {};
  return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                    "{} {}: this host is {}, and all hosts of a job are of one kind", option, wanted,
                    machine.machine);
}

}  // namespace clump::mpiexec
