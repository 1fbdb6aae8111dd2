// Image: everything that one rank has for itself in this process, besides its threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <link.h>

#include "base/status.h"
#include "fiber/identity.h"
#include "image/fork_locks.h"
#include "image/from_process.h"
#include "image/instance.h"
#include "image/plugins.h"
#include "image/program.h"
#include "image/symbols.h"
#include "image/variables.h"

namespace clump::image {

class Image {
 public:
  /// `native`: the rank runs on the originals of the main program.
  Image(fiber::Identity* identity, bool native)
      : identity_(identity), native_(native), state_(make_state(identity)), plugins_(*this) {}
  ~Image() { free_state(state_); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  fiber::Identity* identity() const { return identity_; }
  bool native() const { return native_; }

  /// The rank's copy of an object; null if it has none, as for shared objects and for the native rank's
  /// originals.
  Instance* instance(const Object& object) const;
  /// How copies of plugins are bound, for those that the rank does not have yet.
  using Bindings = std::map<const Object*, std::shared_ptr<const Binding>>;
  /// Makes copies of those objects of which it has none yet, and of all private objects that their data
  /// points into: for those that `bindings` has, these must be among `objects` or be there. `made`, if given,
  /// gets the new ones. Runs none of their code. On failure it has made none.
  base::Status add(const std::vector<Object*>& objects, Bindings bindings, std::vector<Instance*>* made);
  /// Unmaps a copy.
  void remove(Instance& instance);

  /// The distance of the rank's copy from the original, by object number. Valid while no copy is added.
  const std::ptrdiff_t* deltas() const { return deltas_.data(); }
  std::uintptr_t translate(std::uintptr_t original) const;
  /// This rank's instance of one of the C library's variables.
  void* variable(int number);
  template <typename T>
  T* variable(T* original) {
    return static_cast<T*>(variable_for(original));
  }

  /// Whether the rank uses the original of an object: an object of the main program, for the native rank.
  bool uses_original(const Object& object) const;

  /// Relocates the thread-local variables of all its copies, for a thread that has just begun.
  void relocate_thread();

  const Program* program = nullptr;
  /// Held while libraries are opened or closed; recursive, because constructors open libraries.
  RecursiveRankMutex lock;
  /// In the order in which constructors ran.
  std::vector<const Object*> constructed;
  std::vector<Instance*> instances() const;
  /// How many threads of the rank have not ended, its main thread included.
  std::atomic<int> threads{1};
  /// How many threads the program has made, whether they have ended or not.
  std::atomic<unsigned> threads_made{0};
  /// Whether the rank has opened an MPI library with RTLD_GLOBAL: dlopen.cc. Any thread of the rank.
  std::atomic<bool> has_opened_mpi{false};
  int argc = 0;
  char** argv = nullptr;
  /// See doors.h. Set before anything of the rank runs.
  std::unique_ptr<void*[]> behind_doors;

  /// The offset of instances_ in an Image, in bytes, for debuggers.
  static std::size_t place_of_instances();

  /// What src/process keeps for the rank.
  RankState& state() { return *state_.state; }
  /// Whether an object of the rank's is part of this one.
  bool holds(const void* address) const;
  Plugins& plugins() { return plugins_; }

 private:
  void* variable_for(void* original);
  base::Status make(const std::vector<Object*>& objects, Bindings bindings, std::vector<Instance*>& fresh);
  void forget(Instance& instance);

  fiber::Identity* identity_;
  bool native_;
  std::vector<std::unique_ptr<Instance>> instances_;  // by object number
  std::vector<std::ptrdiff_t> deltas_;
  std::vector<Instance*> with_tls_;
  mutable RankMutex
      tables_;  // guards the three above: `lock` may be held by a constructor that waits for a new thread
  Variables variables_;
  const StateOfRank state_;
  Plugins plugins_;
};

/// The calling thread's image. A thread that belongs to no rank gets the native one.
Image& current_image();
/// The image of a rank; the native one for null and for ranks without an image of their own.
Image& image_of(const fiber::Identity* rank);
/// The image whose code or data holds `address`; null if the address belongs to nothing private.
Image* image_at(const void* address);
/// The instance in which `address` lies, if it is in a copy.
Instance* instance_at(const void* address);
/// The private object to which an address in a copy, in an original or in a template belongs, and the
/// corresponding address in the original.
Object* original_of(const void* address, std::uintptr_t* original);

/// Whether capture() has been called: there are, or will be, several images.
bool captured();

}  // namespace clump::image
