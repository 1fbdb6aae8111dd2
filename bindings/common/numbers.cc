#include "numbers.h"

namespace clump::facade {

namespace {

constexpr int kClassMask = MPI_ERR_LASTCODE;
static_assert((kClassMask & (kClassMask + 1)) == 0,
              "the classes of the standard's ABI are the low bits of a code");
constexpr int kFirstOfProgram = 1 << 30;

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

int standard_code_of_failure(int code) {
  if (code < 0 || code >= kFirstOfProgram) return code;
  return (code & ~kClassMask) | standard(kErrorClass, code & kClassMask);
}

int program_code_of_failure(int code) {
  if (code < 0 || code >= kFirstOfProgram) return code;
  return (code & ~kClassMask) | program(kErrorClass, code & kClassMask);
}

}  // namespace clump::facade
