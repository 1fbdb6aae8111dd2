#include "core/info.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace clump::core {

namespace {

// Info objects are used so rarely that all share one lock.
std::mutex& entries_mutex() {
  static std::mutex mutex;
  return mutex;
}

void set_in(Info::Entries& entries, std::string_view key, std::string_view value) {
  const auto found = std::ranges::find(entries, key, &Info::Entries::value_type::first);
  if (found != entries.end())
    found->second = value;
  else
    entries.emplace_back(key, value);
}

}  // namespace

Info& Info::operator=(const Info& other) {
  Entries all = other.entries();
  const std::lock_guard lock(entries_mutex());
  handle = other.handle;
  entries_ = std::move(all);
  return *this;
}

void Info::set(std::string_view key, std::string_view value) {
  const std::lock_guard lock(entries_mutex());
  set_in(entries_, key, value);
}

void Info::set_all(const Info& other) {
  const Entries all = other.entries();
  const std::lock_guard lock(entries_mutex());
  for (const auto& [key, value] : all) set_in(entries_, key, value);
}

std::optional<std::string> Info::get(std::string_view key) const {
  const std::lock_guard lock(entries_mutex());
  for (const auto& [name, value] : entries_)
    if (name == key) return value;
  return {};
}

bool Info::erase(std::string_view key) {
  const std::lock_guard lock(entries_mutex());
  return std::erase_if(entries_, [&](const auto& entry) { return entry.first == key; }) != 0;
}

std::size_t Info::size() const {
  const std::lock_guard lock(entries_mutex());
  return entries_.size();
}

Info::Entries Info::entries() const {
  const std::lock_guard lock(entries_mutex());
  return entries_;
}

}  // namespace clump::core
