// The error classes and codes that a program adds to those of the standard (MPI-5.0 section 9.5).
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/status.h"

namespace clump::core {

/// Each rank has its own, so that the same calls give the same numbers in every rank. Any thread of the rank.
class ErrorCodes {
 public:
  /// The numbers given out start here, above every code that a base::Status can hold.
  static constexpr int kFirst = 1 << 30;
  static bool is_users(int code) { return code >= kFirst; }

  int add_class();
  /// A code of a class that the standard or the program has defined; MPI_ERR_ARG for any other.
  base::Status add_code(int error_class, int* code);
  base::Status set_text(int code, std::string text);

  /// A class can go only when none of its codes is left, and either only when it has no text any more.
  base::Status remove_class(int error_class);
  base::Status remove_code(int code);
  base::Status remove_text(int code);

  /// The class of a code of the program; nothing if there is no such code.
  std::optional<int> class_of(int code) const;
  /// The text of a code or class of the program; empty if it has none.
  std::string text_of(int code) const;
  /// The value of MPI_LASTUSEDCODE; never becomes smaller, and keeps its address (a program may hold on to
  /// it).
  int* last_used() { return &last_used_; }

 private:
  struct Entry {
    int error_class;  // of a class: itself
    std::string text;
  };
  Entry* find(int code, bool is_class);
  base::Status check_no_text(const char* argument, int code) const;

  mutable std::mutex mutex_;
  std::map<int, Entry> entries_;
  int next_ = kFirst;
  int last_used_ = MPI_ERR_LASTCODE;
};

}  // namespace clump::core
