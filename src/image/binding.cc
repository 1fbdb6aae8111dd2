#include "image/binding.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "image/facade.h"
#include "image/loader.h"
#include "image/objects.h"
#include "image/sentinels.h"
#include "image/symbols.h"
#include "inspect/mpi_library.h"

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
  Binder(const Object& object, const Scope& scope, UniqueSymbols& unique, Binding& binding,
         std::vector<LastBinding::One>& ones)
      : object_(object),
        scope_(scope),
        unique_(unique),
        binding_(binding),
        ones_(ones),
        symbolic_(is_symbolic(object)) {}

  base::Status run() {
    for (const Reference& reference : object_.snapshot.references) CLUMP_TRY(bind(reference));
    if (scope_.local_first) bind_deeply();
    if (Object* const facade = facade_of_rank()) bind_to(*facade);
    base::Status bound;
    for_each_tls_word(object_, [&](const SymbolicWord& word, TlsPart part) {
      if (bound.ok()) bound = bind_tls(word, part);
    });
    return bound;
  }

 private:
  /// Whether a definition has the version that the word asks for.
  bool fits(const Object& candidate, const ElfW(Sym) & symbol, const SymbolicWord& word) const {
    if (candidate.dynamic.versions == nullptr) return true;
    const char* const wanted = version_of(*object_.map, object_.dynamic, word.number);
    const char* const has = version_of(*candidate.map, candidate.dynamic,
                                       static_cast<std::size_t>(&symbol - candidate.dynamic.symbols));
    return wanted == nullptr || has == nullptr || std::strcmp(wanted, has) == 0;
  }

  /// `bound`: the number of the object in which ld.so has found the version that is asked for.
  Definition find_in(const std::vector<Object*>& objects, const SymbolicWord& word,
                     std::int32_t bound = Reference::kNothing) const {
    for (Object* const candidate : objects) {
      const ElfW(Sym)* const symbol = candidate->dynamic.find(word.name);
      if (symbol != nullptr && (candidate->id == bound || fits(*candidate, *symbol, word)))
        return {candidate, symbol};
    }
    return {};
  }

  /// The definition that the rank's scope has; of a unique symbol and of Fortran's sentinels, the one that
  /// the rank uses already.
  Definition find(const SymbolicWord& word, std::int32_t bound = Reference::kNothing) {
    Definition found;
    if (symbolic_)
      if (const ElfW(Sym)* const own = object_.dynamic.find(word.name))
        found = {&Registry::get().at(object_.id), own};
    const auto& first = scope_.local_first ? scope_.local : scope_.global;
    const auto& second = scope_.local_first ? scope_.global : scope_.local;
    if (found.object == nullptr) found = find_in(first, word, bound);
    if (found.object == nullptr) found = find_in(second, word, bound);
    const bool is_one_for_rank =
        found.object != nullptr &&
        (ELF64_ST_BIND(found.symbol->st_info) == STB_GNU_UNIQUE || (!symbolic_ && is_sentinel(word.name)));
    if (!is_one_for_rank) return found;
    const auto [at, fresh] = unique_.try_emplace(word.name, found.object);
    ones_.push_back({word.name, found.object, at->second});
    return fresh ? found : Definition{at->second, at->second->dynamic.find(word.name)};
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
    const Definition found = find(word, reference.bound);
    if (found.object == nullptr) {
      if (is_required(word)) return undefined(word);
      if (reference.bound != Reference::kNothing) binding_.values.push_back({word.place, word.addend});
      return {};
    }
    note_use(*found.object);
    if (found.object->id != reference.bound) set(word, found);
    return {};
  }

  /// Binds words that ld.so has bound to what was loaded at the start. `definition` gets the word and what it
  /// is bound to.
  template <typename Choose>
  void bind_again(Choose definition) {
    for_each_symbolic_word(object_, [&](const SymbolicWord& word) {
      std::uintptr_t address = 0;
      std::memcpy(&address, reinterpret_cast<const void*>(word.place), sizeof address);
      const Object* const bound = Registry::get().find(address - word.addend);
      if (bound == nullptr || bound->is_template) return;  // among the references, or not of a library
      const Definition found = definition(word, *bound);
      if (found.object == nullptr || !found.object->is_template) return;
      note_use(*found.object);
      set(word, found);
    });
  }

  /// RTLD_DEEPBIND: what the library and those that it needs define comes before what was loaded at the
  /// start.
  void bind_deeply() {
    bind_again([&](const SymbolicWord& word, const Object&) { return find_in(scope_.local, word); });
  }

  /// The facade in the scope of a library that names no MPI library; null: there is none. One that names some
  /// was bound when it was loaded.
  Object* facade_of_rank() const {
    if (names_mpi(*object_.map)) return nullptr;
    for (const auto& part : {with_all_needed(Registry::get().at(object_.id)), scope_.global, scope_.local}) {
      const auto mpi = std::ranges::find_if(part, [](const Object* one) {
        return one->dynamic.soname != nullptr && mpi_kind_of(one->dynamic.soname) != MpiKind::kNone &&
               !is_for_fortran(one->dynamic.soname);
      });
      if (mpi != part.end()) return is_facade_for_c(*(*mpi)->map) ? *mpi : nullptr;
    }
    return nullptr;
  }

  /// The facade comes before libmpi_abi.so.1, which would not be there in the family's own jobs.
  void bind_to(Object& facade) {
    bind_again([&](const SymbolicWord& word, const Object& bound) {
      const bool is_ours = is_of_mpi(word.name) && mpi_kind_of(bound.path) == MpiKind::kStandardAbi;
      return is_ours ? find_in({&facade}, word) : Definition();
    });
  }

  base::Status bind_tls(const SymbolicWord& word, TlsPart part) {
    const ElfW(Sym)& symbol = object_.dynamic.symbols[word.number];
    if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || ELF64_ST_VISIBILITY(symbol.st_other) != STV_DEFAULT)
      return {};
    const Definition found = find(word);
    if (found.object == nullptr) {
      // What was loaded at the start may have it, as the C library has errno.
      const bool defined = find_in(Registry::get().originals(), word).object != nullptr;
      return !defined && is_required(word) ? undefined(word) : base::Status{};
    }
    if (find_in(Registry::get().originals(), word).object != nullptr) return {};
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
  std::vector<LastBinding::One>& ones_;
  bool symbolic_;
};

/// Whether the rank uses those definitions that were used then, or would use them now as the first.
bool uses_the_same(const std::vector<LastBinding::One>& ones, const UniqueSymbols& unique) {
  return std::ranges::all_of(ones, [&](const LastBinding::One& one) {
    const auto at = unique.find(one.name);
    return at != unique.end() ? at->second == one.used : one.found == one.used;
  });
}

}  // namespace

base::Status bind_copy(Object& object, const Scope& scope, UniqueSymbols& unique,
                       std::shared_ptr<const Binding>* binding) {
  const std::size_t originals = Registry::get().originals().size();
  if (const LastBinding* const last = object.last_binding.get(); last != nullptr && last->scope == scope &&
                                                                 last->originals == originals &&
                                                                 uses_the_same(last->ones, unique)) {
    for (const LastBinding::One& one : last->ones) unique.try_emplace(one.name, one.used);
    *binding = last->binding;
    return {};
  }
  auto fresh = std::make_shared<Binding>();
  auto made = std::make_unique<LastBinding>(LastBinding{scope, originals, {}, fresh});
  CLUMP_TRY(Binder(object, scope, unique, *fresh, made->ones).run());
  *binding = std::move(fresh);
  object.last_binding = std::move(made);
  return {};
}

}  // namespace clump::image
