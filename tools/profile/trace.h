// The calls of all ranks one by one, as Perfetto and Chrome's tracing page open them.
#pragma once

#include <cstdio>
#include <span>

#include "pmi/job.h"
#include "profile.h"
#include "read.h"

namespace clump::tools::profile {

/// How many events were written, and how many the ranks had no room for.
struct Traced {
  std::uint64_t events = 0, dropped = 0, arrows = 0;
};

/// If the file takes no more, ferror() tells.
void write_trace(std::FILE* file, std::span<const Source> sources, const pmi::Job& job,
                 const Profile& profile, Traced& traced);

}  // namespace clump::tools::profile
