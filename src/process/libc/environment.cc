// The environment of each rank: getenv() and the related functions work on the rank's own `environ`. The
// native rank's is the process's.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <unistd.h>

#include "base/types.h"
#include "image/fork_locks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/own_program.h"
#include "process/libc/zone.h"
#include "process/rank_state.h"

namespace clump::image {
namespace {

using Lock = std::scoped_lock<RecursiveRankMutex>;

char**& environment_of(Image& image) { return *image.variable(&environ); }

/// The entry that sets `name`; null if there is none.
char** find(char** entries, std::string_view name) {
  for (; entries != nullptr && *entries != nullptr; ++entries) {
    if (std::strncmp(*entries, name.data(), name.size()) == 0 && (*entries)[name.size()] == '=')
      return entries;
  }
  return nullptr;
}

bool valid_name(const char* name) {
  return name != nullptr && *name != '\0' && std::strchr(name, '=') == nullptr;
}

/// Makes `environ` point to Clump's table, with the entries that it has now. A program may have set `environ`
/// to an array of its own.
std::vector<char*>& own_table(Image& image) {
  std::vector<char*>& table = image.state().environment.table;
  char**& entries = environment_of(image);
  if (table.empty() || entries != table.data()) {
    std::vector<char*> copy;
    for (char** entry = entries; entry != nullptr && *entry != nullptr; ++entry) copy.push_back(*entry);
    copy.push_back(nullptr);
    table = std::move(copy);
    entries = table.data();
  }
  return table;
}

/// Adds `entry`, "NAME=value", and takes it over. Replaced entries are not freed: the program may still hold
/// the result of a getenv().
void put(Image& image, char* entry, std::string_view name) {
  std::vector<char*>& table = own_table(image);
  if (char** old = find(table.data(), name)) {
    *old = entry;
    return;
  }
  table.back() = entry;
  table.push_back(nullptr);
  environment_of(image) = table.data();
}

void remove(Image& image, std::string_view name) {
  std::vector<char*>& table = own_table(image);
  while (char** entry = find(table.data(), name)) table.erase(table.begin() + (entry - table.data()));
  environment_of(image) = table.data();
}

}  // namespace

char** set_environment(fiber::Identity& rank, const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment) {
  std::size_t bytes = 0;
  for (const auto* const list : {&arguments, &environment})
    for (const std::string& entry : *list) bytes += entry.size() + 1;
  Image& image = image_of(&rank);
  // Behind the environment, where the kernel has it: run-time libraries step over environ to find it (Go's).
  const std::vector<ElfW(auxv_t)> auxiliary = auxiliary_vector_of(image);
  const std::size_t addresses =
      arguments.size() + environment.size() + 2 + auxiliary.size() * sizeof auxiliary[0] / sizeof(char*);
  char** const argv = new char*[addresses + (bytes + sizeof(char*) - 1) / sizeof(char*)];
  char** slot = argv;
  char* text = reinterpret_cast<char*>(argv + addresses);
  for (const auto* const list : {&arguments, &environment}) {
    for (const std::string& entry : *list) {
      *slot++ = text;
      std::memcpy(text, entry.c_str(), entry.size() + 1);
      text += entry.size() + 1;
    }
    *slot++ = nullptr;
  }
  std::memcpy(slot, auxiliary.data(), auxiliary.size() * sizeof auxiliary[0]);
  const Lock lock(image.state().environment.lock);
  environment_of(image) = argv + arguments.size() + 1;
  return argv;
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API char* getenv(const char* name) {
  static constinit Hidden<char*(const char*)> real{"getenv"};
  Image& image = current_image();
  if (image.native()) {
    if (std::strcmp(name, "TZ") != 0) return real(name);
    const WithZoneOfRank zone;
    return real(name);
  }
  const Lock lock(image.state().environment.lock);
  char** entry = find(environment_of(image), name);
  return entry != nullptr ? *entry + std::strlen(name) + 1 : nullptr;
}

CLUMP_HOST_API char* secure_getenv(const char* name) {
  static constinit Hidden<char*(const char*)> real{"secure_getenv"};
  return captured() ? getenv(name) : real(name);
}

CLUMP_HOST_API int setenv(const char* name, const char* value, int replace) {
  static constinit Hidden<int(const char*, const char*, int)> real{"setenv"};
  Image& image = current_image();
  if (image.native()) {
    const WithZoneOfRank zone;
    return real(name, value, replace);
  }
  if (!valid_name(name)) {
    errno = EINVAL;
    return -1;
  }
  const Lock lock(image.state().environment.lock);
  if (replace == 0 && find(environment_of(image), name) != nullptr) return 0;
  const std::string text = std::string(name) + "=" + value;
  char* entry = strdup(text.c_str());
  if (entry == nullptr) return -1;
  put(image, entry, name);
  return 0;
}

CLUMP_HOST_API int unsetenv(const char* name) {
  static constinit Hidden<int(const char*)> real{"unsetenv"};
  Image& image = current_image();
  if (image.native()) {
    const WithZoneOfRank zone;
    return real(name);
  }
  if (!valid_name(name)) {
    errno = EINVAL;
    return -1;
  }
  const Lock lock(image.state().environment.lock);
  remove(image, name);
  return 0;
}

CLUMP_HOST_API int putenv(char* entry) {
  static constinit Hidden<int(char*)> real{"putenv"};
  Image& image = current_image();
  if (image.native()) {
    const WithZoneOfRank zone;
    return real(entry);
  }
  const char* equals = std::strchr(entry, '=');
  if (equals == nullptr) return unsetenv(entry);
  const Lock lock(image.state().environment.lock);
  put(image, entry, {entry, static_cast<std::size_t>(equals - entry)});
  return 0;
}

CLUMP_HOST_API int clearenv() {
  static constinit Hidden<int()> real{"clearenv"};
  Image& image = current_image();
  if (image.native()) {
    const WithZoneOfRank zone;
    return real();
  }
  const Lock lock(image.state().environment.lock);
  environment_of(image) = nullptr;
  return 0;
}

}  // extern "C"
