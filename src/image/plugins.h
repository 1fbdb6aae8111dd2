// Libraries that ranks open while they run: each rank has a copy, which is counted and constructed as
// dlopen() specifies.
#pragma once

#include <link.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "image/binding.h"

namespace clump::image {

class Image;
struct Instance;
struct Object;

/// The result of dlopen() for a private library.
struct Handle {
  Object* object = nullptr;  ///< null: the program and everything global, as for dlopen(NULL)
  int references = 0;
  /// What stays loaded while it is open: the library, what it needs, and what these are bound to.
  std::vector<Object*> closure;
  bool is_kept = false;  ///< RTLD_NODELETE: the closure is held for ever
};

/// The open libraries of one rank. Used under the image's lock.
class Plugins {
 public:
  explicit Plugins(Image& image) : image_(image) {}

  /// Opens the library at `path`, or the program if `path` is empty; runs constructors. If RTLD_NOLOAD finds
  /// nothing, the handle is null and there is no error. A library that all ranks share gets ld.so's own
  /// handle.
  base::Status open(const std::string& path, int flags, void** handle);
  /// Undoes one open(). If it was the last one, runs destructors and unmaps the copy. The handle may be gone
  /// then.
  void close(Handle& handle);
  /// The rank's handle with that address; null if it is none of these.
  Handle* find(const void* handle);
  /// What the rank has opened with RTLD_GLOBAL, in that order.
  std::vector<Object*> globals();
  /// The libraries in which a library's own references are looked up, beyond the global ones: those that the
  /// dlopen() which has brought it to the rank has opened.
  std::vector<Object*> local_scope(Object& object);
  /// How many copies the rank has made and removed: for unwinders, which keep what they have found until
  /// these change. Any thread.
  unsigned long long made() const { return made_.load(std::memory_order_relaxed); }
  unsigned long long removed() const { return removed_.load(std::memory_order_relaxed); }

 private:
  base::Status open_private(Object& object, int flags, void** handle);
  base::Status make_copies(Object& object, int flags, std::vector<Object*>* closure, bool* is_known);
  Scope scope_of(Object& object, int flags);
  void construct(Object& object);
  void release(const std::vector<Object*>& closure);
  void add_uses(std::vector<Object*>& closure);
  std::vector<Object*> kept_by_pinned();
  void remove(Instance& instance);
  Handle& hold(Object* object);

  Image& image_;
  std::map<Object*, std::unique_ptr<Handle>> handles_;
  std::map<const Object*, std::unique_ptr<Handle>>
      closed_;  ///< whose addresses stay those of their libraries
  std::vector<Object*> globals_;
  UniqueSymbols unique_;
  std::unordered_map<const Object*, Object*>
      opened_by_;  ///< for a copy, the library whose dlopen() has made it
  std::atomic<unsigned long long> made_{0};
  std::atomic<unsigned long long> removed_{0};
};

}  // namespace clump::image
