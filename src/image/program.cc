#include "image/program.h"

#include <elf.h>

#include <algorithm>
#include <set>

#include "image/loader.h"
#include "image/objects.h"
#include "image/relocations.h"

namespace clump::image {
namespace {

void visit(Object* object, const std::set<Object*>& wanted, std::set<Object*>& seen,
           std::vector<Object*>& order) {
  if (!seen.insert(object).second) return;
  for (Object* needed : object->needed) visit(needed, wanted, seen, order);
  if (wanted.count(object) != 0) order.push_back(object);
}

bool contains(const std::vector<Object*>& objects, const Object& object) {
  return std::find(objects.begin(), objects.end(), &object) != objects.end();
}

/// The snapshot's word at an address; null if there is no address of a private object there.
const Word* word_at(const Snapshot& snapshot, std::uintptr_t place) {
  const auto found = std::lower_bound(snapshot.words.begin(), snapshot.words.end(), place,
                                      [](const Word& word, std::uintptr_t at) { return word.place < at; });
  return found != snapshot.words.end() && found->place == place ? &*found : nullptr;
}

std::uintptr_t defined_in(const Object& object, const char* name) {
  const ElfW(Sym)* symbol = object.dynamic.find(name);
  return symbol != nullptr ? reinterpret_cast<std::uintptr_t>(address_of(object.dynamic, *symbol)) : 0;
}

}  // namespace

// ld.so walks depth first, from the last object to the first, and constructs an object after all objects that
// it needs.
std::vector<Object*> construction_order(const std::vector<Object*>& objects) {
  const std::set<Object*> wanted(objects.begin(), objects.end());
  std::set<Object*> seen;
  std::vector<Object*> order;
  for (auto object = objects.rbegin(); object != objects.rend(); ++object)
    visit(*object, wanted, seen, order);
  return order;
}

Program::Program(Object& main, std::vector<Object*> all)
    : main(&main), objects(std::move(all)), construction_order(image::construction_order(objects)) {
  for (int number = 0; number < kVariables; ++number) {
    std::uintptr_t& place = variable_places_[static_cast<std::size_t>(number)];
    if (is_other()) {
      place = defined_in(main, name_of_variable(number));
      continue;
    }
    const auto original = reinterpret_cast<std::uintptr_t>(original_variable(number));
    const Object* owner = Registry::get().find(original);
    if (owner != nullptr && owner->is_private) place = original;
  }
}

bool Program::is_other() const { return main->is_template; }

bool Program::has(const Object& object) const { return contains(objects, object); }

std::uintptr_t Program::entry() const {
  // The ELF header is at the beginning of the first segment.
  return main->dynamic.base + reinterpret_cast<const ElfW(Ehdr)*>(main->begin)->e_entry;
}

const Rebinding& Program::rebinding(const Object& object) const {
  static const auto& none = *new Rebinding;
  if (!is_other()) return none;
  const std::scoped_lock hold(lock_);
  const auto [at, fresh] = rebindings_.try_emplace(object.id);
  if (fresh) at->second = bind(object);
  return at->second;
}

Rebinding Program::bind(const Object& object) const {
  Rebinding changed;
  for_each_symbolic_word(object, [&](const SymbolicWord& found) {
    const auto& [place, name, addend, number] = found;
    if (const std::uintptr_t own = defined_in(*main, name); own != 0) {
      changed.words.push_back({place, own + addend, main->id});
      return;
    }
    const Word* word = word_at(object.snapshot, place);
    if (word == nullptr) return;
    const Object& bound = Registry::get().at(word->object);
    if (!bound.is_program || &bound == main) return;
    if (const int variable = variable_at(word->target); variable >= 0) {
      changed.variable_words.push_back({place, variable});
      return;
    }
    std::uintptr_t address = 0;
    const Object* definer = definer_of(name, object, &address);
    if (definer == nullptr) {
      changed.words.push_back({place, 0, bound.id});
    } else if (definer->is_private) {
      changed.words.push_back({place, address + addend, definer->id});
    }
    // A shared library defines it and uses the main program's definition in place of its own, so all others
    // must use that, too.
  });
  // What ld.so has not found when it loaded the library is in one that came later.
  for (const Reference& reference : object.snapshot.references) {
    if (reference.bound != Reference::kNothing) continue;
    for (const Object* candidate : objects) {
      const std::uintptr_t address = defined_in(*candidate, reference.word.name);
      if (address == 0) continue;
      changed.words.push_back({reference.word.place, address + reference.word.addend, candidate->id});
      break;
    }
  }
  return changed;
}

const Object* Program::definer_of(const char* name, const Object& user, std::uintptr_t* address) const {
  const Registry& registry = Registry::get();
  const std::vector<Object*> of_user = with_needed(registry.at(user.id));
  for (int id = 0; id < registry.size(); ++id) {
    const Object& candidate = registry.at(id);
    if (candidate.is_private && !has(candidate) && !contains(of_user, candidate)) continue;
    *address = defined_in(candidate, name);
    if (*address != 0) return &candidate;
  }
  return nullptr;
}

}  // namespace clump::image
