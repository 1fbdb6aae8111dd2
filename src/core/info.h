// Info objects (MPI-5.0 chapter 10): an ordered list of (key, value).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi.h"

namespace clump::core {

class Info {
 public:
  void set(std::string_view key, std::string_view value);
  const std::string* get(std::string_view key) const;
  bool erase(std::string_view key);
  const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }

  MPI_Info handle = MPI_INFO_NULL;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace clump::core
