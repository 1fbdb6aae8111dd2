#include "image/image.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>

#include "image/arena.h"
#include "image/doors.h"
#include "image/fork_locks.h"
#include "image/imports.h"
#include "image/lifetime.h"
#include "image/loader.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/sentinels.h"
#include "inspect/arch.h"

namespace clump::image {
namespace {

std::atomic<bool> has_captured{false};
std::atomic<Image*> native_image{nullptr};
std::vector<std::unique_ptr<Program>>& programs() {
  static auto& list = *new std::vector<std::unique_ptr<Program>>;
  return list;
}

/// By ld.so, or by bind_late_calls().
bool are_calls_bound(char** envp) {
  for (; envp != nullptr && *envp != nullptr; ++envp)
    if (std::string_view(*envp).starts_with("LD_BIND_NOW=")) return true;
  return false;
}

}  // namespace

bool captured() {
  return has_captured.load(std::memory_order_acquire);
}  // acquire: pairs with release in capture()

Image& image_of(const fiber::Identity* rank) {
  if (rank != nullptr && rank->image != nullptr) return *static_cast<Image*>(rank->image);
  Image* native = native_image.load(std::memory_order_acquire);  // acquire: pairs with release below
  if (native != nullptr) return *native;
  // Called before capture(), or in a process that is one rank. An allocator that starts up may be the caller,
  // so neither this nor the constructor may allocate.
  alignas(Image) static constinit std::byte place[sizeof(Image)] = {};
  static auto& process = *new (place) Image(nullptr, true);
  native_image.store(&process, std::memory_order_release);  // release: pairs with acquire above
  return process;
}

Image& current_image() { return image_of(fiber::identity()); }

Instance* instance_at(const void* address) { return arena::owner_of(address); }

Object* original_of(const void* address, std::uintptr_t* original) {
  const auto where = reinterpret_cast<std::uintptr_t>(address);
  if (Instance* instance = instance_at(address)) {
    *original = where - static_cast<std::uintptr_t>(instance->delta);
    return &instance->object;
  }
  *original = where;
  Object* object = Registry::get().find(where);
  return object != nullptr && object->is_private ? object : nullptr;
}

Image* image_at(const void* address) {
  if (Instance* instance = instance_at(address)) return &instance->image;
  const Object* object = Registry::get().find(reinterpret_cast<std::uintptr_t>(address));
  return object != nullptr && object->is_private && !object->is_template ? &image_of(nullptr) : nullptr;
}

base::Status capture(fiber::Identity& native, int argc, char** argv, char** envp) {
  Registry& registry = Registry::get();
  registry.add_all();
  choose_private_objects();

  std::vector<Object*> objects;
  for (int id = 0; id < registry.size(); ++id) {
    if (registry.at(id).is_private) objects.push_back(&registry.at(id));
  }
  for (Object* object : objects) {
    // References that ld.so has not bound yet, it would bind later, and only in the original.
    if (!object->dynamic.plt_relocations.empty() && !are_calls_bound(envp)) {
      return base::fail(MPI_ERR_SPAWN, "LD_BIND_NOW must be set when images of {} are made",
                        objects.front()->path);
    }
    if (!object->is_program) refuse_calls_of(*object);
    CLUMP_TRY(object->snapshot.take(*object));
  }
  for (const Object* object : objects) CLUMP_TRY(take_from_ld_so(*object));
  make_doors();
  programs().push_back(std::make_unique<Program>(*objects.front(), objects));
  keep_usage_if_told(objects.front()->dynamic);
  for (const Object* object : objects) keep_float_flags_if_told(object->dynamic);

  auto* image = new Image(&native, true);
  image->program = programs().front().get();
  image->argc = argc;
  image->argv = argv;
  native.image = image;
  for (const Object* object : objects) add_own_sentinels(*object->map, *image);
  native_image.store(image, std::memory_order_release);  // release: pairs with acquire in image_of()
  fiber::adopt_identity(&native);
  has_captured.store(true, std::memory_order_release);  // release: pairs with acquire in captured()
  return {};
}

namespace {

/// Whether the program is what a file holds now. Of a file that is gone only the path is left.
bool is_program_at(const Object& main, const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return main.path == path;
  return main.file.same_version(FileIdentity(info));
}

/// Guards programs() while it grows: ranks may be making images of those that are there.
constinit ForkMutex programs_lock;

}  // namespace

base::Status load_program(const std::string& path, int* program) {
  const std::scoped_lock one_at_a_time(loader_lock());
  for (std::size_t i = programs().size(); i-- > 0;) {
    if (is_program_at(*programs()[i]->main, path)) {
      *program = static_cast<int>(i);
      return {};
    }
  }
  Object* main = nullptr;
  CLUMP_TRY(load_executable(path, &main));
  *program = static_cast<int>(programs().size());
  std::vector<Object*> objects = with_needed(*main);
  keep_usage_if_told(main->dynamic);
  for (const Object* object : objects) keep_float_flags_if_told(object->dynamic);
  for (Object* interposer : interposers()) {
    for (Object* object : with_needed(*interposer)) {
      if (std::ranges::find(objects, object) == objects.end()) objects.push_back(object);
    }
  }
  auto loaded = std::make_unique<Program>(*main, std::move(objects));
  const std::lock_guard lock(programs_lock);
  programs().push_back(std::move(loaded));
  return {};
}

base::Status create(fiber::Identity& rank, int program) {
  const Program& source = [&]() -> const Program& {
    const std::lock_guard lock(programs_lock);
    return *programs().at(static_cast<std::size_t>(program));
  }();
  auto image = std::make_unique<Image>(&rank, false);
  image->program = &source;
  CLUMP_TRY(image->add(source.objects, {}, nullptr));
  for (Instance* instance : image->instances()) {
    instance->pinned = true;
    add_own_sentinels(*instance->object.map, *image);
  }
  image->behind_doors = behind_doors(*image);
  rank.image = image.release();
  return {};
}

void adopt_thread(fiber::Identity& rank) {
  fiber::adopt_identity(&rank);
  image_of(&rank).relocate_thread();
}

void run_constructors(fiber::Identity& rank, int argc, char** argv) {
  Image& image = image_of(&rank);
  image.argc = argc;
  image.argv = argv;
  const std::scoped_lock lock(image.lock);
  char**& environment = *image.variable(&environ);
  if (environment == nullptr) environment = environ;
  if (argc > 0 && !image.native()) {
    *image.variable(&program_invocation_name) = argv[0];
    char* const slash = std::strrchr(argv[0], '/');
    *image.variable(&program_invocation_short_name) = slash != nullptr ? slash + 1 : argv[0];
  }
  run_preinit(image);
  for (const Object* object : image.program->construction_order) construct(image, *object);
}

void* translate(fiber::Identity& rank, const void* original) {
  return reinterpret_cast<void*>(image_of(&rank).translate(reinterpret_cast<std::uintptr_t>(original)));
}

Main main_of(fiber::Identity& rank, Main original) {
  if (image_of(&rank).program->is_other()) return nullptr;
  return reinterpret_cast<Main>(translate(rank, reinterpret_cast<const void*>(original)));
}

char** environment_of(fiber::Identity& rank) { return *image_of(&rank).variable(&environ); }

namespace {

/// The location of an address in a process without images, from ld.so. Safe in signal handlers.
Location locate_in_process(const void* address) {
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(address), &found) != 0) return {};
  static char program[PATH_MAX];  // the program has no name in ld.so's list
  const char* path = found.dlfo_link_map->l_name;
  if (*path == '\0') {
    if (program[0] == '\0') (void)!readlink("/proc/self/exe", program, sizeof program - 1);
    path = program;
  }
  return {path, reinterpret_cast<std::uintptr_t>(address) - found.dlfo_link_map->l_addr, nullptr};
}

}  // namespace

Location locate(const void* address) {
  const auto where = reinterpret_cast<std::uintptr_t>(address);
  if (const Instance* instance = instance_at(address)) {
    const std::uintptr_t original = where - static_cast<std::uintptr_t>(instance->delta);
    return {instance->object.path.c_str(), original - instance->object.dynamic.base,
            instance->image.identity()};
  }
  if (const Object* object = Registry::get().find(where)) {
    const bool is_native = object->is_private && !object->is_template;
    return {object->path.c_str(), where - object->dynamic.base,
            is_native ? image_of(nullptr).identity() : nullptr};
  }
  return captured() ? Location{} : locate_in_process(address);
}

Cost cost_per_image(int program) {
  Cost cost;
  for (const Object* object : programs().at(static_cast<std::size_t>(program))->objects) {
    const Snapshot& snapshot = object->snapshot;
    cost.mappings += 1 + static_cast<int>(snapshot.code.size());
    for (const DataPart& part : snapshot.data) {
      if (part.mapped) cost.mappings += 2;
      if (!part.mapped) cost.private_bytes += part.bytes;
    }
    cost.address_space +=
        (object->end - object->begin + arena::kGranule - 1) / arena::kGranule * arena::kGranule;
  }
  return cost;
}

std::vector<std::string_view> private_objects() {
  std::vector<std::string_view> paths;
  for (const std::unique_ptr<Program>& program : programs()) {
    for (const Object* object : program->objects) {
      if (std::find(paths.begin(), paths.end(), object->path) == paths.end())
        paths.emplace_back(object->path);
    }
  }
  return paths;
}

}  // namespace clump::image
