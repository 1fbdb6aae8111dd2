// Info objects (MPI-5.0 chapter 10): an ordered list of (key, value).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi.h"

namespace clump::core {

/// A list of (key, value). The caller checks the lengths. Used by threads of one rank under MPI's rules: no
/// change while another thread uses it.
class Info {
 public:
  void set(std::string_view key, std::string_view value);
  /// Sets every entry of `other`; entries with other keys stay as they are.
  void set_all(const Info& other);
  /// The value of a key; null if there is no such key. Valid until the next change.
  const std::string* get(std::string_view key) const;
  /// Removes a key; whether there was such a key.
  bool erase(std::string_view key);
  const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }

  MPI_Info handle = MPI_INFO_NULL;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace clump::core
