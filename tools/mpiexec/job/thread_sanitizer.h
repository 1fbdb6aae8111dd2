// Programs built with -fsanitize=thread: what its run-time library is told when a job begins.
#pragma once

#include <string>
#include <vector>

namespace clump::mpiexec {

/// Whether ThreadSanitizer's is among the run-time libraries that are preloaded.
bool is_thread_sanitizer(const std::vector<std::string>& preload);

/// TSAN_OPTIONS for a process of the job: those of the user, `options`, and suppressions: the user's, and the
/// library's own. It was built without the sanitizer, which sees some of its copies between ranks (memcpy),
/// but not what orders them. The suppressions are in a file without a name; `descriptor` is to be left open
/// for the process, and is -1 if the options stay as they are.
std::string thread_sanitizer_options(const std::string& options, int& descriptor);

}  // namespace clump::mpiexec
