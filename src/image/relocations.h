// Which words of a loaded object did ld.so fill with addresses? Its relocations tell; nothing is guessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace clump::image {

struct Object;

/// Calls `found` with the address of each such word, in no order; some come twice.
void for_each_address_word(const Object& object, const std::function<void(std::uintptr_t place)>& found);

/// Calls `found` with each stretch that ld.so copied from the variable of another object (copy relocations).
void for_each_copied_variable(const Object& object, const std::function<void(std::uintptr_t begin, std::size_t bytes)>& found);

}  // namespace clump::image
