// What the functions of the tool information interface (MPI-5.0 section 15.3) have in common. Their failures
// are plain classes without a text, because they are returned as they are and no error handler is called.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "instruments/tool.h"

namespace clump::mpi {

inline base::Status tool_failure(int code) { return base::Status::from_code(code); }

/// Writes a text as section 15.3.3 says: at most `*length` characters with the final zero, and into `*length`
/// how many there are of them. Nothing without `length`; without `buffer`, or with 0, the length alone.
void put_text(std::string_view text, char* buffer, int* length);

/// Outputs may be null: who asks does not want to know.
template <typename T>
void put(T* out, T value) {
  if (out != nullptr) *out = value;
}

/// The entry of a table; null where the index is none of it.
template <typename T>
const T* entry_at(const std::vector<T>& table, int index) {
  return index >= 0 && static_cast<std::size_t>(index) < table.size()
             ? &table[static_cast<std::size_t>(index)]
             : nullptr;
}

/// How many entries a table has.
template <typename T>
base::Status count_entries(const std::vector<T>& table, int* number) {
  if (number == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  *number = static_cast<int>(table.size());
  return {};
}

/// Where the entry is that has this name and is one of those that are `wanted`.
template <typename T, typename Wanted>
base::Status find_entry(const std::vector<T>& table, const char* name, int* index, Wanted wanted) {
  if (name == nullptr || index == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  const auto found = std::ranges::find_if(
      table, [&](const T& entry) { return entry.name == std::string_view(name) && wanted(entry); });
  if (found == table.end()) return tool_failure(MPI_T_ERR_INVALID_NAME);
  *index = static_cast<int>(found - table.begin());
  return {};
}

template <typename T>
base::Status find_entry(const std::vector<T>& table, const char* name, int* index) {
  return find_entry(table, name, index, [](const T&) { return true; });
}

/// What the user gets for an enumeration, and back; null for one that there is not.
MPI_T_enum handle_of(const instruments::Enumeration* enumeration);
const instruments::Enumeration* enumeration_of(MPI_T_enum handle);

}  // namespace clump::mpi
