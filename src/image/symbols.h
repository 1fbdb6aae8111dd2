// The dynamic sections of loaded objects: what they export, and the definitions that the interposed functions
// hide.
//
// Nothing here calls a function that this library interposes, and nothing needs a constructor: everything
// works from the first instruction of the process on. Any thread.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace clump::image {

/// Of a symbol: the one that dlsym() and linkers take, or the one that ld.so takes for a reference that names
/// no version.
enum class Version : std::uint8_t { kDefault, kOldest };

/// The dynamic section of a loaded object, with all addresses made absolute.
struct Dynamic {
  explicit Dynamic(const link_map& map);

  std::uintptr_t base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* sysv_hash = nullptr;
  const ElfW(Half) * versions = nullptr;
  std::span<const ElfW(Rela)> relocations;
  std::span<const ElfW(Rela)> plt_relocations;
  std::span<const ElfW(Relr)> relative;
  std::span<const std::uintptr_t> preinit_array;
  std::span<const std::uintptr_t> init_array;
  std::span<const std::uintptr_t> fini_array;
  std::uintptr_t init = 0;
  std::uintptr_t fini = 0;
  const char* soname = nullptr;

  /// A symbol that this object defines; null if there is none.
  const ElfW(Sym) * find(const char* name, Version wanted = Version::kDefault) const;
  const char* name_of(const ElfW(Sym) & symbol) const { return strings + symbol.st_name; }
};

/// The version of a symbol of an object, which it has or which it asks for; null if there is none.
const char* version_of(const link_map& map, const Dynamic& object, std::size_t number);

/// The first object of ld.so's list.
const link_map* first_loaded();
/// The object of ld.so's list whose segments hold `address`; null if there is none.
const link_map* loaded_at(const void* address);

/// The address of a symbol of a loaded object; calls the resolver of an indirect function. Null for
/// thread-local variables.
void* address_of(const Dynamic& object, const ElfW(Sym) & symbol);

/// The next definition of a function after the object that holds `after`, as dlsym(RTLD_NEXT) finds it; null
/// if there is none.
void* next_definition(const char* name, const void* after);

/// Notes that all objects that are loaded now were loaded at the start. Once, by the first constructor.
void note_loaded_at_start();
/// Whether the object at an address was loaded at the start; true before note_loaded_at_start().
bool was_loaded_at_start(const void* address);

/// The first definition of a function in `map` and the objects after it; null if there is none.
void* definition_from(const char* name, const link_map* map);

/// The definition that an interposed function hides: the next one after libclump_host.so. Ends the process if
/// there is none.
void* hidden_definition(const char* name);

/// A hidden definition: Hidden<int(const char*)> real{"puts"};  real()("x"). Constant-initialised, so that it
/// can be a static variable of any function.
template <typename Function>
class Hidden {
 public:
  constexpr explicit Hidden(const char* name) : name_(name) {}

  Function* operator*() {
    // relaxed: every thread would store the same value
    void* found = __atomic_load_n(&found_, __ATOMIC_RELAXED);
    if (found == nullptr) [[unlikely]] {
      found = hidden_definition(name_);
      __atomic_store_n(&found_, found, __ATOMIC_RELAXED);
    }
    return reinterpret_cast<Function*>(found);
  }
  template <typename... Args>
  auto operator()(Args... args) {
    return (**this)(args...);
  }

 private:
  const char* name_;
  void* found_ = nullptr;
};

}  // namespace clump::image
