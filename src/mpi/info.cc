// Info objects (MPI-5.0 chapter 10). All of this may be called before MPI_Init and after MPI_Finalize, by any
// thread.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/rank.h"
#include "mpi/bodies.h"

namespace clump::mpi {

namespace {

using core::Info;

base::Status check_key(const char* key) {
  const std::size_t length = strnlen(key, MPI_MAX_INFO_KEY);
  if (length == 0) return base::fail(MPI_ERR_INFO_KEY, "key is empty");
  if (length >= MPI_MAX_INFO_KEY)
    return base::fail(MPI_ERR_INFO_KEY, "key is longer than MPI_MAX_INFO_KEY - 1 = {} characters",
                      MPI_MAX_INFO_KEY - 1);
  return {};
}

base::Status check_value(const char* value) {
  if (strnlen(value, MPI_MAX_INFO_VAL) >= MPI_MAX_INFO_VAL)
    return base::fail(MPI_ERR_INFO_VALUE, "value is longer than MPI_MAX_INFO_VAL - 1 = {} characters",
                      MPI_MAX_INFO_VAL - 1);
  return {};
}

base::Status check_own(const Info& info) {
  return info.handle == MPI_INFO_ENV
             ? base::fail(MPI_ERR_INFO, "info is MPI_INFO_ENV, which cannot be changed or freed")
             : base::Status();
}

/// At most `room` characters and a zero.
void put(std::string_view text, char* place, std::size_t room) {
  const std::size_t length = std::min(text.size(), room);
  std::memcpy(place, text.data(), length);
  place[length] = '\0';
}

}  // namespace

base::Status info_create(core::Rank& self, MPI_Info* info) {
  *info = self.add(std::make_unique<Info>());
  return {};
}

base::Status info_create_env(core::Rank& self, int, char*[], MPI_Info* info) {
  // What mpiexec knows is better than argc and argv, which the program may have changed (MPI-5.0
  // section 10.2.1 allows either).
  return info_dup(self, *self.info(MPI_INFO_ENV), info);
}

base::Status info_dup(core::Rank& self, Info& info, MPI_Info* newinfo) {
  auto copy = std::make_unique<Info>();
  copy->set_all(info);
  *newinfo = self.add(std::move(copy));
  return {};
}

base::Status info_free(core::Rank& self, MPI_Info* info) {
  const Info* const object = self.info(*info);
  if (object == nullptr)
    return base::fail(MPI_ERR_INFO, "info is null, was freed, or never was an info object");
  CLUMP_TRY(check_own(*object));
  self.remove(*info);
  *info = MPI_INFO_NULL;
  return {};
}

base::Status info_set(core::Rank&, Info& info, const char* key, const char* value) {
  CLUMP_TRY(check_own(info));
  CLUMP_TRY(check_key(key));
  CLUMP_TRY(check_value(value));
  info.set(key, value);
  return {};
}

base::Status info_delete(core::Rank&, Info& info, const char* key) {
  CLUMP_TRY(check_own(info));
  CLUMP_TRY(check_key(key));
  if (!info.erase(key)) return base::fail(MPI_ERR_INFO_NOKEY, "info has no key \"{}\"", key);
  return {};
}

base::Status info_get_string(core::Rank&, Info& info, const char* key, int* buflen, char* value, int* flag) {
  CLUMP_TRY(check_key(key));
  if (*buflen < 0) return base::fail(MPI_ERR_ARG, "buflen is {}", *buflen);
  const auto found = info.get(key);
  *flag = found ? 1 : 0;
  if (!found) return {};
  if (*buflen > 0 && value == nullptr)
    return base::fail(MPI_ERR_ARG, "(value = NULL): room for {} characters is needed here", *buflen);
  if (*buflen > 0) put(*found, value, static_cast<std::size_t>(*buflen) - 1);
  *buflen = static_cast<int>(found->size()) + 1;
  return {};
}

base::Status info_get(core::Rank&, Info& info, const char* key, int valuelen, char* value, int* flag) {
  CLUMP_TRY(check_key(key));
  if (valuelen < 0) return base::fail(MPI_ERR_ARG, "valuelen is {}", valuelen);
  const auto found = info.get(key);
  *flag = found ? 1 : 0;
  if (found) put(*found, value, static_cast<std::size_t>(valuelen));
  return {};
}

base::Status info_get_valuelen(core::Rank&, Info& info, const char* key, int* valuelen, int* flag) {
  CLUMP_TRY(check_key(key));
  const auto found = info.get(key);
  *flag = found ? 1 : 0;
  if (found) *valuelen = static_cast<int>(found->size());
  return {};
}

base::Status info_get_nkeys(core::Rank&, Info& info, int* nkeys) {
  *nkeys = static_cast<int>(info.size());
  return {};
}

base::Status info_get_nthkey(core::Rank&, Info& info, int n, char* key) {
  const core::Info::Entries entries = info.entries();
  if (n < 0 || n >= static_cast<int>(entries.size()))
    return base::fail(MPI_ERR_ARG, "n is {}, but info has {} keys", n, entries.size());
  put(entries[n].first, key, MPI_MAX_INFO_KEY - 1);
  return {};
}

}  // namespace clump::mpi
