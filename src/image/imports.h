// The symbols that a loaded object imports. For a file that is not loaded: find_import() of process_only.h.
#pragma once

#include <string_view>

#include "image/symbols.h"

namespace clump::image {

/// Whether the object imports a function, or another symbol, for whose name `is_wanted` is true.
bool imports_any(const Dynamic& object, bool (*is_wanted)(std::string_view name));

}  // namespace clump::image
