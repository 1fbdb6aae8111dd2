// The locale that a rank has set with setlocale().
#pragma once

namespace clump::image {

/// Gives the rank's locale to the calling thread, which the rank has just made.
void use_rank_locale();

}  // namespace clump::image
