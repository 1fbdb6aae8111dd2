#include "abi_library.h"

#include <dlfcn.h>
#include <limits.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "family.h"

namespace clump::facade::abi {

namespace {

constexpr const char* kNames[] = {
#include "abi_names.inc"
};
constexpr int kFunctions = sizeof kNames / sizeof kNames[0];

bool is_own(const void* address) {
  Dl_info found{};
  Dl_info own{};
  return ::dladdr(address, &found) != 0 && ::dladdr(kNames, &own) != 0 && found.dli_fbase == own.dli_fbase;
}

/// In a program that nothing has started with the MPI library, as a child of a rank: it is beside this one.
void* in_own_installation(const char* name) {
  Dl_info own{};
  if (::dladdr(kNames, &own) == 0) return nullptr;
  const char* const name_of_own = std::strrchr(own.dli_fname, '/');
  char path[PATH_MAX];
  if (name_of_own == nullptr) return nullptr;
  std::snprintf(path, sizeof path, "%.*s/../../libmpi_abi.so.1",
                static_cast<int>(name_of_own - own.dli_fname), own.dli_fname);
  void* const library = ::dlopen(path, RTLD_NOW);
  return library != nullptr ? ::dlsym(library, name) : nullptr;
}

}  // namespace

void* functions[kFunctions] = {};

void* resolve(int number) {
  // Usually this library stands before the other one in ld.so's order. If a library was opened that needs
  // this one, the other one was there before, and is the first that defines the name.
  void* found = ::dlsym(RTLD_NEXT, kNames[number]);
  if (found == nullptr) {
    found = ::dlsym(RTLD_DEFAULT, kNames[number]);
    if (found != nullptr && is_own(found)) found = nullptr;
  }
  if (found == nullptr) found = in_own_installation(kNames[number]);
  if (found == nullptr) {
    std::fprintf(stderr,
                 "%s: no MPI library with the standard ABI is loaded that has %s; start the program with "
                 "Clump's mpiexec\n",
                 kLibrary, kNames[number]);
    std::abort();
  }
  __atomic_store_n(&functions[number], found, __ATOMIC_RELAXED);
  return found;
}

SpawnCodes* spawn_codes() {
  using Find = SpawnCodes* (*)();
  const auto find = reinterpret_cast<Find>(::dlsym(RTLD_DEFAULT, "clump_spawn_codes"));
  return find != nullptr ? find() : nullptr;
}

}  // namespace clump::facade::abi
