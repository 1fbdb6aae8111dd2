// Words that users have mistyped.
#pragma once

#include <string_view>
#include <vector>

namespace clump::tools {

/// The one of `known` that `word` was probably meant to be; empty if none is near.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace clump::tools
