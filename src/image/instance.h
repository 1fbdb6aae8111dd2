// One rank's copy of one private object.
#pragma once

#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/status.h"
#include "image/binding.h"

namespace clump::image {

class Image;
struct Object;

/// The state of a copy. Only the threads of its rank change it, under the image's lock.
enum class Stage : std::uint8_t {
  kMapped,       ///< its data is in place; none of its code has run
  kConstructed,  ///< its constructors have run, or are running
  kDestructed,   ///< its destructors have run, or are running
};

struct Instance {
  Instance(Object& object, Image& image, std::shared_ptr<const Binding> bound)
      : object(object), image(image), bound(std::move(bound)), binding(*this->bound) {}

  Object& object;
  Image& image;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;     ///< of the reservation; 0: the rank runs on the original
  std::ptrdiff_t delta = 0;  ///< address in the copy minus address in the original
  const std::shared_ptr<const Binding> bound;
  const Binding& binding;  ///< of a plugin that the rank has opened
  link_map map{};          ///< for dlinfo() and its like: the copy, in no list
  Stage stage = Stage::kMapped;
  bool needs_tls = false;  ///< its thread-local data holds addresses
  bool pinned = false;     ///< never unmapped: part of the program, or thread-local destructors wait in it
  int opened = 0;          ///< how many dlopen()s hold it, directly or through a library that needs it

  std::uintptr_t here(std::uintptr_t original) const { return original + static_cast<std::uintptr_t>(delta); }
};

/// Reserves address space for the copy. Its address is then known, so that addresses in other copies can
/// point to it.
base::Status reserve(Instance& instance);
/// Maps the code and copies the data; addresses are still those of the original.
base::Status fill(Instance& instance);
/// Changes the addresses in the data to the rank's own. Every object that they point into has an instance
/// already.
void relocate(Instance& instance);
/// The same for the calling thread's thread-local variables. Once for each thread.
void relocate_thread(const Instance& instance);
/// Gives the calling thread's thread-local variables of a plugin their initial values, because the rank may
/// have had the plugin open before.
void reset_thread(const Instance& instance);

}  // namespace clump::image
