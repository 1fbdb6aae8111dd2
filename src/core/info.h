// Info objects (MPI-5.0 chapter 10): an ordered list of (key, value).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi.h"

namespace clump::core {

/// Limits of lengths are the caller's business. Used by threads of one rank under MPI's rules: no change
/// while another thread uses it.
class Info {
 public:
  void set(std::string_view key, std::string_view value);
  /// Every entry of `other`; what it does not name stays as it is.
  void set_all(const Info& other);
  /// Null if there is no such key. Valid until the next change.
  const std::string* get(std::string_view key) const;
  /// Whether there was such a key.
  bool erase(std::string_view key);
  const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }

  MPI_Info handle = MPI_INFO_NULL;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace clump::core
