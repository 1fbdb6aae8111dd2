// The cores that this process may use: those that it has begun with. Worker threads are bound to one core
// each, and threads that they make inherit that.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace clump::fiber {

/// Sets them. Once, before ranks run.
CLUMP_HOST_API void note_cores_of_process(std::vector<std::int32_t> cores);
/// How many they are; 0: unknown.
CLUMP_HOST_API int count_cores_of_process() noexcept;
/// Lets the calling kernel thread run on all of them, as each service thread does (start_kernel_thread).
void use_cores_of_process() noexcept;
/// How many helpers there are (start_helpers() in help.h).
int count_helpers() noexcept;
/// How many cores have neither a worker nor a helper, so that no thread there takes part in shared loops
/// (help.h).
CLUMP_HOST_API int count_cores_without_helper() noexcept;

}  // namespace clump::fiber
