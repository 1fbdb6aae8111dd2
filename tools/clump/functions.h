// The functions of the standard's ABI and their chapters, as the generator lists them.
#pragma once

#include <string_view>

namespace clump::tools {

struct Function {
  std::string_view name;
  std::string_view chapter;
  bool has_body;
};

inline constexpr Function kFunctions[] = {
#include "functions.inc"
};

struct Chapter {
  std::string_view name;
  std::string_view title;
};

inline constexpr Chapter kChapters[] = {
#include "chapters.inc"
};

}  // namespace clump::tools
