#include "image/lifetime.h"

#include <link.h>
#include <sys/mman.h>

#include <cerrno>
#include <span>

#include "base/why_refused.h"
#include "image/image.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "image/variables.h"
#include "inspect/mpi_library.h"

namespace clump::image {
namespace {

using Constructor = void (*)(int, char**, char**);
using Destructor = void (*)();

constexpr std::uintptr_t kPage = 4096;

/// What ld.so calls in the place of an original's DT_INIT and DT_FINI.
void do_nothing() {}

/// ld.so has noted where the entries are, so they stay, and have nothing to run.
void empty(std::span<ElfW(Dyn)> entries, std::uintptr_t base) {
  for (ElfW(Dyn) & entry : entries) {
    switch (entry.d_tag) {
      case DT_INIT:
      case DT_FINI:
        entry.d_un.d_ptr = reinterpret_cast<std::uintptr_t>(&do_nothing) - base;
        break;
      case DT_INIT_ARRAYSZ:
      case DT_FINI_ARRAYSZ:
      case DT_PREINIT_ARRAYSZ:
        entry.d_un.d_val = 0;
        break;
      default:
        break;
    }
  }
}

/// The distance of the rank's copy from the original; 0 where the rank has the original.
std::uintptr_t distance(const Image& image, const Object& object) {
  const Instance* const copy = image.instance(object);
  return copy != nullptr ? static_cast<std::uintptr_t>(copy->delta) : 0;
}

/// The function that an array of the original has at a place, in the copy: the array is part of the data.
/// Null: none.
template <typename Function>
Function function_at(const std::uintptr_t& entry, std::uintptr_t distance) {
  const std::uintptr_t found =
      *reinterpret_cast<const std::uintptr_t*>(reinterpret_cast<std::uintptr_t>(&entry) + distance);
  return found != ~std::uintptr_t{0} ? reinterpret_cast<Function>(found) : nullptr;
}

void run_all(std::span<const std::uintptr_t> functions, const Image& image, std::uintptr_t distance) {
  char** const environment = environment_of(*image.identity());
  for (const std::uintptr_t& entry : functions) {
    if (const auto function = function_at<Constructor>(entry, distance))
      function(image.argc, image.argv, environment);
  }
}

}  // namespace

base::Status take_from_ld_so(const Object& original) {
  const ElfW(Phdr)* const section = original.segment(PT_DYNAMIC);
  const ElfW(Phdr)* const read_only = original.segment(PT_GNU_RELRO);
  const std::uintptr_t base = original.dynamic.base;
  const std::uintptr_t begin = (base + section->p_vaddr) & ~(kPage - 1);
  const std::uintptr_t end = (base + section->p_vaddr + section->p_memsz + kPage - 1) & ~(kPage - 1);
  if (mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) != 0)
    return base::fail(MPI_ERR_SPAWN, "the dynamic section of {} cannot be written: {}", original.path,
                      base::why_refused("mprotect", errno));
  empty({reinterpret_cast<ElfW(Dyn)*>(base + section->p_vaddr), section->p_memsz / sizeof(ElfW(Dyn))}, base);
  if (read_only == nullptr) return {};
  // As ld.so has left it: a page that has other data as well can be written.
  const std::uintptr_t from = (base + read_only->p_vaddr) & ~(kPage - 1);
  const std::uintptr_t to = (base + read_only->p_vaddr + read_only->p_memsz) & ~(kPage - 1);
  mprotect(reinterpret_cast<void*>(from), to - from, PROT_READ);
  return {};
}

void construct_mpi(int argc, char** argv, char** environment) {
  if (has_begun()) return;
  // The program's preinit functions may call MPI, too.
  *static_cast<char***>(original_variable(kEnvironment)) = environment;
  for (const link_map* map = first_loaded(); map != nullptr; map = map->l_next) {
    if (mpi_kind_of(map->l_name) != MpiKind::kStandardAbi) continue;
    const Object library(*map, map->l_name);
    if (!take_from_ld_so(library).ok()) return;
    for (const std::uintptr_t function : library.dynamic.init_array)
      reinterpret_cast<Constructor>(function)(argc, argv, environment);
    return;
  }
}

void run_preinit(const Image& image) {
  const Object& main = *image.program->main;
  run_all(main.dynamic.preinit_array, image, distance(image, main));
}

void construct(Image& image, const Object& object) {
  if (Instance* const copy = image.instance(object)) {
    if (copy->stage != Stage::kMapped) return;
    copy->stage = Stage::kConstructed;
  }
  image.constructed.push_back(&object);
  const std::uintptr_t there = distance(image, object);
  if (const std::uintptr_t init = object.dynamic.init; init != 0)
    reinterpret_cast<Constructor>(init + there)(image.argc, image.argv, environment_of(*image.identity()));
  run_all(object.dynamic.init_array, image, there);
}

void destruct(const Image& image, const Object& object) {
  if (Instance* const copy = image.instance(object)) copy->stage = Stage::kDestructed;
  const std::uintptr_t there = distance(image, object);
  const auto functions = object.dynamic.fini_array;
  for (auto entry = functions.rbegin(); entry != functions.rend(); ++entry) {
    if (const auto function = function_at<Destructor>(*entry, there)) function();
  }
  if (const std::uintptr_t fini = object.dynamic.fini; fini != 0)
    reinterpret_cast<Destructor>(fini + there)();
}

}  // namespace clump::image
