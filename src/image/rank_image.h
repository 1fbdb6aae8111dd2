// Image: everything that one rank has to itself in this process, besides its threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "fiber/identity.h"
#include "image/instance.h"
#include "image/libc_state.h"
#include "image/output.h"
#include "image/plugins.h"
#include "image/program.h"
#include "image/symbols.h"
#include "image/variables.h"

namespace clump::image {

class Image {
 public:
  /// `native`: the rank runs on the originals of the main program.
  Image(fiber::Identity* identity, bool native)
      : identity_(identity), native_(native), output_(identity), plugins_(*this) {}
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  fiber::Identity* identity() const { return identity_; }
  bool native() const { return native_; }

  /// The rank's copy of an object; null if it has none, as for shared ones and for the native rank's
  /// originals.
  Instance* instance(const Object& object) const;
  /// Makes copies of objects that it has none of yet, and of all private objects that their data points into.
  /// `made`, if given, gets those that were made. Nothing runs.
  base::Status add(const std::vector<Object*>& objects, std::vector<Instance*>* made);
  /// Unmaps a copy.
  void remove(Instance& instance);

  /// By object number: where the rank's copy is, relative to the original. Valid while no copy is added.
  const std::ptrdiff_t* deltas() const { return deltas_.data(); }
  std::uintptr_t translate(std::uintptr_t original) const;
  /// This rank's counterpart of one of the C library's variables.
  void* variable(int number);
  template <typename T>
  T* variable(T* original) {
    return static_cast<T*>(variable_for(original));
  }

  /// The originals that this rank has as they are: objects of the main program, for the native rank.
  bool uses_original(const Object& object) const;

  /// Thread-local variables of all its copies, for a thread that has just begun.
  void relocate_thread();

  const Program* program = nullptr;
  /// Held while libraries are opened or closed; recursive, because constructors open libraries.
  std::recursive_mutex lock;
  /// In the order in which constructors ran.
  std::vector<Instance*> constructed;
  std::vector<Instance*> instances() const;
  /// Threads of the rank that have not ended, its main thread included.
  std::atomic<int> threads{1};
  /// By the program, whether they have ended or not.
  std::atomic<unsigned> threads_made{0};
  int argc = 0;
  char** argv = nullptr;
  /// See doors.h. Set before anything of the rank runs.
  std::unique_ptr<void*[]> behind_doors;

  /// In bytes from the beginning of an Image, for debuggers.
  static std::size_t place_of_instances();

  LibcState& libc() { return libc_; }
  output::RankOutput& output() { return output_; }
  Plugins& plugins() { return plugins_; }

 private:
  void* variable_for(void* original);

  fiber::Identity* identity_;
  bool native_;
  std::vector<std::unique_ptr<Instance>> instances_;  // by object number
  std::vector<std::ptrdiff_t> deltas_;
  std::vector<Instance*> with_tls_;
  mutable std::mutex
      tables_;  // guards the three above: `lock` may be held by a constructor that waits for a new thread
  Variables variables_;
  LibcState libc_;
  output::RankOutput output_;
  Plugins plugins_;
};

/// The calling thread's image. A thread that belongs to no rank gets the native one.
Image& current_image();
/// The rank's; the native one for null and for ranks without an image of their own.
Image& image_of(const fiber::Identity* rank);
/// The image whose code or data holds `address`; null if the address belongs to nothing private.
Image* image_at(const void* address);
/// The instance that holds `address`, if it lies in a copy.
Instance* instance_at(const void* address);
/// The private object that an address in a copy, in an original or in a template belongs to, and the address
/// in the original.
Object* original_of(const void* address, std::uintptr_t* original);

/// Runs the destructors of all of the rank's copies, the last constructed first. What ld.so constructed, it
/// destructs.
void run_rank_destructors(Image& image);

/// Whether capture() has been called: there are, or will be, several images.
bool captured();

/// False before ranks may leave (image.h: set_exit_hook), and in a child that one of them has forked.
/// Async-signal-safe.
bool in_host_process();

/// The calling thread ends its rank. Others that try wait until the process ends.
void claim_leaving(Image& image);

// libc_stdin.cc

/// Makes `descriptor` the rank's standard input; -1: one that is empty.
void begin_input(Image& image, int descriptor);
/// The calling rank's `stdin`.
std::FILE* rank_input();
/// From now on it reads this descriptor of the kernel's.
void use_as_input(int real);
/// freopen() of it.
std::FILE* reopen_input(const char* path, const char* mode);

/// The streams that the rank finds as `stdout` and `stderr`: libc_stdout.cc. Before its constructors run.
void begin_standard_output(Image& image);
/// What the calling rank has as `stdout` now.
std::FILE* own_stdout();

/// From here on processor time is counted, if the program may ask for it: libc_usage.cc.
void keep_usage_if_told(const Dynamic& program);

/// Where execvp() finds a program by the rank's PATH: libc_expand.cc. Empty if it finds none.
std::string program_in_path(const char* file);

/// open() that gives the kernel's lowest number: libc_descriptors.cc.
int open_kernels(const char* path, int flags);

}  // namespace clump::image
