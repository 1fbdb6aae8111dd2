// Functions that ask ld.so about addresses and objects know copies, too: unwinders (for exceptions and
// backtraces) and dladdr.
#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "base/types.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

using Visitor = int (*)(dl_phdr_info*, std::size_t, void*);

std::uintptr_t eh_frame_header(const Object& object) {
  for (const ElfW(Phdr) & segment : object.segments) {
    if (segment.p_type == PT_GNU_EH_FRAME) return object.dynamic.base + segment.p_vaddr;
  }
  return 0;
}

/// A walk over ld.so's objects as the calling rank sees them: its copies in place of the originals, and no
/// templates.
///
/// ld.so calls back with a lock of its own held, and the visitor may let other ranks run on this kernel
/// thread, by a call of MPI. So objects that are never unloaded are gathered first, some at a time, and shown
/// afterwards. Only those that the C library opens and closes by itself are shown with the lock held, at the
/// end.
class Walk {
 public:
  Walk(Visitor visitor, void* argument, Image& image)
      : visitor_(visitor), argument_(argument), image_(image) {}

  int run() {
    do {
      count_ = 0;
      left_out_ = shown_;
      more_ = false;
      each([](dl_phdr_info* info, std::size_t size, void* walk) {
        return static_cast<Walk*>(walk)->gather(*info, size);
      });
      for (int i = 0; i < count_; ++i) {
        if (const int answer = visitor_(&gathered_[i], size_, argument_)) return answer;
      }
      shown_ += count_;
    } while (more_);
    return each([](dl_phdr_info* info, std::size_t size, void* walk) {
      Walk& self = *static_cast<Walk*>(walk);
      // A memory file is a template that another rank is loading.
      if (object_of(*info) != nullptr || is_memory_file(info->dlpi_name)) return 0;
      self.count_changes(*info);
      return self.visitor_(info, size, self.argument_);
    });
  }

 private:
  static constexpr int kAtOnce = 32;

  int each(Visitor visitor) {
    static constinit Hidden<int(Visitor, void*)> real{"dl_iterate_phdr"};
    return real(visitor, static_cast<void*>(this));
  }

  /// The object; null for one that may be unloaded. Of those that were loaded later than at the start, the
  /// registry has only what ranks open.
  static const Object* object_of(const dl_phdr_info& info) {
    if (info.dlpi_phnum == 0) return nullptr;
    return Registry::get().find(reinterpret_cast<std::uintptr_t>(info.dlpi_phdr));
  }

  int gather(const dl_phdr_info& info, std::size_t size) {
    const Object* const object = object_of(info);
    if (object == nullptr) return 0;
    dl_phdr_info shown = info;
    if (!is_shown(*object, shown)) return 0;
    if (left_out_ > 0) {
      --left_out_;
      return 0;
    }
    if (count_ == kAtOnce) {
      more_ = true;
      return 1;
    }
    count_changes(shown);
    size_ = size;
    gathered_[count_++] = shown;
    return 0;
  }

  /// Whether the rank has the object; changes what ld.so says of it to what is true of the rank's copy.
  bool is_shown(const Object& object, dl_phdr_info& info) const {
    if (!object.is_private) return true;
    if (object.is_program && &object != image_.program->main) return false;
    const Instance* const mine = image_.instance(object);
    if (mine == nullptr) return !object.is_template;
    info.dlpi_addr = mine->here(info.dlpi_addr);
    info.dlpi_phdr = object.segments.data();
    if (object.is_template) info.dlpi_name = object.path.c_str();
    return true;
  }

  /// What unwinders keep holds until one of these grows: here, too, when the rank opens a library that is a
  /// template already, or closes one, of which ld.so knows nothing.
  void count_changes(dl_phdr_info& info) const {
    info.dlpi_adds += image_.plugins().made();
    info.dlpi_subs += image_.plugins().removed();
  }

  Visitor visitor_;
  void* argument_;
  Image& image_;
  dl_phdr_info gathered_[kAtOnce];
  std::size_t size_ = 0;
  int count_ = 0;
  int shown_ = 0;
  int left_out_ = 0;
  bool more_ = false;
};

void move_to_copy(const Instance& instance, Dl_info* info) {
  info->dli_fname = instance.object.path.c_str();
  info->dli_fbase = static_cast<char*>(info->dli_fbase) + instance.delta;
  if (info->dli_saddr != nullptr) info->dli_saddr = static_cast<char*>(info->dli_saddr) + instance.delta;
}

const void* in_original(const Instance& instance, const void* address) {
  return static_cast<const char*>(address) - instance.delta;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int dl_iterate_phdr(int (*visitor)(dl_phdr_info*, size_t, void*), void* argument) {
  static constinit Hidden<int(Visitor, void*)> real{"dl_iterate_phdr"};
  if (!captured()) return real(visitor, argument);
  return Walk(visitor, argument, current_image()).run();
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
CLUMP_HOST_API int _dl_find_object(void* address, dl_find_object* result) {
  static constinit Hidden<int(void*, dl_find_object*)> real{"_dl_find_object"};
  const Instance* instance = instance_at(address);
  if (instance == nullptr) return real(address, result);
  std::memset(result, 0, sizeof *result);
  const std::uintptr_t frames = eh_frame_header(instance->object);
  if (frames == 0) return -1;
  result->dlfo_map_start = reinterpret_cast<void*>(instance->begin);
  result->dlfo_map_end = reinterpret_cast<void*>(instance->begin + instance->bytes);
  result->dlfo_link_map = const_cast<link_map*>(&instance->map);
  result->dlfo_eh_frame = reinterpret_cast<void*>(instance->here(frames));
  return 0;
}
#endif

CLUMP_HOST_API int dladdr(const void* address, Dl_info* info) {
  static constinit Hidden<int(const void*, Dl_info*)> real{"dladdr"};
  const Instance* instance = instance_at(address);
  if (instance == nullptr) return real(address, info);
  const int found = real(in_original(*instance, address), info);
  if (found != 0) move_to_copy(*instance, info);
  return found;
}

CLUMP_HOST_API int dladdr1(const void* address, Dl_info* info, void** extra, int flags) {
  static constinit Hidden<int(const void*, Dl_info*, void**, int)> real{"dladdr1"};
  const Instance* instance = instance_at(address);
  if (instance == nullptr) return real(address, info, extra, flags);
  const int found = real(in_original(*instance, address), info, extra, flags);
  if (found == 0) return found;
  move_to_copy(*instance, info);
  if (flags == RTLD_DL_LINKMAP) *extra = const_cast<link_map*>(&instance->map);
  if (flags == RTLD_DL_SYMENT && *extra != nullptr) *extra = static_cast<char*>(*extra) + instance->delta;
  return found;
}

}  // extern "C"
