#include "numbers.h"

#include <atomic>

#include "family.h"

namespace clump::facade {

namespace {

constexpr int kClassMask = MPI_ERR_LASTCODE;
static_assert((kClassMask & (kClassMask + 1)) == 0,
              "the classes of the standard's ABI are the low bits of a code");
constexpr int kFirstOfProgram = 1 << 30;
constexpr int kClasses = 128;  ///< more than the standard's ABI has

/// By the standard's class: the code of the rank's last failure. MPI_Error_string() then has the text of the
/// failure that it asks about, unless another thread of the rank has had one of the same class since. Any
/// thread of the rank. Not thread-local: the facade needs no library but the C library.
std::atomic<int> last_codes[kClasses];

}  // namespace

int standard(const Table& table, int value) {
  bool is_taken = false;
  for (std::size_t i = 0; i < table.count; ++i) {
    if (table.pairs[i].program == value) return table.pairs[i].standard;
    is_taken = is_taken || table.pairs[i].standard == value;
  }
  return is_taken ? INT_MIN / 2 : value;
}

int program(const Table& table, int value) {
  for (std::size_t i = 0; i < table.count; ++i) {
    if (table.pairs[i].standard == value) return table.pairs[i].program;
  }
  return value;
}

int standard_bits(const Table& table, int value) {
  int bits = 0;
  for (std::size_t i = 0; i < table.count; ++i) {
    if ((value & table.pairs[i].program) != 0) bits |= table.pairs[i].standard;
  }
  return bits;
}

int program_bits(const Table& table, int value) {
  int bits = 0;
  for (std::size_t i = 0; i < table.count; ++i) {
    if ((value & table.pairs[i].standard) != 0) bits |= table.pairs[i].program;
  }
  return bits;
}

int standard_class(int error_class) {
  if (error_class < 0 || error_class >= kFirstOfProgram) return error_class;
  return (error_class & ~kClassMask) | standard(kErrorClass, error_class & kClassMask);
}

int program_class(int error_class) {
  if (error_class < 0 || error_class >= kFirstOfProgram) return error_class;
  return (error_class & ~kClassMask) | program(kErrorClass, error_class & kClassMask);
}

int standard_code_of_failure(int code) {
  const int found = standard_class(code);
  if constexpr (kCodesAreClasses)
    if (found > 0 && found < kClasses)
      if (const int last = last_codes[found].load(std::memory_order_relaxed); last != 0) return last;
  return found;
}

int program_code_of_failure(int code) {
  const int error_class = code & kClassMask;
  if (!kCodesAreClasses || code < 0 || code >= kFirstOfProgram || error_class >= kClasses)
    return program_class(code);
  last_codes[error_class].store(code, std::memory_order_relaxed);
  return program_class(error_class);
}

}  // namespace clump::facade
