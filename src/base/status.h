// Status: the result of everything inside Clump that can fail.
//
// A Status is one int, an MPI error code: 0 is MPI_SUCCESS, otherwise its low 14 bits are the error class of
// the MPI standard (MPI-5.0 section 9.4) and the bits above name a text: one of the last 16,384 failures of
// this process, or one of the last that a rank's program was told of (core::ErrorCodes), which other ranks'
// failures do not displace. So a code that a program gets back still knows its own message: MPI_Error_string
// prints it.
//
// Whoever detects an error writes its message: which call's argument, its value, and what to do. The entry
// point puts the name of the call in front.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mpi.h"

namespace clump::base {

class [[nodiscard]] Status {
 public:
  static constexpr int kClassBits = 14;  // MPI_ERR_LASTCODE is 2^14 - 1
  static constexpr int kClassMask = (1 << kClassBits) - 1;

  constexpr Status() = default;
  /// `code` is MPI_SUCCESS, an error class, or a code that came from a Status.
  static constexpr Status from_code(int code) { return Status(code); }

  constexpr bool ok() const { return code_ == MPI_SUCCESS; }
  constexpr int code() const { return code_; }
  constexpr int error_class() const { return code_ & kClassMask; }

 private:
  constexpr explicit Status(int code) : code_(code) {}
  int code_ = MPI_SUCCESS;
};

/// The texts of the last failures of a process or of a rank. Any thread.
class FailureTexts {
 public:
  enum class Of : bool { kProcess, kRank };
  /// `slots`: how many texts are kept, a power of two below 2^15.
  constexpr FailureTexts(Of of, std::size_t slots) : of_(of), most_(slots) {}

  /// The code that names `text`, which is made printable.
  Status keep(int error_class, std::string text);
  /// Empty if the code is a bare class, another one's, or so old that newer failures have taken its place.
  std::string find(int code) const;

 private:
  struct Slot {
    std::uint32_t number = 0;
    std::string text;
  };
  const Of of_;
  const std::size_t most_;
  mutable std::mutex mutex_;  // guards what follows
  std::uint32_t last_number_ = 0;
  std::vector<Slot> slots_;  // grows to most_: few have many failures
};

/// Keeps `text`, made printable, for message_of() and returns the code that names it. Cold. Any thread.
[[gnu::cold]] Status fail_with_text(int error_class, std::string text);

/// fail(MPI_ERR_RANK, "dest is {}, but {} has ranks 0 to {}", ...)
template <typename... Args>
[[gnu::cold]] Status fail(int error_class, fmt::format_string<Args...> format, Args&&... args) {
  return fail_with_text(error_class, fmt::format(format, std::forward<Args>(args)...));
}

/// The text that belongs to a code of this process, as FailureTexts::find(). Any thread.
std::string message_of(int code);

/// The standard's name of a predefined error class, e.g. "MPI_ERR_RANK"; nullptr for any other number.
const char* name_of_class(int error_class);
/// One sentence that says what a predefined error class means; nullptr for any other number.
const char* meaning_of_class(int error_class);

}  // namespace clump::base

/// Returns from the calling function with the Status of `expression` if it is a failure.
#define CLUMP_TRY(expression)                                                                       \
  do {                                                                                              \
    if (::clump::base::Status clump_try_status = (expression); !clump_try_status.ok()) [[unlikely]] \
      return clump_try_status;                                                                      \
  } while (false)
