#include "host/shared_ranges.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace clump::host {

/// `line`: "begin-end rwxp ...".
void SharedRanges::add(std::string_view line) {
  std::uint64_t begin = 0, end = 0;
  const char* const last = line.data() + line.size();
  const auto [dash, failed] = std::from_chars(line.data(), last, begin, 16);
  if (failed != std::errc() || dash == last) return;
  const auto [space, failed_too] = std::from_chars(dash + 1, last, end, 16);
  if (failed_too != std::errc() || last - space < 5 || space[4] != 'p') return;
  // Neighbours are one range.
  if (!private_.empty() && private_.back().second == begin)
    private_.back().second = end;
  else
    private_.emplace_back(begin, end);
}

void SharedRanges::read() {
  is_read_ = true;
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen(path_, "re"), &std::fclose);
  if (!maps) return;
  char* line = nullptr;
  std::size_t room = 0;
  for (long length = 0; (length = ::getline(&line, &room, maps.get())) > 0;)
    add({line, static_cast<std::size_t>(length)});
  std::free(line);
}

bool SharedRanges::has(std::uint64_t address) {
  if (!is_read_) read();
  const auto behind =
      std::ranges::upper_bound(private_, address, {}, [](const auto& one) { return one.first; });
  return behind == private_.begin() || address >= std::prev(behind)->second;
}

}  // namespace clump::host
