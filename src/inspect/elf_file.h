// An ELF file on disk, read without loading it. Every offset is checked: a damaged file gives empty answers,
// never a crash.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/file_identity.h"

namespace clump::image {

class ElfFile {
 public:
  /// Maps the file. Check valid() before anything else.
  explicit ElfFile(const std::string& path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  /// Whether it is an ELF file of this word size and byte order, for this machine, with sound headers.
  bool valid() const { return valid_; }
  /// Whether it starts with the ELF magic number, for any machine.
  bool has_magic() const { return has_magic_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Of the file whose bytes these are.
  const FileIdentity& identity() const { return identity_; }

  const ElfW(Ehdr) & header() const { return *reinterpret_cast<const ElfW(Ehdr)*>(bytes_.data()); }
  std::span<const ElfW(Phdr)> segments() const;
  const ElfW(Phdr) * segment(std::uint32_t type) const;
  /// The dynamic section up to DT_NULL; empty if there is none.
  std::span<const ElfW(Dyn)> dynamic() const;
  /// The first entry with that tag, or null.
  const ElfW(Dyn) * entry(ElfW(Sxword) tag) const;
  /// The strings of all entries with that tag (DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH).
  std::vector<std::string> strings(ElfW(Sxword) tag) const;
  std::string first_string(ElfW(Sxword) tag) const;
  /// Whether ld.so changes its code when it loads the file.
  bool has_text_relocations() const;
  /// The relocations at the address in the entry with tag `table`; the entry with tag `bytes` has their size.
  std::span<const ElfW(Rela)> relocations(ElfW(Sxword) table, ElfW(Sxword) bytes) const;
  /// The name of a dynamic symbol, by number; empty if the file defines it, or if there is none. Valid as
  /// long as this object.
  std::string_view undefined_symbol(std::uint32_t number) const;
  /// Where the entry of a dynamic symbol is in `bytes()`; 0 if there is none.
  std::size_t place_of_symbol(std::uint32_t number) const;
  /// Whether ld.so takes zero for the address of a dynamic symbol that no file defines.
  bool is_weak(std::uint32_t number) const;
  /// Whether it defines a function or a variable of that name for other files.
  bool defines(std::string_view name) const;
  /// The same of a function that has variants for processors: ld.so calls code of this file to choose one
  /// (STT_GNU_IFUNC), when it binds a reference.
  bool resolves(std::string_view name) const;
  /// The functions that it defines for other files, found by the section headers: none if these are stripped.
  /// Valid as long as this object.
  std::vector<std::string_view> defined_functions() const;
  /// Whether its symbol table, which `strip` removes, has a definition of that name, for other files or not.
  bool has_symbol(std::string_view name) const;
  /// The bytes of the section of constants, .rodata; empty if there is none.
  std::string_view constants() const;
  bool has_section(std::string_view name) const;

 private:
  std::span<const ElfW(Shdr)> sections() const;
  std::string_view bytes_of(const ElfW(Shdr) & section) const;
  /// The section of that name; null if there is none.
  const ElfW(Shdr) * section(std::string_view name) const;
  std::string_view string_at(std::uint64_t place) const;
  /// The value at an address; zeros if the file has none there.
  template <typename T>
  T value_at(std::uint64_t address) const {
    T value{};
    if (const std::byte* found = at_address(address, sizeof value)) std::memcpy(&value, found, sizeof value);
    return value;
  }
  bool is_definition(std::uint32_t number, std::string_view name) const;
  ElfW(Sym) symbol_at(std::uint32_t number) const;
  /// The number of the dynamic symbol; 0: it defines none of that name.
  std::uint32_t definition_of(std::string_view name) const;
  const std::byte* at_address(std::uint64_t address, std::size_t size) const;

  std::span<const std::byte> bytes_;
  FileIdentity identity_;
  bool has_magic_ = false;
  bool valid_ = false;
};

}  // namespace clump::image
