#include "image/instance.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/why_refused.h"
#include "image/arena.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "inspect/arch.h"

// ld.so's entry point for thread-local storage: the block of a module for the calling thread, made at first
// use.
struct TlsIndex {
  unsigned long module;
  unsigned long offset;
};
extern "C" void* __tls_get_addr(TlsIndex* index);

extern "C" [[gnu::weak]] void __lsan_register_root_region(const void* begin, std::size_t bytes);

namespace clump::image {
namespace {

base::Status out_of_mappings(const Object& object) {
  return base::fail(MPI_ERR_SPAWN, "cannot map a copy of {}: {}; or start fewer ranks", object.path,
                    base::why_refused("mmap", errno));
}

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

/// The block of thread-local variables of an object that has some, for the calling thread.
std::byte* tls_block(const Object& object, const ElfW(Phdr) & segment) {
  if (object.is_program && object.is_template) return arch::program_tls(segment);
  TlsIndex index{object.tls_module, 0};
  return static_cast<std::byte*>(__tls_get_addr(&index));
}

/// Changes the addresses in the block to the rank's own.
void translate_tls(const Instance& instance, std::byte* block) {
  const Object& object = instance.object;
  const std::ptrdiff_t* deltas = instance.image.deltas();
  for (const Word& word : object.snapshot.tls_words) {
    const std::uintptr_t target = word.target + static_cast<std::uintptr_t>(deltas[word.object]);
    std::memcpy(block + word.place, &target, sizeof target);
  }
  const ElfW(Phdr)& segment = *object.segment(PT_TLS);
  const std::uintptr_t begin = object.dynamic.base + segment.p_vaddr;
  for (const Word& word : instance.binding.words) {
    if (word.place - begin >= segment.p_filesz) continue;
    const std::uintptr_t target = word.target + static_cast<std::uintptr_t>(deltas[word.object]);
    std::memcpy(block + (word.place - begin), &target, sizeof target);
  }
  for (const ValueWord& word : instance.binding.values) {
    if (word.place - begin < segment.p_filesz)
      std::memcpy(block + (word.place - begin), &word.value, sizeof word.value);
  }
}

/// Whether the initial thread-local data of a copy differ from those that ld.so gives each thread.
bool has_tls_words(const Instance& instance) {
  const Object& object = instance.object;
  const ElfW(Phdr)* const segment = object.segment(PT_TLS);
  if (segment == nullptr) return false;
  if (!object.snapshot.tls_words.empty() || (object.is_program && object.is_template)) return true;
  const auto is_there = [&](const auto& word) {
    return word.place - (object.dynamic.base + segment->p_vaddr) < segment->p_filesz;
  };
  return std::ranges::any_of(instance.binding.words, is_there) ||
         std::ranges::any_of(instance.binding.values, is_there);
}

/// Maps the parts of a copy that are as in the file.
base::Status map_code(const Instance& instance, int file) {
  for (const CodePart& part : instance.object.snapshot.code) {
    void* mapped = mmap(pointer(instance.here(part.begin)), part.bytes, part.protection,
                        MAP_PRIVATE | MAP_FIXED, file, static_cast<off_t>(part.file_offset));
    if (mapped == MAP_FAILED) return out_of_mappings(instance.object);
  }
  return {};
}

/// Code may also lie between data.
base::Status allow_code_in_data(const Instance& instance) {
  constexpr std::uintptr_t kPage = 4096;
  for (const ElfW(Phdr) & segment : instance.object.segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0 || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = instance.here(instance.object.dynamic.base + segment.p_vaddr) & ~(kPage - 1);
    const std::uintptr_t end =
        instance.here(instance.object.dynamic.base + segment.p_vaddr) + segment.p_memsz;
    if (mprotect(pointer(begin), end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
      return base::fail(
          MPI_ERR_SPAWN,
          "{} has code in a segment that may be written, and the system refuses a copy of that: {}; "
          "use --ranks processes",
          instance.object.path, base::why_refused("mprotect", errno));
  }
  return {};
}

}  // namespace

base::Status reserve(Instance& instance) {
  const Object& object = instance.object;
  std::uintptr_t address = 0;
  instance.bytes = object.end - object.begin;
  CLUMP_TRY(arena::reserve(&instance, instance.bytes, object.alignment, &address));
  instance.begin = address;
  instance.delta = static_cast<std::ptrdiff_t>(address - object.begin);
  instance.needs_tls = has_tls_words(instance);
  const bool is_program = &object == instance.image.program->main;
  instance.map.l_addr = instance.here(object.dynamic.base);
  instance.map.l_name = const_cast<char*>(is_program ? "" : object.path.c_str());
  instance.map.l_ld =
      static_cast<ElfW(Dyn)*>(pointer(instance.here(reinterpret_cast<std::uintptr_t>(object.map->l_ld))));
  return {};
}

base::Status fill(Instance& instance) {
  const Snapshot& snapshot = instance.object.snapshot;
  // The mapping includes the rest of the last granule: a separate mapping for the gap would count against the
  // limit of mappings.
  const std::size_t all = (instance.bytes + arena::kGranule - 1) / arena::kGranule * arena::kGranule;
  if (mprotect(pointer(instance.begin), all, PROT_READ | PROT_WRITE) != 0)
    return out_of_mappings(instance.object);
  int opened = -1;
  if (snapshot.file < 0) CLUMP_TRY(open_file(instance.object, &opened));
  const base::Status mapped = map_code(instance, snapshot.file >= 0 ? snapshot.file : opened);
  if (opened >= 0) close(opened);
  CLUMP_TRY(mapped);
  for (const DataPart& part : snapshot.data) {
    void* to = pointer(instance.here(part.begin));
    if (!part.mapped) {
      std::memcpy(to, snapshot.stored + part.stored_at, part.bytes);
    } else if (mmap(to, part.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, snapshot.store,
                    static_cast<off_t>(part.stored_at)) == MAP_FAILED) {
      return out_of_mappings(instance.object);
    }
    // A leak checker in the program finds the originals' data by itself. Blocks to which only a copy points
    // are no leaks.
    if (__lsan_register_root_region != nullptr) __lsan_register_root_region(to, part.bytes);
  }
  return allow_code_in_data(instance);
}

void relocate(Instance& instance) {
  Image& image = instance.image;
  const Snapshot& snapshot = instance.object.snapshot;
  const std::ptrdiff_t* deltas = image.deltas();
  for (const Word& word : snapshot.words) {
    const std::uintptr_t target = word.target + static_cast<std::uintptr_t>(deltas[word.object]);
    std::memcpy(pointer(instance.here(word.place)), &target, sizeof target);
  }
  const Rebinding& rebinding = image.program->rebinding(instance.object);
  for (const Word& word : rebinding.words) {
    const std::uintptr_t target = word.target + static_cast<std::uintptr_t>(deltas[word.object]);
    std::memcpy(pointer(instance.here(word.place)), &target, sizeof target);
  }
  for (const auto* variable_words : {&snapshot.variable_words, &rebinding.variable_words}) {
    for (const VariableWord& word : *variable_words) {
      void* target = image.variable(word.variable);
      std::memcpy(pointer(instance.here(word.place)), &target, sizeof target);
    }
  }
  for (const Word& word : instance.binding.words) {
    const std::uintptr_t target = word.target + static_cast<std::uintptr_t>(deltas[word.object]);
    std::memcpy(pointer(instance.here(word.place)), &target, sizeof target);
  }
  for (const ValueWord& word : instance.binding.values)
    std::memcpy(pointer(instance.here(word.place)), &word.value, sizeof word.value);
}

void reset_thread(const Instance& instance) {
  const Object& object = instance.object;
  const ElfW(Phdr)* segment = object.segment(PT_TLS);
  if (segment == nullptr || !object.is_template) return;
  std::byte* block = tls_block(object, *segment);
  std::memcpy(block, pointer(object.dynamic.base + segment->p_vaddr), segment->p_filesz);
  std::memset(block + segment->p_filesz, 0, segment->p_memsz - segment->p_filesz);
  translate_tls(instance, block);
}

void relocate_thread(const Instance& instance) {
  const Object& object = instance.object;
  const ElfW(Phdr)* segment = object.segment(PT_TLS);
  if (segment == nullptr) return;
  if (object.is_program && object.is_template) {
    reset_thread(instance);  // the thread has begun with the thread-local data of the main program
  } else if (instance.needs_tls) {
    translate_tls(instance, tls_block(object, *segment));
  }
}

}  // namespace clump::image
