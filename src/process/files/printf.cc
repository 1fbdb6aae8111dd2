// Formats that a program adds to printf(), kept for each rank. libquadmath adds some in every Fortran
// program, in a constructor. Each letter is registered with the C library once, with functions that call
// those of the calling rank. If a rank has none, their results make the C library behave as if nothing had
// been added.
#include <printf.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cwchar>
#include <mutex>

#include "base/types.h"
#include "image/fork_locks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/rank_state.h"

namespace clump::image {

struct PrintfState {
  struct Specifier {
    printf_function* print = nullptr;
    printf_arginfo_size_function* arguments = nullptr;
    printf_arginfo_function* arguments_without_size = nullptr;
  };
  ForkMutex lock;
  std::array<Specifier, 256> specifiers{};
};

namespace {

constinit PerRank<PrintfState> kept;

constexpr int kAsBefore = -2;     // the result of a function that prints
constexpr int kNoArguments = -1;  // the result of a function that describes the arguments

/// For threads that belong to no copy, and for constructors before there are ranks: making a PrintfState
/// allocates.
constinit PrintfState of_native;

PrintfState& mine() {
  Image& image = current_image();
  return image.native() ? of_native : kept.of(image);
}

PrintfState::Specifier specifier_of(const printf_info* info) {
  Image& image = current_image();
  PrintfState* const state = image.native() ? &of_native : kept.made_of(image);
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
  {
    const std::scoped_lock lock(state.lock);
    state.specifiers[static_cast<std::size_t>(letter)] = specifier;
  }
  return real(letter, &print, &tell_arguments);
}

/// Numbers that the C library gives out, at most `kMost`: the same for all ranks. Uses no heap, because
/// constructors call this before there are ranks.
template <std::size_t kMost>
class Numbers {
 public:
  /// The number of the object with this key; `make` asks the C library for a new one. It may allocate, so no
  /// lock is held.
  template <typename Make>
  int of(std::uint64_t key, Make make) {
    if (const int known = find(key); known >= 0) return known;
    const int number = make();
    return number >= 0 ? add(key, number) : number;
  }

 private:
  struct Entry {
    std::uint64_t key = 0;
    int number = 0;
  };

  /// The number of a key; -1 if there is none.
  int find(std::uint64_t key) {
    const std::scoped_lock lock(lock_);
    return find_locked(key);
  }
  int find_locked(std::uint64_t key) const {
    for (std::size_t i = 0; i < used_; ++i)
      if (all_[i].key == key) return all_[i].number;
    return -1;
  }
  /// Adds a number. If another thread has added one for the key meanwhile, that one stays.
  int add(std::uint64_t key, int number) {
    const std::scoped_lock lock(lock_);
    if (const int known = find_locked(key); known >= 0) return known;
    if (used_ < kMost) all_[used_++] = {key, number};
    return number;
  }

  ForkMutex lock_;
  std::array<Entry, kMost> all_{};
  std::size_t used_ = 0;
};

constinit Numbers<16> modifiers;  // one bit each in printf_info::user
constinit Numbers<256> types;     // PA_FLAG_MASK has 256

/// The FNV-1a hash.
std::uint64_t hash_of(const wchar_t* text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (; *text != L'\0'; ++text) hash = (hash ^ static_cast<std::uint64_t>(*text)) * 0x100000001b3;
  return hash;
}

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
  return modifiers.of(hash_of(text), [=] { return real(text); });
}

/// The function only takes an argument from the list, and needs nothing of its rank: the first rank's serves
/// all ranks.
CLUMP_HOST_API int register_printf_type(printf_va_arg_function* take) noexcept {
  static constinit Hidden<int(printf_va_arg_function*)> real{"register_printf_type"};
  auto original = reinterpret_cast<std::uintptr_t>(take);
  if (captured()) original_of(reinterpret_cast<const void*>(take), &original);
  return types.of(original, [=] { return real(reinterpret_cast<printf_va_arg_function*>(original)); });
}

}  // extern "C"
