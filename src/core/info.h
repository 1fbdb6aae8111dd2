// Info objects (MPI-5.0 chapter 10): an ordered list of (key, value).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi.h"

namespace clump::core {

/// A list of (key, value). The caller checks the lengths. Any threads of the rank at the same time, also
/// while one of them changes it: a lock in info.cc guards the list. No thread frees it meanwhile.
class Info {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  Info() = default;
  Info(const Info& other) : handle(other.handle), entries_(other.entries()) {}
  Info& operator=(const Info& other);

  void set(std::string_view key, std::string_view value);
  /// Sets every entry of `other`; entries with other keys stay as they are.
  void set_all(const Info& other);
  /// The value of a key; nothing if there is no such key.
  std::optional<std::string> get(std::string_view key) const;
  /// Removes a key; whether there was such a key.
  bool erase(std::string_view key);
  std::size_t size() const;
  /// All of them, as they are at this moment.
  Entries entries() const;

  MPI_Info handle = MPI_INFO_NULL;

 private:
  Entries entries_;
};

}  // namespace clump::core
