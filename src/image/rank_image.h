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
#include "image/instance.h"
#include "image/plugins.h"
#include "image/program.h"
#include "image/symbols.h"
#include "image/variables.h"
#include "process/files/output.h"
#include "process/rank_state.h"

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
  std::vector<Instance*> constructed;
  std::vector<Instance*> instances() const;
  /// How many threads of the rank have not ended, its main thread included.
  std::atomic<int> threads{1};
  /// How many threads the program has made, whether they have ended or not.
  std::atomic<unsigned> threads_made{0};
  int argc = 0;
  char** argv = nullptr;
  /// See doors.h. Set before anything of the rank runs.
  std::unique_ptr<void*[]> behind_doors;

  /// The offset of instances_ in an Image, in bytes, for debuggers.
  static std::size_t place_of_instances();

  LibcState& libc() { return libc_; }
  output::RankOutput& output() { return output_; }
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
  LibcState libc_;
  output::RankOutput output_;
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

/// Runs the destructors of all copies of the rank, the last constructed first. ld.so destructs what it has
/// constructed.
void run_rank_destructors(Image& image);

/// Whether capture() has been called: there are, or will be, several images.
bool captured();

/// False before ranks may leave (image.h: set_exit_hook), and in a child that a rank has forked.
/// Async-signal-safe.
bool in_host_process();

/// The calling thread ends its rank. Other threads that try wait until the process ends.
void claim_leaving(Image& image);

// files/stdin.cc

/// Makes `descriptor` the rank's standard input; -1: an empty one.
void begin_input(Image& image, int descriptor);
/// The stream that the calling rank has as `stdin` at its begin.
std::FILE* rank_input();
/// The calling rank's `stdin`, as the program has set it.
std::FILE* rank_stdin();
/// From now on `stdin` reads this descriptor of the kernel's.
void use_as_input(int real);
/// freopen() of the rank's `stdin`.
std::FILE* reopen_input(const char* path, const char* mode);

// files/streams.cc

enum class Streams : std::uint8_t { kAll, kLineBuffered };
/// What to do about a stream that another thread of the rank uses at this moment.
enum class WhileBusy : std::uint8_t { kWait, kGoOn };
/// Writes what the streams that the calling rank has opened still hold: 0, or EOF. It leaves other ranks'
/// streams and input alone. `stdout` and `stderr` are not among them: output.h.
int flush_streams(Streams which, WhileBusy while_busy);

/// Makes the rank's `stdout` and `stderr`: files/stdout.cc. Before its constructors run.
void begin_standard_output(Image& image);
/// The calling rank's `stdout`, as the program has set it.
std::FILE* own_stdout();

// The auxiliary vector: files/self.cc

/// Notes the process's own, which follows its environment.
void note_auxiliary_vector(char** environment);
/// The rank's, with AT_NULL at its end.
std::vector<ElfW(auxv_t)> auxiliary_vector_of(const Image& image);

/// From here on processor time is counted, if the program may ask for it: threads/usage.cc.
void keep_usage_if_told(const Dynamic& program);

/// The path at which execvp() finds a program by the rank's PATH: libc/expand.cc. Empty if it finds none.
std::string program_in_path(const char* file);

/// open() that returns the kernel's lowest number: files/descriptors.cc.
int open_kernels(const char* path, int flags);

}  // namespace clump::image
