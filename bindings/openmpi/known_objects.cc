// Which addresses are those of the objects that are Open MPI's handles.
#include "handles.h"

namespace clump::facade::detail {

/// All objects, as the program sees them, and null at the end (objects.c, which is generated).
extern "C" __attribute__((visibility("hidden"))) void* const clump_openmpi_all[];

const void* known_objects[kPlaces] = {};

namespace {

/// ld.so, and whoever makes a rank's copy of this library, has the addresses of that copy in
/// clump_openmpi_all before constructors run; the copy runs its own.
[[gnu::constructor]] void note_objects() {
  for (void* const* object = clump_openmpi_all; *object != nullptr; ++object) {
    std::size_t at = place_of(*object);
    while (known_objects[at] != nullptr && known_objects[at] != *object) at = (at + 1) % kPlaces;
    known_objects[at] = *object;
  }
}

}  // namespace

bool is_object_at_all(const void* address) {
  for (void* const* object = clump_openmpi_all; *object != nullptr; ++object)
    if (*object == address) return true;
  return false;
}

}  // namespace clump::facade::detail
