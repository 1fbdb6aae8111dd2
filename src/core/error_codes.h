// The error classes and codes that a program adds to those of the standard (MPI-5.0 section 9.5), and the
// codes that it gets of the library's failures.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/status.h"

namespace clump::core {

/// The classes and codes of one rank. Each rank has its own, so that the same calls give the same numbers in
/// every rank. Any thread of the rank.
class ErrorCodes {
 public:
  /// The first number that is given out, above every code that a base::Status can hold.
  static constexpr int kFirst = 1 << 30;
  static bool is_users(int code) { return code >= kFirst; }

  int add_class();
  /// Adds a code to a class that the standard or the program has defined; MPI_ERR_ARG for any other class.
  base::Status add_code(int error_class, int* code);
  base::Status set_text(int code, std::string text);

  /// Removes a class, if none of its codes is left. A class or a code can be removed only if it has no text
  /// any more.
  base::Status remove_class(int error_class);
  base::Status remove_code(int code);
  base::Status remove_text(int code);

  /// The class of a code of the program; nothing if there is no such code.
  std::optional<int> class_of(int code) const;
  /// A code that the program gets of a failure of the library.
  base::Status tell(int error_class, std::string text) { return told_.keep(error_class, std::move(text)); }
  /// The text of any code or class; empty if it has none (any more).
  std::string text_of(int code) const;
  /// The place of MPI_LASTUSEDCODE's value. The value never becomes smaller, and the place stays the same, as
  /// a program may keep its address.
  int* last_used() { return &last_used_; }

 private:
  struct Entry {
    int error_class;  // of a class: its own number
    std::string text;
  };
  static constexpr std::size_t kToldTexts = 1024;
  Entry* find(int code, bool is_class);
  base::Status check_no_text(const char* argument, int code) const;

  base::FailureTexts told_{base::FailureTexts::Of::kRank, kToldTexts};
  mutable std::mutex mutex_;  // guards what follows
  std::map<int, Entry> entries_;
  int next_ = kFirst;
  int last_used_ = MPI_ERR_LASTCODE;
};

}  // namespace clump::core
