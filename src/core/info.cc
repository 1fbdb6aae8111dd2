#include "core/info.h"

#include <algorithm>

namespace clump::core {

void Info::set(std::string_view key, std::string_view value) {
  const auto has_key = [&](const auto& entry) { return entry.first == key; };
  const auto found = std::find_if(entries_.begin(), entries_.end(), has_key);
  if (found != entries_.end())
    found->second = value;
  else
    entries_.emplace_back(key, value);
}

void Info::set_all(const Info& other) {
  for (const auto& [key, value] : other.entries_) set(key, value);
}

const std::string* Info::get(std::string_view key) const {
  for (const auto& [name, value] : entries_)
    if (name == key) return &value;
  return nullptr;
}

bool Info::erase(std::string_view key) {
  return std::erase_if(entries_, [&](const auto& entry) { return entry.first == key; }) != 0;
}

}  // namespace clump::core
