#include "inspect/elf_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "inspect/arch.h"

namespace clump::image {

ElfFile::ElfFile(const std::string& path) {
  const int fd =
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);  // a FIFO is not waited for
  if (fd < 0) return;
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map != MAP_FAILED) bytes_ = {static_cast<const std::byte*>(map), size};
    identity_ = FileIdentity(info);
  }
  close(fd);

  has_magic_ = bytes_.size() >= SELFMAG && std::memcmp(bytes_.data(), ELFMAG, SELFMAG) == 0;
  if (!has_magic_ || bytes_.size() < sizeof(ElfW(Ehdr))) return;
  const ElfW(Ehdr)& head = header();
  constexpr unsigned char kData = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  valid_ = head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_ident[EI_DATA] == kData &&
           head.e_machine == arch::kMachine && head.e_phentsize == sizeof(ElfW(Phdr)) &&
           head.e_phoff % alignof(ElfW(Phdr)) == 0 && head.e_phoff <= bytes_.size() &&
           head.e_phnum * sizeof(ElfW(Phdr)) <= bytes_.size() - head.e_phoff;
}

ElfFile::~ElfFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::span<const ElfW(Phdr)> ElfFile::segments() const {
  if (!valid_) return {};
  return {reinterpret_cast<const ElfW(Phdr)*>(bytes_.data() + header().e_phoff), header().e_phnum};
}

const ElfW(Phdr) * ElfFile::segment(std::uint32_t type) const {
  for (const ElfW(Phdr) & segment : segments()) {
    if (segment.p_type == type) return &segment;
  }
  return nullptr;
}

std::span<const ElfW(Dyn)> ElfFile::dynamic() const {
  const ElfW(Phdr)* segment = this->segment(PT_DYNAMIC);
  if (segment == nullptr || segment->p_offset % alignof(ElfW(Dyn)) != 0) return {};
  if (segment->p_offset > bytes_.size() || segment->p_filesz > bytes_.size() - segment->p_offset) return {};
  const auto* first = reinterpret_cast<const ElfW(Dyn)*>(bytes_.data() + segment->p_offset);
  std::size_t count = 0;
  while (count < segment->p_filesz / sizeof(ElfW(Dyn)) && first[count].d_tag != DT_NULL) ++count;
  return {first, count};
}

const ElfW(Dyn) * ElfFile::entry(ElfW(Sxword) tag) const {
  for (const ElfW(Dyn) & entry : dynamic()) {
    if (entry.d_tag == tag) return &entry;
  }
  return nullptr;
}

const std::byte* ElfFile::at_address(std::uint64_t address, std::size_t size) const {
  for (const ElfW(Phdr) & segment : segments()) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const std::uint64_t inside = address - segment.p_vaddr;
    if (inside > segment.p_filesz || size > segment.p_filesz - inside) continue;
    const std::uint64_t offset = segment.p_offset + inside;
    if (offset > bytes_.size() || size > bytes_.size() - offset) continue;
    return bytes_.data() + offset;
  }
  return nullptr;
}

std::string_view ElfFile::string_at(std::uint64_t place) const {
  const ElfW(Dyn)* table = entry(DT_STRTAB);
  const ElfW(Dyn)* table_size = entry(DT_STRSZ);
  if (table == nullptr || table_size == nullptr || place >= table_size->d_un.d_val) return {};
  const std::byte* text = at_address(table->d_un.d_ptr, table_size->d_un.d_val);
  if (text == nullptr) return {};
  const char* string = reinterpret_cast<const char*>(text) + place;
  return {string, strnlen(string, table_size->d_un.d_val - place)};
}

std::vector<std::string> ElfFile::strings(ElfW(Sxword) tag) const {
  std::vector<std::string> found;
  for (const ElfW(Dyn) & entry : dynamic()) {
    if (entry.d_tag != tag) continue;
    if (const std::string_view text = string_at(entry.d_un.d_val); !text.empty()) found.emplace_back(text);
  }
  return found;
}

std::span<const ElfW(Rela)> ElfFile::relocations(ElfW(Sxword) table, ElfW(Sxword) bytes) const {
  const ElfW(Dyn)* const where = entry(table);
  const ElfW(Dyn)* const size = entry(bytes);
  if (where == nullptr || size == nullptr) return {};
  const std::byte* const first = at_address(where->d_un.d_ptr, size->d_un.d_val);
  if (first == nullptr || reinterpret_cast<std::uintptr_t>(first) % alignof(ElfW(Rela)) != 0) return {};
  return {reinterpret_cast<const ElfW(Rela)*>(first), size->d_un.d_val / sizeof(ElfW(Rela))};
}

std::string_view ElfFile::undefined_symbol(std::uint32_t number) const {
  const ElfW(Dyn)* const table = entry(DT_SYMTAB);
  if (table == nullptr) return {};
  const std::byte* const found =
      at_address(table->d_un.d_ptr + number * sizeof(ElfW(Sym)), sizeof(ElfW(Sym)));
  if (found == nullptr) return {};
  ElfW(Sym) symbol;
  std::memcpy(&symbol, found, sizeof symbol);
  return symbol.st_shndx == SHN_UNDEF ? string_at(symbol.st_name) : std::string_view();
}

std::size_t ElfFile::place_of_symbol(std::uint32_t number) const {
  const ElfW(Dyn)* const table = entry(DT_SYMTAB);
  if (table == nullptr) return 0;
  const std::byte* const found =
      at_address(table->d_un.d_ptr + number * sizeof(ElfW(Sym)), sizeof(ElfW(Sym)));
  return found != nullptr ? static_cast<std::size_t>(found - bytes_.data()) : 0;
}

bool ElfFile::has_text_relocations() const {
  const ElfW(Dyn)* const flags = entry(DT_FLAGS);
  return entry(DT_TEXTREL) != nullptr || (flags != nullptr && (flags->d_un.d_val & DF_TEXTREL) != 0);
}

bool ElfFile::is_definition(std::uint32_t number, std::string_view name) const {
  const ElfW(Sym) symbol = symbol_at(number);
  return symbol.st_shndx != SHN_UNDEF && string_at(symbol.st_name) == name;
}

ElfW(Sym) ElfFile::symbol_at(std::uint32_t number) const {
  const ElfW(Dyn)* const table = entry(DT_SYMTAB);
  if (table == nullptr) return {};
  return value_at<ElfW(Sym)>(table->d_un.d_ptr + number * sizeof(ElfW(Sym)));
}

bool ElfFile::is_weak(std::uint32_t number) const {
  return ELF64_ST_BIND(symbol_at(number).st_info) == STB_WEAK;
}

bool ElfFile::defines(std::string_view name) const { return definition_of(name) != 0; }

bool ElfFile::resolves(std::string_view name) const {
  const std::uint32_t number = definition_of(name);
  return number != 0 && ELF64_ST_TYPE(symbol_at(number).st_info) == STT_GNU_IFUNC;
}

std::uint32_t ElfFile::definition_of(std::string_view name) const {
  if (const ElfW(Dyn)* const table = entry(DT_GNU_HASH)) {
    // Four words: buckets, first symbol, words of the filter, its shift. Then the filter, the buckets, and a
    // hash value for each symbol from the first on; an odd one ends a bucket.
    const std::uint64_t begin = table->d_un.d_ptr;
    const auto word = [&](std::uint64_t at) { return value_at<std::uint32_t>(at); };
    const std::uint32_t buckets = word(begin), first = word(begin + 4);
    if (buckets == 0) return 0;
    std::uint32_t hash = 5381;
    for (const char letter : name) hash = hash * 33 + static_cast<unsigned char>(letter);
    const std::uint64_t bucket = begin + 16 + std::uint64_t{word(begin + 8)} * sizeof(ElfW(Addr));
    const std::uint64_t values = bucket + std::uint64_t{buckets} * 4;
    std::uint32_t number = word(bucket + std::uint64_t{hash % buckets} * 4);
    if (number < first) return 0;
    for (;; ++number) {
      const std::uint64_t at = values + std::uint64_t{number - first} * 4;
      if (at_address(at, 4) == nullptr) return 0;
      const std::uint32_t value = word(at);
      if ((value | 1U) == (hash | 1U) && is_definition(number, name)) return number;
      if ((value & 1U) != 0) return 0;
    }
  }
  const ElfW(Dyn)* const table = entry(DT_HASH);
  if (table == nullptr) return 0;
  const auto symbols = value_at<std::uint32_t>(table->d_un.d_ptr + 4);
  for (std::uint32_t number = 1; number < symbols; ++number) {
    if (at_address(table->d_un.d_ptr + std::uint64_t{number} * 4, 4) == nullptr) return 0;
    if (is_definition(number, name)) return number;
  }
  return 0;
}

std::span<const ElfW(Shdr)> ElfFile::sections() const {
  if (!valid_ || header().e_shentsize != sizeof(ElfW(Shdr)) || header().e_shoff % alignof(ElfW(Shdr)) != 0)
    return {};
  const std::uint64_t bytes = header().e_shnum * sizeof(ElfW(Shdr));
  if (header().e_shoff > bytes_.size() || bytes > bytes_.size() - header().e_shoff) return {};
  return {reinterpret_cast<const ElfW(Shdr)*>(bytes_.data() + header().e_shoff), header().e_shnum};
}

std::string_view ElfFile::bytes_of(const ElfW(Shdr) & section) const {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size() ||
      section.sh_size > bytes_.size() - section.sh_offset)
    return {};
  return {reinterpret_cast<const char*>(bytes_.data()) + section.sh_offset, section.sh_size};
}

std::vector<std::string_view> ElfFile::defined_functions() const {
  std::vector<std::string_view> names;
  const std::span<const ElfW(Shdr)> all = sections();
  for (const ElfW(Shdr) & section : all) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= all.size()) continue;
    const std::string_view table = bytes_of(section), text = bytes_of(all[section.sh_link]);
    for (std::size_t at = 0; at + sizeof(ElfW(Sym)) <= table.size(); at += sizeof(ElfW(Sym))) {
      ElfW(Sym) symbol;
      std::memcpy(&symbol, table.data() + at, sizeof symbol);
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC)) continue;
      if (symbol.st_name >= text.size()) continue;
      const std::string_view rest = text.substr(symbol.st_name);
      names.push_back(rest.substr(0, rest.find('\0')));
    }
  }
  return names;
}

bool ElfFile::has_symbol(std::string_view name) const {
  const std::span<const ElfW(Shdr)> all = sections();
  const ElfW(Shdr)* const found = section(".symtab");
  if (found == nullptr || found->sh_link >= all.size()) return false;
  const std::string_view table = bytes_of(*found), text = bytes_of(all[found->sh_link]);
  for (std::size_t at = 0; at + sizeof(ElfW(Sym)) <= table.size(); at += sizeof(ElfW(Sym))) {
    ElfW(Sym) symbol;
    std::memcpy(&symbol, table.data() + at, sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= text.size()) continue;
    const std::string_view rest = text.substr(symbol.st_name);
    if (rest.size() > name.size() && rest.starts_with(name) && rest[name.size()] == '\0') return true;
  }
  return false;
}

const ElfW(Shdr) * ElfFile::section(std::string_view name) const {
  const std::span<const ElfW(Shdr)> all = sections();
  if (all.empty() || header().e_shstrndx >= all.size()) return nullptr;
  const std::string_view names = bytes_of(all[header().e_shstrndx]);
  for (const ElfW(Shdr) & section : all) {
    if (section.sh_name >= names.size()) continue;
    const std::string_view rest = names.substr(section.sh_name);
    if (rest.substr(0, rest.find('\0')) == name) return &section;
  }
  return nullptr;
}

bool ElfFile::has_section(std::string_view name) const { return section(name) != nullptr; }

std::string_view ElfFile::constants() const {
  const ElfW(Shdr)* const found = section(".rodata");
  return found != nullptr ? bytes_of(*found) : std::string_view();
}

std::string ElfFile::first_string(ElfW(Sxword) tag) const {
  std::vector<std::string> all = strings(tag);
  return all.empty() ? std::string() : std::move(all.front());
}

}  // namespace clump::image
