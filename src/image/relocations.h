// Which words of a loaded object did ld.so fill with addresses? Its relocations tell; nothing is guessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/status.h"

namespace clump::image {

struct Object;

/// Calls `found` with the address of each such word, in no order; some come twice.
void for_each_address_word(const Object& object, const std::function<void(std::uintptr_t place)>& found);

/// Calls `found` with each such word that a symbol of that name, plus `addend`, was looked up for.
void for_each_symbolic_word(
    const Object& object,
    const std::function<void(std::uintptr_t place, const char* name, std::uintptr_t addend)>& found);

/// Calls `found` with each stretch that ld.so copied from the variable of another object (copy relocations).
void for_each_copied_variable(const Object& object,
                              const std::function<void(std::uintptr_t begin, std::size_t bytes)>& found);

/// Copies again what ld.so has copied from the variables of private libraries, as they were before
/// construction. Programs that are loaded late need that: ld.so copied what another program had made of it.
/// The object is a template without a snapshot yet.
base::Status repeat_copies(const Object& object);

}  // namespace clump::image
