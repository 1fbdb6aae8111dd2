// One rank's copy of one private object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace clump::image {

class Image;
struct Object;

/// How far a copy has come. Only the threads of its rank change it, under the image's lock.
enum class Stage : std::uint8_t {
  kMapped,       ///< data in place, nothing of it has run
  kConstructed,  ///< its constructors have run, or are running
  kDestructed,   ///< its destructors have run, or are running
};

struct Instance {
  Instance(Object& object, Image& image) : object(object), image(image) {}

  Object& object;
  Image& image;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;     ///< of the reservation; 0 where the rank runs on the original
  std::ptrdiff_t delta = 0;  ///< address in the copy minus address in the original
  Stage stage = Stage::kMapped;
  bool needs_tls = false;  ///< its thread-local data holds addresses
  bool pinned = false;     ///< never unmapped: part of the program, or thread-local destructors wait in it
  int opened = 0;          ///< dlopen()s that hold it, directly or through what needs it

  std::uintptr_t here(std::uintptr_t original) const { return original + static_cast<std::uintptr_t>(delta); }
};

/// Finds room for the copy. Its address is then known, so that others can be made to point to it.
base::Status reserve(Instance& instance);
/// Maps the code and copies the data, addresses still as in the original.
base::Status fill(Instance& instance);
/// Turns the addresses in the data into the rank's own. Every object that they point into has its instance.
void relocate(Instance& instance);
/// Does the same for the calling thread's thread-local variables. Once for each thread.
void relocate_thread(const Instance& instance);
/// Gives the calling thread's thread-local variables of a plugin their initial values: the rank may have had
/// it open before.
void reset_thread(const Instance& instance);

void run_constructors(Instance& instance, int argc, char** argv, char** envp);
void run_destructors(Instance& instance);

}  // namespace clump::image
