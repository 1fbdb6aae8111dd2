#include "image/snapshot.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/memory_file.h"
#include "base/why_refused.h"
#include "image/from_process.h"
#include "image/objects.h"
#include "image/relocations.h"
#include "image/variables.h"

namespace clump::image {
namespace {

constexpr std::size_t kPage = 4096;
/// The least length of a range without addresses that is mapped; shorter ones are cheaper to copy.
constexpr std::size_t kWorthMapping = 64 * kPage;

constexpr std::uintptr_t page_down(std::uintptr_t address) { return address & ~(kPage - 1); }
constexpr std::uintptr_t page_up(std::uintptr_t address) { return page_down(address + kPage - 1); }

bool is_zero(std::uintptr_t page) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(page);
  return std::all_of(words, words + kPage / sizeof(std::uint64_t),
                     [](std::uint64_t word) { return word == 0; });
}

int protection_of(const ElfW(Phdr) & segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

/// The private object that an address belongs to. The address behind the end of an object still belongs to
/// it, as with an array.
const Object* owner_of(const Object& from, std::uintptr_t address) {
  if (address - from.begin <= from.end - from.begin) return &from;
  const Object* found = Registry::get().find(address);
  return found != nullptr && found->is_private ? found : nullptr;
}

/// Whether the file of one more object may stay open: a quarter of the descriptors that the process may have
/// is for these. By the only thread, at the start.
bool may_keep_one_more() {
  static rlim_t kept = 0;
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) != 0 || ++kept <= limit.rlim_cur / 4;
}

}  // namespace

base::Status open_file(const Object& object, int* descriptor) {
  *descriptor = open(object.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (*descriptor < 0)
    return base::fail(MPI_ERR_SPAWN, "cannot open {}: {}", object.path, base::why_refused("open", errno));
  struct stat info {};
  if (object.file.number == 0) return {};  // there was nothing to tell it by
  if (fstat(*descriptor, &info) == 0 && FileIdentity(info).same_version(object.file)) return {};
  close(*descriptor);
  return base::fail(MPI_ERR_ARG,
                    "{} has been replaced by another version since it was loaded: open it again, when "
                    "nothing writes it any more",
                    object.path);
}

base::Status Snapshot::take(Object& object) {
  sort_words(object);
  if (object.is_template) list_references(object);
  list_code(object);
  if (!object.is_template && may_keep_one_more()) {
    file = open(object.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
      return base::fail(MPI_ERR_SPAWN, "cannot open {}: {}", object.path, base::why_refused("open", errno));
    file = move_up(file);
  }
  CLUMP_TRY(store_data(object));
  taken_ = true;
  return {};
}

void Snapshot::read(std::uintptr_t from, std::size_t bytes, std::byte* to) const {
  std::memset(to, 0, bytes);
  const auto copy_overlap = [&](std::uintptr_t begin, std::size_t length, const std::byte* source) {
    const std::uintptr_t first = std::max(from, begin);
    const std::uintptr_t last = std::min(from + bytes, begin + length);
    if (first < last) std::memcpy(to + (first - from), source + (first - begin), last - first);
  };
  for (const CodePart& part : code)
    copy_overlap(part.begin, part.bytes, reinterpret_cast<const std::byte*>(part.begin));
  for (const DataPart& part : data) copy_overlap(part.begin, part.bytes, stored + part.stored_at);
}

void Snapshot::sort_words(const Object& object) {
  std::uintptr_t tls_begin = 0;
  std::uintptr_t tls_bytes = 0;
  for (const ElfW(Phdr) & segment : object.segments) {
    if (segment.p_type != PT_TLS) continue;
    tls_begin = object.dynamic.base + segment.p_vaddr;
    tls_bytes = segment.p_filesz;
  }

  for_each_address_word(object, [&](std::uintptr_t place) {
    std::uintptr_t target = 0;
    std::memcpy(&target, reinterpret_cast<const void*>(place), sizeof target);
    if (const Object* owner = owner_of(object, target)) {
      words.push_back({place, target, owner->id});
      if (place - tls_begin < tls_bytes) tls_words.push_back({place - tls_begin, target, owner->id});
    } else if (const int variable = variable_at(target); variable >= 0) {
      variable_words.push_back({place, variable});
    }
  });
  std::sort(words.begin(), words.end(), [](const Word& a, const Word& b) { return a.place < b.place; });

  std::set<std::int32_t> distinct{object.id};
  for (const Word& word : words) distinct.insert(word.object);
  targets.assign(distinct.begin(), distinct.end());
}

void Snapshot::list_references(const Object& object) {
  for_each_symbolic_word(object, [&](const SymbolicWord& word) {
    if (ELF64_ST_VISIBILITY(object.dynamic.symbols[word.number].st_other) != STV_DEFAULT) return;
    std::uintptr_t address = 0;
    std::memcpy(&address, reinterpret_cast<const void*>(word.place), sizeof address);
    if (address == word.addend) return references.push_back({word, Reference::kNothing});
    // What was loaded at the start comes first in all scopes.
    const Object* const bound = Registry::get().find(address - word.addend);
    if (bound != nullptr && bound->is_template) references.push_back({word, bound->id});
  });
}

void Snapshot::list_code(const Object& object) {
  for (const ElfW(Phdr) & segment : object.segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0 || segment.p_filesz == 0) continue;
    const std::uintptr_t begin = page_down(object.dynamic.base + segment.p_vaddr);
    const std::uintptr_t end = page_up(object.dynamic.base + segment.p_vaddr + segment.p_filesz);
    const std::uint64_t offset = page_down(segment.p_offset);
    // Neighbours become one mapping, executable as a whole: a thousand ranks would otherwise need three times
    // as many mappings.
    if (!code.empty() && code.back().begin - code.back().file_offset == begin - offset &&
        page_up(code.back().begin + code.back().bytes) == begin) {
      code.back().bytes = end - code.back().begin;
      code.back().protection |= protection_of(segment);
    } else {
      code.push_back({begin, end - begin, offset, protection_of(segment)});
    }
  }
}

base::Status Snapshot::store_data(const Object& object) {
  std::set<std::uintptr_t> with_words;
  for (const Word& word : words) with_words.insert(page_down(word.place));
  for (const VariableWord& word : variable_words) with_words.insert(page_down(word.place));
  std::set<std::uintptr_t> with_copies;
  for_each_copied_variable(object, [&](std::uintptr_t begin, std::size_t bytes) {
    for (std::uintptr_t page = page_down(begin); page < begin + bytes; page += kPage)
      with_copies.insert(page);
  });

  const auto add_page = [&](std::uintptr_t page, bool untouched) {
    if (!data.empty() && data.back().begin + data.back().bytes == page && data.back().mapped == untouched) {
      data.back().bytes += kPage;
    } else {
      data.push_back({page, kPage, untouched, 0});
    }
  };
  for (const ElfW(Phdr) & segment : object.segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    const std::uintptr_t begin = object.dynamic.base + segment.p_vaddr;
    const std::uintptr_t from_file = page_up(begin + segment.p_filesz);
    // Some systems allow no code in a memory file.
    const bool may_map = (segment.p_flags & PF_X) == 0;
    for (std::uintptr_t page = page_down(begin); page < from_file; page += kPage) {
      if (with_words.count(page) != 0) {
        add_page(page, false);
      } else if (!is_zero(page)) {
        add_page(page, may_map);
      }
    }
    // Beyond the contents of the file all bytes are zero, except what ld.so has written. So not every page
    // has to be read (and thereby made).
    for (const std::uintptr_t page : with_copies) {
      if (page >= from_file && page < page_up(begin + segment.p_memsz)) add_page(page, false);
    }
  }

  bool any_mapped = false;
  for (DataPart& part : data) {
    part.mapped = part.mapped && part.bytes >= kWorthMapping;
    any_mapped = any_mapped || part.mapped;
    part.stored_at = stored_bytes;
    stored_bytes += part.bytes;
  }
  if (stored_bytes == 0) return {};

  const int fd = base::memory_file("clump-snapshot");
  if (fd < 0 || !base::set_size(fd, stored_bytes)) {
    const std::string why = base::why_refused(fd < 0 ? "memfd_create" : "ftruncate", errno);
    if (fd >= 0) close(fd);
    return base::fail(MPI_ERR_SPAWN, "cannot make a memory file of {} bytes: {}", stored_bytes, why);
  }
  void* map = mmap(nullptr, stored_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) {
    const std::string why = base::why_refused("mmap", errno);
    close(fd);
    return base::fail(MPI_ERR_SPAWN, "cannot map a memory file: {}", why);
  }
  for (const DataPart& part : data) {
    std::memcpy(static_cast<std::byte*>(map) + part.stored_at, reinterpret_cast<const void*>(part.begin),
                part.bytes);
  }
  stored = static_cast<const std::byte*>(map);
  if (any_mapped) {
    store = move_up(fd);
  } else {
    close(fd);
  }
  return {};
}

}  // namespace clump::image
