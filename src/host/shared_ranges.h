// Which memory of this process other processes may have. Not for other layers.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace clump::host {

/// Answers for one moment: it reads /proc/self/maps when it is asked first, and not again. One thread.
class SharedRanges {
 public:
  /// `path`: a file like /proc/self/maps.
  explicit SharedRanges(const char* path = "/proc/self/maps") : path_(path) {}

  /// Whether there is shared memory at the address. True as well where nothing is mapped, or the file cannot
  /// be read.
  bool has(std::uint64_t address);

 private:
  void read();
  void add(std::string_view line);

  const char* path_;
  bool is_read_ = false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> private_;  // begin and end, in the order of addresses
};

}  // namespace clump::host
