#include "image/doors.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "image/from_process.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/relocations.h"
#include "inspect/process_only.h"

// doors_*.S: all doors, each of kDoorBytes. A door saves all registers that may hold arguments, calls
// clump_behind_door() with its number, and jumps to the address that this returns.
extern "C" {
[[gnu::visibility("hidden")]] extern char clump_doors[];
[[gnu::visibility("hidden")]] void* clump_behind_door(std::size_t number) noexcept;
}

namespace clump::image {
namespace {

constexpr int kDoors = 320;  // as many as doors_*.S has
constexpr std::size_t kDoorBytes = 16;
constexpr std::uintptr_t kPage = 4096;

/// What is behind a door. Written before its address is in a word that a rank has, and never again: ranks
/// read it without a lock.
struct Behind {
  std::uintptr_t original = 0;
  std::string_view function, reason;  ///< of a call that is refused: lives as long as its library; else empty
};
Behind doors[kDoors];
/// Grows under the loader's lock.
int door_count = 0;
/// Behind the last door that leads to a function of an interposer; 0: there are none. Set once, by
/// make_doors().
int interposers_end = 0;

/// Whether an object makes calls of its own that a rank's tool should see: the C library and its parts, and
/// OpenMP.
bool has_doors(const Object& object) {
  if (object.is_private || object.is_program) return false;
  for (const std::string_view without : {"libclump_host.so", "libmpi_abi.so", "libasan", "libtsan",
                                         "libubsan", "liblsan", "libhwasan", "libclang_rt", "ld-linux"}) {
    if (std::string_view(object.name()).starts_with(without)) return false;
  }
  return true;
}

/// The address of the door; 0 if there are no more.
std::uintptr_t door_to(const Behind& behind) {
  int number = 0;
  while (number < door_count && doors[number].original != behind.original) ++number;
  if (number == kDoors) return 0;
  if (number == door_count) doors[door_count++] = behind;
  return reinterpret_cast<std::uintptr_t>(clump_doors) + static_cast<std::size_t>(number) * kDoorBytes;
}

/// Changes a word that ld.so may have made read-only.
void change(const Object& object, std::uintptr_t place, std::uintptr_t value) {
  const ElfW(Phdr)* const constants = object.segment(PT_GNU_RELRO);
  const bool read_only =
      constants != nullptr && place - (object.dynamic.base + constants->p_vaddr) < constants->p_memsz;
  auto* const page = reinterpret_cast<void*>(place & ~(kPage - 1));
  if (read_only && mprotect(page, kPage, PROT_READ | PROT_WRITE) != 0) return;
  std::memcpy(reinterpret_cast<void*>(place), &value, sizeof value);
  if (read_only) mprotect(page, kPage, PROT_READ);
}

}  // namespace

void make_doors() {
  const std::vector<Object*> tools = interposers();
  if (tools.empty()) return;
  const Registry& registry = Registry::get();
  for (int id = 0; id < registry.size(); ++id) {
    const Object& object = registry.at(id);
    if (!has_doors(object)) continue;
    for_each_symbolic_word(object, [&](const SymbolicWord& word) {
      std::uintptr_t bound = 0;
      std::memcpy(&bound, reinterpret_cast<const void*>(word.place), sizeof bound);
      const Object* const owner = registry.find(bound);
      if (word.addend != 0 || owner == nullptr || std::ranges::find(tools, owner) == tools.end()) return;
      const ElfW(Sym)* const symbol = owner->dynamic.find(word.name);
      if (symbol == nullptr || ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT) return;
      if (const std::uintptr_t door = door_to({bound, {}, {}})) {
        change(object, word.place, door);
        interposers_end = door_count;
      }
    });
  }
}

std::unique_ptr<void* []> behind_doors(const Image& image) {
  if (interposers_end == 0 || image.native()) return nullptr;
  auto targets = std::make_unique<void*[]>(static_cast<std::size_t>(interposers_end));
  for (int number = 0; number < interposers_end; ++number)
    targets[static_cast<std::size_t>(number)] =
        reinterpret_cast<void*>(image.translate(doors[number].original));
  return targets;
}

void refuse_calls_of(const Object& library) {
  const Registry& registry = Registry::get();
  for_each_symbolic_word(library, [&](const SymbolicWord& word) {
    const std::string_view reason = reason_for_processes(word.name);
    if (reason.empty() || word.addend != 0) return;
    std::uintptr_t bound = 0;
    std::memcpy(&bound, reinterpret_cast<const void*>(word.place), sizeof bound);
    const Object* const owner = registry.find(bound);
    // What a rank has a copy of is the rank's own affair, and what Clump stands in for looks at the
    // arguments.
    if (owner == nullptr || owner->is_private || owner->holds(reinterpret_cast<std::uintptr_t>(&doors)))
      return;
    if (const std::uintptr_t door = door_to({bound, word.name, reason})) change(library, word.place, door);
  });
}

}  // namespace clump::image

void* clump_behind_door(std::size_t number) noexcept {
  using namespace clump::image;
  const Behind& behind = doors[number];
  if (!behind.reason.empty()) {
    refuse_call_of_library(behind.function, behind.reason);
    return reinterpret_cast<void*>(behind.original);
  }
  void* const* const mine = current_image().behind_doors.get();
  return mine != nullptr ? mine[number] : reinterpret_cast<void*>(behind.original);
}
