#include "image/plugins.h"

#include <dlfcn.h>

#include <algorithm>

#include "image/loader.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/sentinels.h"

namespace clump::image {
namespace {

/// The objects that have to stay loaded while `object` is open: what it needs, and what its data has been
/// bound to.
std::vector<Object*> closure_of(Object& object) {
  std::vector<Object*> all = with_needed(object);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::int32_t target : all[i]->snapshot.targets) {
      Object& bound = Registry::get().at(target);
      if (bound.is_template && std::find(all.begin(), all.end(), &bound) == all.end()) all.push_back(&bound);
    }
  }
  return all;
}

}  // namespace

base::Status Plugins::open(const std::string& path, int flags, void** handle) {
  *handle = nullptr;
  const std::scoped_lock lock(image_.lock);
  if (path.empty()) {
    *handle = hold(nullptr);
    return {};
  }
  Object* object = nullptr;
  if ((flags & RTLD_NOLOAD) != 0) {
    const std::scoped_lock loading(loader_lock());
    object = Registry::get().find_file(path);
    if (object == nullptr) return {};
    const Instance* mine = image_.instance(*object);
    if (object->is_template && (mine == nullptr || mine->opened == 0)) return {};
  } else {
    CLUMP_TRY(load_library(path, flags, &object));
  }
  if (!object->is_private) {
    *handle = ld_open(object->map->l_name, flags);
    if (*handle == nullptr) return base::fail_with_text(MPI_ERR_ARG, ld_error());
    return {};
  }
  return open_private(*object, flags, handle);
}

base::Status Plugins::open_private(Object& object, int flags, void** handle) {
  const std::vector<Object*> closure = closure_of(object);
  std::vector<Instance*> made;
  CLUMP_TRY(image_.add(closure, &made));
  for (const Instance* instance : made) reset_thread(*instance);
  for (Instance* instance : made) instance->pinned = add_own_sentinels(*instance->object.map, image_);
  for (const Object* member : closure) {
    Instance* instance = image_.instance(*member);
    if (instance == nullptr) continue;
    ++instance->opened;
    if (member == &object && (flags & RTLD_NODELETE) != 0) instance->pinned = true;
  }
  *handle = hold(&object);
  construct(object);
  return {};
}

void Plugins::construct(Object& object) {
  for (const Object* member : construction_order(with_needed(object))) {
    Instance* instance = image_.instance(*member);
    if (instance == nullptr || instance->stage != Stage::kMapped) continue;
    instance->stage = Stage::kConstructed;
    image_.constructed.push_back(instance);
    run_constructors(*instance, image_.argc, image_.argv, *image_.variable(&environ));
  }
}

void Plugins::close(Handle& handle) {
  const std::scoped_lock lock(image_.lock);
  Object* object = handle.object;
  if (--handle.references == 0) handles_.erase(object);
  if (object != nullptr) release(closure_of(*object));
}

void Plugins::release(const std::vector<Object*>& closure) {
  std::vector<Instance*> unused;
  for (const Object* member : closure) {
    Instance* instance = image_.instance(*member);
    if (instance != nullptr && --instance->opened == 0 && !instance->pinned) unused.push_back(instance);
  }
  const std::vector<Instance*> order = image_.constructed;
  for (auto instance = order.rbegin(); instance != order.rend(); ++instance) {
    if (std::find(unused.begin(), unused.end(), *instance) == unused.end()) continue;
    (*instance)->stage = Stage::kDestructed;
    run_destructors(**instance);
  }
  // A destructor may have left thread-local objects whose own destructors are in the library.
  for (Instance* instance : unused) {
    if (!instance->pinned) image_.remove(*instance);
  }
}

void* Plugins::hold(Object* object) {
  std::unique_ptr<Handle>& handle = handles_[object];
  if (handle == nullptr) {
    handle = std::make_unique<Handle>();
    handle->object = object;
    // Of a library that the program was linked to ld.so knows where its symbols are looked up only when it
    // has been opened.
    if (object != nullptr && !object->is_template) ld_open(object->map->l_name, RTLD_NOW | RTLD_NOLOAD);
    const Object& shown = object != nullptr ? *object : *image_.program->main;
    const Instance* instance = image_.instance(shown);
    const std::ptrdiff_t delta = instance != nullptr ? instance->delta : 0;
    handle->map.l_addr = shown.map->l_addr + static_cast<std::uintptr_t>(delta);
    handle->map.l_name = const_cast<char*>(object != nullptr ? shown.path.c_str() : "");
    handle->map.l_ld = reinterpret_cast<ElfW(Dyn)*>(reinterpret_cast<std::uintptr_t>(shown.map->l_ld) +
                                                    static_cast<std::uintptr_t>(delta));
  }
  ++handle->references;
  return handle.get();
}

Handle* Plugins::find(const void* handle) {
  const std::scoped_lock lock(image_.lock);
  for (const auto& [object, mine] : handles_) {
    if (mine.get() == handle) return mine.get();
  }
  return nullptr;
}

}  // namespace clump::image
