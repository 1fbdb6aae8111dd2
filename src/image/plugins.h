// Libraries that ranks open while they run: each rank has a copy, which is counted and constructed as
// dlopen() specifies.
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

/// The result of dlopen() for a private library.
struct Handle {
  Object* object = nullptr;  ///< null: the program and everything global, as for dlopen(NULL)
  int references = 0;
  link_map map{};  ///< for dlinfo(): where the rank's copy is
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

 private:
  base::Status open_private(Object& object, int flags, void** handle);
  void construct(Object& object);
  void release(const std::vector<Object*>& closure);
  void* hold(Object* object);

  Image& image_;
  std::map<Object*, std::unique_ptr<Handle>> handles_;
};

}  // namespace clump::image
