#include "image/binding.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "image/objects.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

struct Definition {
  Object* object = nullptr;
  const ElfW(Sym) * symbol = nullptr;
};

/// Whether the library's own definitions come before all others (ld -Bsymbolic).
bool is_symbolic(const Object& object) {
  for (const ElfW(Dyn)* entry = object.map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMBOLIC) return true;
    if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_SYMBOLIC) != 0) return true;
  }
  return false;
}

class Binder {
 public:
  Binder(const Object& object, const Scope& scope, UniqueSymbols& unique, Binding& binding)
      : object_(object), scope_(scope), unique_(unique), binding_(binding), symbolic_(is_symbolic(object)) {}

  base::Status run() {
    for (const Reference& reference : object_.snapshot.references) CLUMP_TRY(bind(reference));
    if (scope_.local_first) bind_deeply();
    base::Status bound;
    for_each_tls_word(object_, [&](const SymbolicWord& word, TlsPart part) {
      if (bound.ok()) bound = bind_tls(word, part);
    });
    return bound;
  }

 private:
  static Definition find_in(const std::vector<Object*>& objects, const char* name) {
    for (Object* const candidate : objects) {
      if (const ElfW(Sym)* const symbol = candidate->dynamic.find(name)) return {candidate, symbol};
    }
    return {};
  }

  /// The definition that the rank's scope has; of a unique symbol, the one that the rank uses already.
  Definition find(const char* name) {
    Definition found;
    if (symbolic_)
      if (const ElfW(Sym)* const own = object_.dynamic.find(name))
        found = {&Registry::get().at(object_.id), own};
    const auto& first = scope_.local_first ? scope_.local : scope_.global;
    const auto& second = scope_.local_first ? scope_.global : scope_.local;
    if (found.object == nullptr) found = find_in(first, name);
    if (found.object == nullptr) found = find_in(second, name);
    if (found.object == nullptr || ELF64_ST_BIND(found.symbol->st_info) != STB_GNU_UNIQUE) return found;
    const auto [at, fresh] = unique_.try_emplace(name, found.object);
    return fresh ? found : Definition{at->second, at->second->dynamic.find(name)};
  }

  base::Status undefined(const SymbolicWord& word) const {
    return base::fail(MPI_ERR_ARG, "{}: undefined symbol: {}", object_.path, word.name);
  }

  bool is_required(const SymbolicWord& word) const {
    return word.number < object_.required.size() && object_.required[word.number];
  }

  void note_use(Object& used) {
    if (used.is_template && &used != &object_ &&
        std::find(binding_.uses.begin(), binding_.uses.end(), &used) == binding_.uses.end())
      binding_.uses.push_back(&used);
  }

  void set(const SymbolicWord& word, const Definition& found) {
    const auto address = reinterpret_cast<std::uintptr_t>(address_of(found.object->dynamic, *found.symbol));
    if (found.object->is_private) {
      binding_.words.push_back({word.place, address + word.addend, found.object->id});
    } else {
      binding_.values.push_back({word.place, address + word.addend});
    }
  }

  base::Status bind(const Reference& reference) {
    const SymbolicWord& word = reference.word;
    const Definition found = find(word.name);
    if (found.object == nullptr) {
      if (is_required(word)) return undefined(word);
      if (reference.bound != Reference::kNothing) binding_.values.push_back({word.place, word.addend});
      return {};
    }
    note_use(*found.object);
    if (found.object->id != reference.bound) set(word, found);
    return {};
  }

  /// RTLD_DEEPBIND: what the library and those that it needs define comes before what was loaded at the
  /// start.
  void bind_deeply() {
    for_each_symbolic_word(object_, [&](const SymbolicWord& word) {
      std::uintptr_t address = 0;
      std::memcpy(&address, reinterpret_cast<const void*>(word.place), sizeof address);
      const Object* const bound = Registry::get().find(address - word.addend);
      if (bound == nullptr || bound->is_template) return;  // among the references, or not of a library
      const Definition found = find_in(scope_.local, word.name);
      if (found.object == nullptr || !found.object->is_template) return;
      note_use(*found.object);
      set(word, found);
    });
  }

  base::Status bind_tls(const SymbolicWord& word, TlsPart part) {
    const ElfW(Sym)& symbol = object_.dynamic.symbols[word.number];
    if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || ELF64_ST_VISIBILITY(symbol.st_other) != STV_DEFAULT)
      return {};
    const Definition found = find(word.name);
    if (found.object == nullptr) {
      // What was loaded at the start may have it, as the C library has errno.
      const bool defined = find_in(Registry::get().originals(), word.name).object != nullptr;
      return !defined && is_required(word) ? undefined(word) : base::Status{};
    }
    if (find_in(Registry::get().originals(), word.name).object != nullptr) return {};
    note_use(*found.object);
    if (part == TlsPart::kModule) binding_.values.push_back({word.place, found.object->tls_module});
    if (part == TlsPart::kOffset)
      binding_.values.push_back({word.place, found.symbol->st_value + word.addend});
    return {};
  }

  const Object& object_;
  const Scope& scope_;
  UniqueSymbols& unique_;
  Binding& binding_;
  bool symbolic_;
};

}  // namespace

base::Status bind_copy(const Object& object, const Scope& scope, UniqueSymbols& unique, Binding* binding) {
  return Binder(object, scope, unique, *binding).run();
}

}  // namespace clump::image
