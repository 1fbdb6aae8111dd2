// getopt(), getopt_long() and getopt_long_only() with the state of each rank. Written from the description in
// POSIX and in the manual of the GNU C library, whose extensions programs rely on: operands are moved behind
// the options, "a::" takes an optional argument, a leading '+', '-' or ':' changes order and errors, and
// optind = 0 begins anew.
#include <getopt.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/rank_state.h"

namespace clump::image {
namespace {

using Order = GetoptState::Order;

enum class LongStyle { kNone, kDoubleDash, kSingleDashToo };

/// What one call sees: the arguments, and the rank's variables.
class Parser {
 public:
  Parser(Image& image, int argc, char* const* argv, const char* letters)
      : state_(image.state().getopt),
        optarg_(*image.variable(&::optarg)),
        optind_(*image.variable(&::optind)),
        optopt_(*image.variable(&::optopt)),
        argc_(argc),
        argv_(const_cast<char**>(argv)),
        letters_(letters) {
    complain_ = *image.variable(&::opterr) != 0;
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { optopt_ = state_.last_error; }  // after calls without an error, too: as in glibc

  int next(const option* long_options, int* long_index, LongStyle style) {
    if (argc_ < 1) return -1;
    optarg_ = nullptr;
    begin();
    if (state_.next == nullptr || *state_.next == '\0') {
      const int found = next_argument();
      if (found != kOption) return found;
      if (style != LongStyle::kNone) {
        const int result = try_long(long_options, long_index, style);
        if (result != kNotLong) return result;
      }
      state_.next = argv_[optind_] + 1;
    }
    return short_option(long_options, long_index);
  }

 private:
  static constexpr int kOption = -2;
  static constexpr int kNotLong = -3;

  /// Reads the signs in front of the letters, and begins with the first argument if it has to.
  void begin() {
    if (optind_ == 0 || !state_.begun) {
      if (optind_ == 0) optind_ = 1;
      state_.first_operand = state_.last_operand = optind_;
      state_.next = nullptr;
      state_.order = letters_[0] == '-'                                                ? Order::kReturn
                     : letters_[0] == '+' || std::getenv("POSIXLY_CORRECT") != nullptr ? Order::kStop
                                                                                       : Order::kPermute;
      state_.begun = true;
    }
    if (letters_[0] == '-' || letters_[0] == '+') ++letters_;
    if (letters_[0] == ':') complain_ = false;
  }

  bool is_operand(int i) const { return argv_[i][0] != '-' || argv_[i][1] == '\0'; }

  /// Moves the operands that were passed over behind the options that came after them.
  void move_operands() {
    std::rotate(argv_ + state_.first_operand, argv_ + state_.last_operand, argv_ + optind_);
    state_.first_operand += optind_ - state_.last_operand;
    state_.last_operand = optind_;
  }

  int next_argument() {
    // The program may have decreased optind.
    state_.last_operand = std::min(state_.last_operand, optind_);
    state_.first_operand = std::min(state_.first_operand, optind_);
    if (state_.order == Order::kPermute) {
      if (state_.first_operand != state_.last_operand && state_.last_operand != optind_) {
        move_operands();
      } else if (state_.last_operand != optind_) {
        state_.first_operand = optind_;
      }
      while (optind_ < argc_ && is_operand(optind_)) ++optind_;
      state_.last_operand = optind_;
    }
    if (optind_ != argc_ && std::strcmp(argv_[optind_], "--") == 0) {
      ++optind_;
      if (state_.first_operand != state_.last_operand && state_.last_operand != optind_) {
        move_operands();
      } else if (state_.first_operand == state_.last_operand) {
        state_.first_operand = optind_;
      }
      state_.last_operand = argc_;
      optind_ = argc_;
    }
    if (optind_ >= argc_) {
      optind_ = argc_;
      if (state_.first_operand != state_.last_operand) optind_ = state_.first_operand;
      return -1;
    }
    if (!is_operand(optind_)) return kOption;
    if (state_.order == Order::kStop) return -1;
    optarg_ = argv_[optind_++];
    return 1;
  }

  int missing_argument() const { return letters_[0] == ':' ? ':' : '?'; }

  int try_long(const option* options, int* index, LongStyle style) {
    char* argument = argv_[optind_];
    if (argument[1] == '-') return long_option(argument + 2, options, index, "--", style);
    // With one dash an argument is a long option only if it is longer than one letter, or is no known letter.
    if (style == LongStyle::kSingleDashToo &&
        (argument[2] != '\0' || std::strchr(letters_, argument[1]) == nullptr)) {
      return long_option(argument + 1, options, index, "-", style);
    }
    return kNotLong;
  }

  /// Of two options whose names begin with the same letters: whether they leave it open which one is meant.
  static bool differ(const option& one, const option& other, LongStyle style) {
    return style == LongStyle::kSingleDashToo || one.has_arg != other.has_arg || one.flag != other.flag ||
           one.val != other.val;
  }

  /// An option whose name begins with `name`; several only if they mean the same. -1: none, -2: several.
  static int find_long(std::string_view name, const option* options, LongStyle style) {
    int found = -1;
    for (int i = 0; options != nullptr && options[i].name != nullptr; ++i) {
      const std::string_view candidate(options[i].name);
      if (candidate == name) return i;
      if (candidate.substr(0, name.size()) != name) continue;
      if (found == -1) {
        found = i;
      } else if (found == -2 || differ(options[found], options[i], style)) {
        found = -2;
      }
    }
    return found;
  }

  /// Says that `text` may mean several options: the first of them, and those that differ from it.
  void complain_of_several(std::string_view name, const char* text, const option* options, LongStyle style,
                           const char* prefix) const {
    std::string all;
    const option* first = nullptr;
    for (; options->name != nullptr; ++options) {
      if (std::string_view(options->name).substr(0, name.size()) != name) continue;
      if (first != nullptr && !differ(*first, *options, style)) continue;
      if (first == nullptr) first = options;
      all.append(" '").append(prefix).append(options->name).append("'");
    }
    std::fprintf(stderr, "%s: option '%s%s' is ambiguous; possibilities:%s\n", argv_[0], prefix, text,
                 all.c_str());
  }

  int long_option(char* text, const option* options, int* index, const char* prefix, LongStyle style) {
    char* value = std::strchr(text, '=');
    const std::string_view name(
        text, value != nullptr ? static_cast<std::size_t>(value - text) : std::strlen(text));
    const int found = find_long(name, options, style);
    if (found < 0) {
      if (found == -1 && prefix[1] == '\0' && std::strchr(letters_, *text) != nullptr) return kNotLong;
      if (complain_ && found == -1)
        std::fprintf(stderr, "%s: unrecognized option '%s%s'\n", argv_[0], prefix, text);
      if (complain_ && found == -2) complain_of_several(name, text, options, style, prefix);
      return fail_long(0);
    }
    const option& chosen = options[found];
    if (value != nullptr) {
      if (chosen.has_arg == no_argument) {
        if (complain_) {
          std::fprintf(stderr, "%s: option '%s%s' doesn't allow an argument\n", argv_[0], prefix,
                       chosen.name);
        }
        return fail_long(chosen.val);
      }
      optarg_ = value + 1;
    } else if (chosen.has_arg == required_argument) {
      if (optind_ + 1 >= argc_) {
        if (complain_)
          std::fprintf(stderr, "%s: option '%s%s' requires an argument\n", argv_[0], prefix, chosen.name);
        fail_long(chosen.val);
        return missing_argument();
      }
      optarg_ = argv_[++optind_];
    }
    ++optind_;
    state_.next = nullptr;
    if (index != nullptr) *index = found;
    if (chosen.flag == nullptr) return chosen.val;
    *chosen.flag = chosen.val;
    return 0;
  }

  int fail_long(int value) {
    state_.last_error = value;
    ++optind_;
    state_.next = nullptr;
    return '?';
  }

  int short_option(const option* long_options, int* long_index) {
    const char letter = *state_.next++;
    const char* known = letter == ':' || letter == ';' ? nullptr : std::strchr(letters_, letter);
    if (*state_.next == '\0') ++optind_;
    if (known == nullptr) {
      if (complain_) std::fprintf(stderr, "%s: invalid option -- '%c'\n", argv_[0], letter);
      state_.last_error = letter;  // NOLINT: negative where the C library's is
      return '?';
    }
    const bool stands_for_long = known[0] == 'W' && known[1] == ';' && long_options != nullptr;
    if (known[1] != ':' && !stands_for_long) return letter;
    if (*state_.next != '\0') {
      optarg_ = state_.next;
      ++optind_;
    } else if (known[1] == ':' && known[2] == ':') {
      optarg_ = nullptr;
    } else if (optind_ >= argc_) {
      if (complain_) std::fprintf(stderr, "%s: option requires an argument -- '%c'\n", argv_[0], letter);
      state_.last_error = letter;  // NOLINT: negative where the C library's is
      state_.next = nullptr;
      return missing_argument();
    } else {
      optarg_ = argv_[optind_++];
    }
    state_.next = nullptr;
    if (!stands_for_long) return letter;
    --optind_;  // long_option() steps over the argument that holds the option
    return long_option(std::exchange(optarg_, nullptr), long_options, long_index, "-W ",
                       LongStyle::kDoubleDash);
  }

  GetoptState& state_;
  char*& optarg_;
  int& optind_;
  int& optopt_;
  int argc_;
  char** argv_;
  const char* letters_;
  bool complain_ = true;
};

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int getopt(int argc, char* const* argv, const char* letters) {
  static constinit Hidden<int(int, char* const*, const char*)> real{"getopt"};
  if (!captured()) return real(argc, argv, letters);
  return Parser(current_image(), argc, argv, letters).next(nullptr, nullptr, LongStyle::kNone);
}

CLUMP_HOST_API int __posix_getopt(int argc, char* const* argv, const char* letters) {
  static constinit Hidden<int(int, char* const*, const char*)> real{"__posix_getopt"};
  if (!captured()) return real(argc, argv, letters);
  const std::string strict = std::string("+") + letters;
  return Parser(current_image(), argc, argv, letters[0] == '+' ? letters : strict.c_str())
      .next(nullptr, nullptr, LongStyle::kNone);
}

CLUMP_HOST_API int getopt_long(int argc, char* const* argv, const char* letters, const option* options,
                               int* index) {
  static constinit Hidden<int(int, char* const*, const char*, const option*, int*)> real{"getopt_long"};
  if (!captured()) return real(argc, argv, letters, options, index);
  return Parser(current_image(), argc, argv, letters).next(options, index, LongStyle::kDoubleDash);
}

CLUMP_HOST_API int getopt_long_only(int argc, char* const* argv, const char* letters, const option* options,
                                    int* index) {
  static constinit Hidden<int(int, char* const*, const char*, const option*, int*)> real{"getopt_long_only"};
  if (!captured()) return real(argc, argv, letters, options, index);
  return Parser(current_image(), argc, argv, letters).next(options, index, LongStyle::kSingleDashToo);
}

}  // extern "C"
