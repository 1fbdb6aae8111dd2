#include "job/thread_sanitizer.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/memory_file.h"
#include "common/text_file.h"

namespace clump::mpiexec {

namespace {

constexpr std::string_view kOption = "suppressions=", kSeparators = " ,:\n\t\r";

/// The file that the user's options name; empty if there is none.
std::string file_in(const std::string& options) {
  for (std::size_t at = options.find(kOption); at != std::string::npos; at = options.find(kOption, at + 1)) {
    if (at != 0 && kSeparators.find(options[at - 1]) == std::string_view::npos) continue;
    const std::string value = options.substr(at + kOption.size());
    const bool is_quoted = value.starts_with('"') || value.starts_with('\'');
    return is_quoted ? value.substr(1, value.find(value[0], 1) - 1)
                     : value.substr(0, value.find_first_of(kSeparators));
  }
  return {};
}

}  // namespace

bool is_thread_sanitizer(const std::vector<std::string>& preload) {
  return std::ranges::any_of(preload, [](const std::string& path) {
    return path.substr(path.rfind('/') + 1).starts_with("libtsan.so");
  });
}

std::string thread_sanitizer_options(const std::string& options, int& descriptor) {
  descriptor = -1;
  // Calls of MPI, and nothing of the program but what MPI calls.
  std::string lines = "race:libmpi_abi.so\n";
  if (const std::string path = file_in(options); !path.empty()) {
    std::string text, why;
    if (!tools::read_file(path, text, why)) return options;  // the run-time library will say so
    lines += text;
  }
  const int made = base::memory_file("clump-suppressions");
  if (made < 0) return options;
  if (::write(made, lines.data(), lines.size()) != static_cast<ssize_t>(lines.size())) {
    ::close(made);
    return options;
  }
  descriptor = made;
  // The last one counts.
  return fmt::format("{}{}suppressions=/proc/self/fd/{}", options, options.empty() ? "" : ":", made);
}

}  // namespace clump::mpiexec
