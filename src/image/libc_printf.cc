// Formats that a program adds to printf(), per rank. libquadmath does so for every Fortran program, in a
// constructor. The C library is told once of each letter, and asks the calling rank's functions: where a rank
// has none, what these return has the C library do as if nobody had added anything.
#include <printf.h>

#include <array>
#include <cerrno>
#include <cwchar>
#include <map>
#include <mutex>
#include <string>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"

namespace clump::image {

struct PrintfState {
  struct Specifier {
    printf_function* print = nullptr;
    printf_arginfo_size_function* arguments = nullptr;
    printf_arginfo_function* arguments_without_size = nullptr;
  };
  std::mutex lock;
  std::array<Specifier, 256> specifiers{};
};

namespace {

constexpr int kAsBefore = -2;     // of a function that prints
constexpr int kNoArguments = -1;  // of one that tells the arguments

PrintfState& mine() { return current_image().libc().printf.get(); }

PrintfState::Specifier specifier_of(const printf_info* info) {
  PrintfState* const state = current_image().libc().printf.made();
  if (state == nullptr || info->spec > 255) return {};
  const std::scoped_lock lock(state->lock);
  return state->specifiers[static_cast<std::size_t>(info->spec)];
}

int print(FILE* file, const printf_info* info, const void* const* arguments) {
  const PrintfState::Specifier its = specifier_of(info);
  return its.print != nullptr ? its.print(file, info, arguments) : kAsBefore;
}

int tell_arguments(const printf_info* info, size_t count, int* types, int* sizes) {
  const PrintfState::Specifier its = specifier_of(info);
  if (its.arguments != nullptr) return its.arguments(info, count, types, sizes);
  return its.arguments_without_size != nullptr ? its.arguments_without_size(info, count, types)
                                               : kNoArguments;
}

int add(int letter, const PrintfState::Specifier& specifier) {
  static constinit Hidden<int(int, printf_function*, printf_arginfo_size_function*)> real{
      "register_printf_specifier"};
  if (letter < 0 || letter > 255) {
    errno = EINVAL;
    return -1;
  }
  PrintfState& state = mine();
  const std::scoped_lock lock(state.lock);
  state.specifiers[static_cast<std::size_t>(letter)] = specifier;
  return real(letter, &print, &tell_arguments);
}

/// What the C library numbers, of which it has few numbers: the same for all ranks.
std::mutex numbers_lock;

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int register_printf_specifier(int letter, printf_function* print,
                                             printf_arginfo_size_function* arguments) noexcept {
  return add(letter, {print, arguments, nullptr});
}

CLUMP_HOST_API int register_printf_function(int letter, printf_function* print,
                                            printf_arginfo_function* arguments) noexcept {
  return add(letter, {print, nullptr, arguments});
}

CLUMP_HOST_API int register_printf_modifier(const wchar_t* text) noexcept {
  static constinit Hidden<int(const wchar_t*)> real{"register_printf_modifier"};
  static auto& numbers = *new std::map<std::wstring, int>;
  const std::scoped_lock lock(numbers_lock);
  const auto known = numbers.find(text);
  if (known != numbers.end()) return known->second;
  const int number = real(text);
  if (number >= 0) numbers.emplace(text, number);
  return number;
}

/// The function takes an argument from the list, and needs nothing of its rank: the first rank's serves all.
CLUMP_HOST_API int register_printf_type(printf_va_arg_function* take) noexcept {
  static constinit Hidden<int(printf_va_arg_function*)> real{"register_printf_type"};
  static auto& numbers = *new std::map<std::uintptr_t, int>;
  const std::scoped_lock lock(numbers_lock);
  auto original = reinterpret_cast<std::uintptr_t>(take);
  if (captured()) original_of(reinterpret_cast<const void*>(take), &original);
  const auto known = numbers.find(original);
  if (known != numbers.end()) return known->second;
  const int number = real(reinterpret_cast<printf_va_arg_function*>(original));
  if (number >= 0) numbers.emplace(original, number);
  return number;
}

}  // extern "C"
