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

struct Visit {
  Visitor visitor;
  void* argument;
  Image* image;
};

std::uintptr_t eh_frame_header(const Object& object) {
  for (const ElfW(Phdr) & segment : object.segments) {
    if (segment.p_type == PT_GNU_EH_FRAME) return object.dynamic.base + segment.p_vaddr;
  }
  return 0;
}

/// Calls back with ld.so's objects as the calling rank sees them: its copies in place of the originals, and
/// no templates.
int visit_for_rank(dl_phdr_info* info, std::size_t size, void* argument) {
  const Visit& visit = *static_cast<const Visit*>(argument);
  const Object* object = info->dlpi_phnum > 0
                             ? Registry::get().find(reinterpret_cast<std::uintptr_t>(info->dlpi_phdr))
                             : nullptr;
  if (object == nullptr || !object->is_private) return visit.visitor(info, size, visit.argument);
  if (object->is_program && object != visit.image->program->main) return 0;
  const Instance* mine = visit.image->instance(*object);
  if (mine == nullptr) return object->is_template ? 0 : visit.visitor(info, size, visit.argument);
  dl_phdr_info changed = *info;
  changed.dlpi_addr = mine->here(info->dlpi_addr);
  changed.dlpi_phdr = object->segments.data();
  if (object->is_template) changed.dlpi_name = object->path.c_str();
  return visit.visitor(&changed, size, visit.argument);
}

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
  Visit visit{visitor, argument, &current_image()};
  return real(&visit_for_rank, static_cast<void*>(&visit));
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
  result->dlfo_link_map = const_cast<link_map*>(instance->object.map);
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
  if (found != 0) move_to_copy(*instance, info);
  return found;
}

}  // extern "C"
