#include "image/sentinels.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "image/facade.h"
#include "image/fork_locks.h"
#include "image/own_calls.h"
#include "image/rank_image.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

constexpr const char* kTableName = "mpi_clump_sentinels_";
constexpr const char* kOthersName = "mpi_clump_other_sentinels_";
constexpr int kMostOthers = 2048;

// As in bindings/fortran/sentinel_table.h.
struct Sentinel {
  const char* name;  ///< null: behind the last one
  void* begin;
  unsigned long bytes;
};
struct OtherSentinel {
  void* begin;
  void* ours;
  unsigned long bytes;
};
struct OtherSentinels {
  int count;
  OtherSentinel all[kMostOthers];
};

void* variable_of_library(const link_map& library, const char* name) {
  if (library.l_ld == nullptr) return nullptr;
  const Dynamic dynamic(library);
  const ElfW(Sym)* const symbol = dynamic.find(name);
  return symbol != nullptr ? address_of(dynamic, *symbol) : nullptr;
}

bool has_table(const link_map& library) { return variable_of_library(library, kTableName) != nullptr; }

/// The library for Fortran that the object uses; null: none, or it is one itself.
const link_map* fortran_of(const link_map& object) {
  const link_map* first = first_loaded();
  while (first != nullptr && !has_table(*first)) first = first->l_next;
  if (first == nullptr || object.l_ld == nullptr || has_table(object)) return nullptr;
  const link_map* const needed = first_needed(object, has_table);
  return needed != nullptr ? needed : first;
}

const void* definition_in(const void* table, std::uintptr_t bound, const char* name) {
  for (const auto* one = static_cast<const Sentinel*>(table); one->name != nullptr; ++one) {
    if (std::strcmp(name, one->name) != 0) continue;
    return bound - reinterpret_cast<std::uintptr_t>(one->begin) < one->bytes ? nullptr : one->begin;
  }
  return nullptr;
}

bool is_bound_by_linker(const link_map& object) {
  if (object.l_ld == nullptr) return false;
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMBOLIC) return true;
    if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_SYMBOLIC) != 0) return true;
  }
  return false;
}

/// What lies at the address of an original, in the rank's copy.
template <typename T>
T* in_copy(const Image& image, T* original) {
  return reinterpret_cast<T*>(image.translate(reinterpret_cast<std::uintptr_t>(original)));
}

void add(OtherSentinels& others, const OtherSentinel& added) {
  const int count = others.count;
  if (count == kMostOthers) {
    static constexpr std::string_view kText =
        "clump: too many libraries that use MPI from Fortran are linked with -Bsymbolic: link them without "
        "it\n";
    (void)!syscall(SYS_write, STDERR_FILENO, kText.data(), kText.size());
    std::abort();
  }
  others.all[count] = added;
  __atomic_store_n(&others.count, count + 1,
                   __ATOMIC_RELEASE);  // release: pairs with the acquire in own_sentinel()
}

}  // namespace

bool is_sentinel(const char* name) {
  static constexpr std::string_view kBegins[] = {"mpi_fortran_", "mpipriv", "mpifcmb", "MPIR_F08_MPI_",
                                                 "__mpi_f08_link_constants_MOD_mpi_"};
  return std::ranges::any_of(
      kBegins, [&](std::string_view begin) { return std::string_view(name).starts_with(begin); });
}

void bind_sentinels(const link_map& object) {
  if (const link_map* const library = fortran_of(object))
    bind_anew(object, definition_in, variable_of_library(*library, kTableName));
}

bool add_own_sentinels(const link_map& object, Image& image) {
  const link_map* const library = is_bound_by_linker(object) ? fortran_of(object) : nullptr;
  void* const others = library != nullptr ? variable_of_library(*library, kOthersName) : nullptr;
  if (others == nullptr) return false;
  static constinit ForkMutex one_at_a_time;  // threads of a rank, too, open libraries
  const std::scoped_lock lock(one_at_a_time);
  bool has_some = false;
  for (auto* one = static_cast<const Sentinel*>(variable_of_library(*library, kTableName));
       one->name != nullptr; ++one) {
    void* const own = variable_of_library(object, one->name);
    if (own == nullptr || own == one->begin) continue;
    has_some = true;
    add(*in_copy(image, static_cast<OtherSentinels*>(others)),
        {in_copy(image, own), in_copy(image, one)->begin, one->bytes});
  }
  return has_some;
}

void add_linked_sentinels() {
  for (const link_map* map = first_loaded(); map != nullptr; map = map->l_next)
    add_own_sentinels(*map, image_of(nullptr));
}

}  // namespace clump::image
