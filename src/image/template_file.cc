#include "image/template_file.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/memory_file.h"
#include "base/why_refused.h"
#include "image/symbols.h"
#include "inspect/elf_file.h"

namespace clump::image {
namespace {

/// Tells ld.so that no symbol has to be defined. Which definitions there are depends on the rank (binding.h).
void require_nothing(std::byte* bytes, const ElfFile& file, std::vector<bool>& required) {
  for (const auto& [table, size] : {std::pair(DT_RELA, DT_RELASZ), std::pair(DT_JMPREL, DT_PLTRELSZ)}) {
    for (const ElfW(Rela) & relocation : file.relocations(table, size)) {
      const auto number = static_cast<std::uint32_t>(ELF64_R_SYM(relocation.r_info));
      const std::size_t place = number != 0 ? file.place_of_symbol(number) : 0;
      if (place == 0) continue;
      ElfW(Sym) symbol;
      std::memcpy(&symbol, bytes + place, sizeof symbol);
      if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL) continue;
      if (number >= required.size()) required.resize(number + 1);
      required[number] = true;
      symbol.st_info = ELF64_ST_INFO(STB_WEAK, ELF64_ST_TYPE(symbol.st_info));
      std::memcpy(bytes + place, &symbol, sizeof symbol);
    }
  }
}

/// Removes the entries by which ld.so would run code, or refuse to load or to unload the library.
void neutralise(std::byte* bytes, const ElfFile& file, Needs& needs) {
  require_nothing(bytes, file, needs.required);
  const ElfW(Phdr)* segment = file.segment(PT_DYNAMIC);
  auto* entries = reinterpret_cast<ElfW(Dyn)*>(bytes + segment->p_offset);
  for (const std::size_t i : needs.unnamed) entries[i].d_tag = DT_DEBUG;
  for (std::size_t i = 0; i < file.dynamic().size(); ++i) {
    ElfW(Dyn)& entry = entries[i];
    switch (entry.d_tag) {
      case DT_INIT:
      case DT_FINI:
        entry.d_tag = DT_DEBUG;  // an entry that ld.so ignores in a library
        break;
      case DT_INIT_ARRAYSZ:
      case DT_FINI_ARRAYSZ:
      case DT_PREINIT_ARRAYSZ:
        entry.d_un.d_val = 0;
        break;
      case DT_FLAGS_1:
        entry.d_un.d_val &= ~static_cast<std::uint64_t>(DF_1_INITFIRST | DF_1_PIE | DF_1_NOOPEN);
        break;
      default:
        break;
    }
  }
}

/// A path that leads to the descriptor. Numbers of descriptors come again, paths do not.
std::string new_path_of(int descriptor) {
  static unsigned made = 0;  // under the loader's lock
  std::string path = "/proc/self/fd/";
  for (unsigned bits = ++made; bits != 0; bits /= 2) path += bits % 2 != 0 ? "./" : "/";
  return path + std::to_string(descriptor);
}

}  // namespace

base::Status cannot_open(const std::string& path, std::string_view why) {
  return base::fail(MPI_ERR_ARG, "{}: {}", path, why);
}

MemoryFile::~MemoryFile() {
  if (descriptor >= 0) close(descriptor);
}

base::Status make_memory_file(const ElfFile& file, const std::string& path, Needs& needs, MemoryFile* made) {
  if (access("/proc/self/fd", X_OK) != 0)
    return cannot_open(path,
                       "each rank gets a copy of it, which Clump opens by way of /proc/self/fd, and /proc is "
                       "not mounted here: "
                       "mount it (mount -t proc proc /proc), or use --ranks processes");
  const std::size_t size = file.bytes().size();
  const int low = base::memory_file("clump-template", true);
  if (low < 0) return cannot_open(path, base::why_refused("memfd_create", errno));
  made->descriptor = low;
  void* map = base::set_size(low, size) ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, low, 0)
                                        : MAP_FAILED;
  if (map == MAP_FAILED) return cannot_open(path, base::why_refused("ftruncate or mmap", errno));
  std::memcpy(map, file.bytes().data(), size);
  neutralise(static_cast<std::byte*>(map), file, needs);
  munmap(map, size);
  made->path = new_path_of(low);
  return {};
}

void restore_constructors(Dynamic& dynamic, const ElfFile& file) {
  const auto address = [&](ElfW(Sxword) tag) -> std::uintptr_t {
    const ElfW(Dyn)* entry = file.entry(tag);
    return entry != nullptr ? dynamic.base + entry->d_un.d_ptr : 0;
  };
  const auto count = [&](ElfW(Sxword) tag) -> std::size_t {
    const ElfW(Dyn)* entry = file.entry(tag);
    return entry != nullptr ? entry->d_un.d_val / sizeof(std::uintptr_t) : 0;
  };
  dynamic.init = address(DT_INIT);
  dynamic.fini = address(DT_FINI);
  dynamic.preinit_array = {reinterpret_cast<const std::uintptr_t*>(address(DT_PREINIT_ARRAY)),
                           count(DT_PREINIT_ARRAYSZ)};
  dynamic.init_array = {reinterpret_cast<const std::uintptr_t*>(address(DT_INIT_ARRAY)),
                        count(DT_INIT_ARRAYSZ)};
  dynamic.fini_array = {reinterpret_cast<const std::uintptr_t*>(address(DT_FINI_ARRAY)),
                        count(DT_FINI_ARRAYSZ)};
}

}  // namespace clump::image
