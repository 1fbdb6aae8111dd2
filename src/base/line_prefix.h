// What stands in front of each line of a rank's output.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace clump::base {

/// A text in which %r is the rank, %h its host, %t the local time to milliseconds, and %% a percent sign.
/// Does not change after it was made: any thread may use it.
class LinePrefix {
 public:
  static constexpr std::size_t kLongest = 256;  ///< bytes of a pattern, with the name of the host
  static constexpr std::size_t kLongestLine = kLongest * 13;  ///< what write() may need: %t becomes 26 bytes

  /// What is wrong with a pattern; empty: nothing.
  static std::string complaint(std::string_view pattern);

  constexpr LinePrefix() = default;  // nothing
  /// Of ranks on `host`, whose clock is `east` seconds before UTC. What is wrong with the pattern stays as it
  /// is, and what is too long is cut.
  LinePrefix(std::string_view pattern, std::string_view host, long east);

  bool is_empty() const { return size_ == 0; }
  /// Returns the number of bytes. Of rank 3 of launch 1, %r is 1:3. Asks for no memory and takes no lock.
  std::size_t write(std::span<char, kLongestLine> to, int launch, int rank) const;

 private:
  char pattern_[kLongest] = {};  // with the host in it
  std::size_t size_ = 0;
  long east_ = 0;
};

}  // namespace clump::base
