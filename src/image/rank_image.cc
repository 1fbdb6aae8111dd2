#include "image/rank_image.h"

#include "image/arena.h"
#include "image/objects.h"

namespace clump::image {
bool Image::holds(const void* address) const {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  const auto is_in = [&](const void* begin, std::size_t bytes) {
    return place - reinterpret_cast<std::uintptr_t>(begin) < bytes;
  };
  return is_in(this, sizeof *this) || is_in(state_.begin, state_.bytes);
}

bool Image::uses_original(const Object& object) const { return native_ && !object.is_template; }

Instance* Image::instance(const Object& object) const {
  const std::scoped_lock hold(tables_);
  const auto id = static_cast<std::size_t>(object.id);
  return id < instances_.size() ? instances_[id].get() : nullptr;
}

std::vector<Instance*> Image::instances() const {
  const std::scoped_lock hold(tables_);
  std::vector<Instance*> all;
  for (const std::unique_ptr<Instance>& instance : instances_) {
    if (instance != nullptr) all.push_back(instance.get());
  }
  return all;
}

base::Status Image::add(const std::vector<Object*>& objects, Bindings bindings,
                        std::vector<Instance*>* made) {
  const std::scoped_lock hold(tables_);
  std::vector<Instance*> fresh;
  const base::Status status = make(objects, std::move(bindings), fresh);
  if (!status.ok()) {
    for (Instance* instance : fresh) forget(*instance);
    return status;
  }
  for (Instance* instance : fresh) {
    relocate(*instance);
    if (instance->needs_tls) with_tls_.push_back(instance);
  }
  if (made != nullptr) *made = std::move(fresh);
  return {};
}

namespace {

/// Of what was loaded at the start.
const std::shared_ptr<const Binding>& unbound() {
  static const auto& none = *new std::shared_ptr<const Binding>(std::make_shared<const Binding>());
  return none;
}

}  // namespace

/// Maps the copies. `fresh` gets them, those that fail as well.
base::Status Image::make(const std::vector<Object*>& objects, Bindings bindings,
                         std::vector<Instance*>& fresh) {
  const Registry& registry = Registry::get();
  const auto count = static_cast<std::size_t>(registry.size());
  if (instances_.size() < count) instances_.resize(count);
  if (deltas_.size() < count) deltas_.resize(count);

  std::vector<const Object*> wanted(objects.begin(), objects.end());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Object& object = *wanted[i];
    const auto id = static_cast<std::size_t>(object.id);
    if (!object.is_private || uses_original(object) || instances_[id] != nullptr) continue;
    if (object.is_program && &object != program->main) continue;
    const auto bound = bindings.find(&object);
    const bool is_bound = bound != bindings.end();
    instances_[id] =
        std::make_unique<Instance>(registry.at(object.id), *this, is_bound ? bound->second : unbound());
    fresh.push_back(instances_[id].get());
    CLUMP_TRY(reserve(*instances_[id]));
    deltas_[id] = instances_[id]->delta;
    if (!is_bound) {
      for (const std::int32_t target : object.snapshot.targets) wanted.push_back(&registry.at(target));
    }
    for (const Word& word : program->rebinding(object).words) wanted.push_back(&registry.at(word.object));
  }
  for (Instance* instance : fresh) CLUMP_TRY(fill(*instance));
  return {};
}

void Image::remove(Instance& instance) {
  const std::scoped_lock hold(tables_);
  std::erase(with_tls_, &instance);
  std::erase(constructed, &instance.object);
  forget(instance);
}

/// Unmaps a copy that is in no list but the table.
void Image::forget(Instance& instance) {
  const auto id = static_cast<std::size_t>(instance.object.id);
  if (instance.begin != 0) arena::release(instance.begin, instance.bytes);
  deltas_[id] = 0;
  instances_[id] = nullptr;
}

std::uintptr_t Image::translate(std::uintptr_t original) const {
  const Object* object = Registry::get().find(original);
  if (object == nullptr || !object->is_private) return original;
  const Instance* mine = instance(*object);
  return mine != nullptr ? mine->here(original) : original;
}

void* Image::variable(int number) {
  if (native_) return original_variable(number);
  // If a program holds the variable itself, it is in the program's image.
  if (const std::uintptr_t place = program->variable_place(number))
    return reinterpret_cast<void*>(translate(place));
  return variable_of(variables_, number);
}

void* Image::variable_for(void* original) {
  const auto address = reinterpret_cast<std::uintptr_t>(original);
  const int number = native_ ? -1 : variable_at(address);
  return number >= 0 ? variable(number) : reinterpret_cast<void*>(translate(address));
}

void Image::relocate_thread() {
  const std::scoped_lock hold(tables_);
  for (const Instance* instance : with_tls_) image::relocate_thread(*instance);
}

}  // namespace clump::image
