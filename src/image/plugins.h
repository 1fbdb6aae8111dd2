// Libraries that ranks open while they run: a copy for each rank, counted and constructed as dlopen()
// promises.
#pragma once

#include <link.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace clump::image {

class Image;
struct Object;

/// What dlopen() returns for a private library.
struct Handle {
  Object* object = nullptr;  ///< null: the program and all that is global, as dlopen(NULL) gives
  int references = 0;
  link_map map{};  ///< for dlinfo(): where the rank's copy is
};

/// The open libraries of one rank. Under the image's lock.
class Plugins {
 public:
  explicit Plugins(Image& image) : image_(image) {}

  /// Opens the library at `path`, or the program if `path` is empty; runs constructors. Null with no failure
  /// if RTLD_NOLOAD finds nothing. A library that all ranks share gets ld.so's own handle.
  base::Status open(const std::string& path, int flags, void** handle);
  /// Undoes one open(). Runs destructors and unmaps when it was the last. The handle may be gone then.
  void close(Handle& handle);
  /// The rank's handle with that address; null if it is none of ours.
  Handle* find(const void* handle);

 private:
  base::Status open_private(Object& object, int flags, void** handle);
  void construct(Object& object);
  void release(const std::vector<Object*>& closure);
  void* hold(Object* object);

  Image& image_;
  std::map<Object*, std::unique_ptr<Handle>> handles_;
};

}  // namespace clump::image
