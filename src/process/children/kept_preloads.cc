#include "process/children/kept_preloads.h"

#include <cstring>
#include <utility>

namespace clump::image {
namespace {

constexpr std::string_view kPreload = "LD_PRELOAD=";

const KeptPreloads* kept = nullptr;

bool starts_with(const char* entry, std::string_view name) {
  return std::strncmp(entry, name.data(), name.size()) == 0;
}

/// The libraries of LD_PRELOAD; empty if there is none.
std::string_view preloads_of(char* const* environment) {
  for (; *environment != nullptr; ++environment)
    if (starts_with(*environment, kPreload)) return *environment + kPreload.size();
  return {};
}

bool has_library(std::string_view list, std::string_view library) {
  while (!list.empty()) {
    const std::size_t end = list.find_first_of(": ");
    if (list.substr(0, end) == library) return true;
    if (end == std::string_view::npos) break;
    list.remove_prefix(end + 1);
  }
  return false;
}

std::size_t count(char* const* environment) {
  std::size_t number = 0;
  while (environment[number] != nullptr) ++number;
  return number;
}

bool is_for_rank(char* const* environment) {
  for (; *environment != nullptr; ++environment)
    if (starts_with(*environment, kept->variable)) return true;
  return false;
}

}  // namespace

void keep_preloads(KeptPreloads what) { kept = new KeptPreloads(std::move(what)); }

std::size_t room_for_rank(char* const* environment) noexcept {
  if (kept == nullptr || environment == nullptr || !is_for_rank(environment)) return 0;
  const std::string_view asked = preloads_of(environment);
  if (has_library(asked, kept->library)) return 0;
  const std::size_t text = kPreload.size() + kept->front.size() + asked.size() + 1 + kept->back.size() + 1;
  return (count(environment) + 2) * sizeof(char*) + text;
}

char* const* environment_for_rank(char* const* environment, void* room) noexcept {
  auto** const entries = static_cast<char**>(room);
  const std::string_view asked = preloads_of(environment);
  char* const text = reinterpret_cast<char*>(entries + count(environment) + 2);
  char* end = text;
  for (const std::string_view part :
       {kPreload, std::string_view(kept->front), asked, std::string_view(asked.empty() ? "" : ":"),
        std::string_view(kept->back)})
    end = static_cast<char*>(std::memcpy(end, part.data(), part.size())) + part.size();
  *end = '\0';
  char** next = entries;
  for (; *environment != nullptr; ++environment)
    if (!starts_with(*environment, kPreload)) *next++ = *environment;
  *next++ = text;
  *next = nullptr;
  return entries;
}

}  // namespace clump::image
