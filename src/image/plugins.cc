#include "image/plugins.h"

#include <dlfcn.h>

#include <algorithm>

#include "image/lifetime.h"
#include "image/loader.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/sentinels.h"

namespace clump::image {
namespace {

void add_new(std::vector<Object*>& all, Object* object) {
  if (std::find(all.begin(), all.end(), object) == all.end()) all.push_back(object);
}

}  // namespace

base::Status Plugins::open(const std::string& path, int flags, void** handle) {
  *handle = nullptr;
  const std::scoped_lock lock(image_.lock);
  if (path.empty()) {
    *handle = &hold(nullptr);
    return {};
  }
  Object* object = nullptr;
  if ((flags & RTLD_NOLOAD) != 0) {
    object = find_open(path, image_);
    if (object == nullptr) return {};
  } else {
    CLUMP_TRY(load_library(path, flags, image_, &object));
  }
  if (!object->is_private) {
    *handle = ld_open(object->map->l_name, flags);
    if (*handle == nullptr) return base::fail_with_text(MPI_ERR_ARG, ld_error());
    return {};
  }
  return open_private(*object, flags, handle);
}

base::Status Plugins::open_private(Object& object, int flags, void** handle) {
  std::vector<Object*> closure;
  bool stays = (flags & RTLD_NODELETE) != 0;
  const auto known = handles_.find(&object);
  if (known == handles_.end()) {
    bool is_known_to_fortran = false;
    CLUMP_TRY(make_copies(object, flags, &closure, &is_known_to_fortran));
    stays |= is_known_to_fortran;
    // Of a library that the program was linked to ld.so knows where its symbols are looked up only when it
    // has been opened.
    for (const Object* member : with_all_needed(object))
      if (!member->is_template && member->map->l_name[0] != '\0')
        ld_open(member->map->l_name, RTLD_NOW | RTLD_NOLOAD);
  } else {
    closure = known->second->closure;
  }
  Handle& mine = hold(&object);
  mine.closure = closure;
  const bool keep = !mine.is_kept && stays;
  mine.is_kept = mine.is_kept || keep;
  for (const Object* member : closure) {
    if (Instance* instance = image_.instance(*member)) instance->opened += keep ? 2 : 1;
  }
  construct(object);
  // Beyond the constructors: they do not find it yet, as with ld.so.
  if ((flags & RTLD_GLOBAL) != 0) {
    for (Object* member : with_needed(object))
      if (member->is_template) add_new(globals_, member);
  }
  *handle = &mine;
  return {};
}

/// Makes the copies that the rank lacks of a library and of what it needs, each bound in the scope of this
/// call. `closure` gets what has to stay loaded as long as the library. `is_known`: the library for Fortran
/// has addresses of a new copy now, so that they all stay loaded.
base::Status Plugins::make_copies(Object& object, int flags, std::vector<Object*>* closure, bool* is_known) {
  *closure = with_needed(object);
  const Scope scope = scope_of(object, flags);
  UniqueSymbols unique = unique_;
  Image::Bindings bindings;
  {
    const std::scoped_lock loading(loader_lock());
    for (Object* member : *closure) {
      if (!member->is_template || member->is_program || image_.instance(*member) != nullptr) continue;
      CLUMP_TRY(bind_copy(*member, scope, unique, &bindings[member]));
    }
  }
  std::vector<Instance*> made;
  CLUMP_TRY(image_.add(*closure, std::move(bindings), &made));
  unique_ = std::move(unique);
  made_.fetch_add(made.size(), std::memory_order_relaxed);
  const std::scoped_lock loading(loader_lock());  // ld.so's list is read
  for (Instance* instance : made) {
    *is_known |= add_own_sentinels(*instance->object.map, image_);
    opened_by_[&instance->object] = &object;
    reset_thread(*instance);
  }
  add_uses(*closure);
  return {};
}

/// Adds what the rank's copies of libraries are bound to, and what that needs.
void Plugins::add_uses(std::vector<Object*>& closure) {
  for (std::size_t i = 0; i < closure.size(); ++i) {
    const Instance* const instance = image_.instance(*closure[i]);
    if (instance == nullptr) continue;
    for (Object* used : instance->binding.uses)
      for (Object* one : with_needed(*used)) add_new(closure, one);
  }
}

/// The libraries that stay although nothing has them open: those in which destructors of thread-local objects
/// wait, and all that these may use.
std::vector<Object*> Plugins::kept_by_pinned() {
  std::vector<Object*> kept;
  for (const Instance* instance : image_.instances()) {
    if (!instance->pinned || !instance->object.is_template || image_.program->has(instance->object)) continue;
    for (Object* one : with_needed(instance->object)) add_new(kept, one);
  }
  add_uses(kept);
  return kept;
}

Scope Plugins::scope_of(Object& object, int flags) {
  Scope scope;
  if (image_.program->is_other()) scope.global = image_.program->objects;
  for (Object* global : globals_) add_new(scope.global, global);
  scope.local = with_all_needed(object);
  scope.local_first = (flags & RTLD_DEEPBIND) != 0;
  return scope;
}

void Plugins::construct(Object& object) {
  for (const Object* member : construction_order(with_needed(object))) {
    if (image_.instance(*member) != nullptr) image::construct(image_, *member);
  }
}

void Plugins::close(Handle& handle) {
  const std::scoped_lock lock(image_.lock);
  if (handle.references == 0) return;  // one that is kept, closed too often
  const std::vector<Object*> closure = handle.closure;
  if (--handle.references == 0 && !handle.is_kept) {
    closed_[handle.object] = std::move(handles_[handle.object]);
    handles_.erase(handle.object);
  }
  release(closure);
}

void Plugins::release(const std::vector<Object*>& closure) {
  std::vector<Instance*> unused;
  for (const Object* member : closure) {
    Instance* instance = image_.instance(*member);
    if (instance != nullptr && --instance->opened == 0 && !instance->pinned) unused.push_back(instance);
  }
  const auto forget_kept = [&] {
    const std::vector<Object*> kept = kept_by_pinned();
    std::erase_if(unused, [&](const Instance* instance) {
      return instance->pinned || std::ranges::find(kept, &instance->object) != kept.end();
    });
  };
  forget_kept();
  const std::vector<const Object*> order = image_.constructed;
  for (auto object = order.rbegin(); object != order.rend(); ++object) {
    if (std::ranges::find(unused, *object, [](const Instance* one) { return &one->object; }) != unused.end())
      destruct(image_, **object);
  }
  // A destructor may have left thread-local objects whose own destructors are in the library.
  forget_kept();
  for (Instance* instance : unused) remove(*instance);
}

void Plugins::remove(Instance& instance) {
  Object* const object = &instance.object;
  std::erase(globals_, object);
  std::erase_if(unique_, [&](const auto& entry) { return entry.second == object; });
  opened_by_.erase(object);
  removed_.fetch_add(1, std::memory_order_relaxed);
  image_.remove(instance);
}

std::vector<Object*> Plugins::globals() {
  const std::scoped_lock lock(image_.lock);
  return globals_;
}

std::vector<Object*> Plugins::local_scope(Object& object) {
  const std::scoped_lock lock(image_.lock);
  const auto opened = opened_by_.find(&object);
  return with_all_needed(opened != opened_by_.end() ? *opened->second : object);
}

Handle& Plugins::hold(Object* object) {
  std::unique_ptr<Handle>& handle = handles_[object];
  if (handle == nullptr) {
    // The address that it had before, as with ld.so: others may have kept the library loaded.
    handle = std::move(closed_[object]);
    if (handle == nullptr) handle = std::make_unique<Handle>();
    *handle = {};
    handle->object = object;
  }
  ++handle->references;
  return *handle;
}

Handle* Plugins::find(const void* handle) {
  const std::scoped_lock lock(image_.lock);
  for (const auto& [object, mine] : handles_) {
    if (mine.get() == handle) return mine.get();
  }
  return nullptr;
}

}  // namespace clump::image
