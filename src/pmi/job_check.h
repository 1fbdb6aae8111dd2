// Whether a description of a job can be true. Its reader takes numbers from it as indices, sizes and
// divisors, so decode() looks first: bytes that are damaged, or made by another program, end in a sentence.
#pragma once

#include <string>
#include <string_view>

#include "pmi/job.h"

namespace clump::pmi {

/// The beginning of a text that may be anything, as far as a terminal can show it.
std::string shown(std::string_view text);

/// A part of the description that cannot be, or that contradicts another one; empty: there is none. It may
/// hold anything, but for `rank_mapping`, at which this does not look.
std::string contradiction_in(const Job& job);

/// Why no process with this number (CLUMP_PROCESS) runs on the node of a job without contradictions; empty:
/// one does.
std::string why_not_here(const Job& job, int process);

}  // namespace clump::pmi
