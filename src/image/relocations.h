// Finds the words of a loaded object that ld.so has filled with addresses. Only its relocations are used;
// nothing is guessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/status.h"

namespace clump::image {

struct Object;

/// Calls `found` with the address of each such word, in no particular order; some come twice.
void for_each_address_word(const Object& object, const std::function<void(std::uintptr_t place)>& found);

/// A word for which ld.so has looked up a symbol.
struct SymbolicWord {
  std::uintptr_t place;
  const char* name;
  std::uintptr_t addend;  ///< the word holds the symbol's address plus this
  std::uint32_t number;   ///< of the object's symbol
};

void for_each_symbolic_word(const Object& object, const std::function<void(const SymbolicWord& word)>& found);

/// The same for words by which code finds a thread-local variable of another object: the number of the
/// module, or the variable's place in the module's block. What others hold (kOther) depends on ld.so.
enum class TlsPart : std::uint8_t { kModule, kOffset, kOther };
void for_each_tls_word(const Object& object,
                       const std::function<void(const SymbolicWord& word, TlsPart part)>& found);

/// Calls `found` with each range that ld.so has copied from a variable of another object (copy relocations).
void for_each_copied_variable(const Object& object,
                              const std::function<void(std::uintptr_t begin, std::size_t bytes)>& found);

/// Repeats the copies that ld.so has made of variables of private libraries, with the variables as they were
/// before construction. For a program that is loaded late, because ld.so has copied what another program had
/// made of them. The object is a template without a snapshot yet.
base::Status repeat_copies(const Object& object);

}  // namespace clump::image
