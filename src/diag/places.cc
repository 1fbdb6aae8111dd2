#include "diag/places.h"

#include <cstdio>
#include <type_traits>

#include "diag/symbolize.h"

extern "C" __attribute__((visibility("default"))) void clump_name_place(const char* object,
                                                                        std::uint64_t address, char* text,
                                                                        std::size_t room) {
  // Never destroyed: other threads may still use it while the process ends.
  static auto& symbolizer = *new clump::diag::Symbolizer(clump::diag::Symbolizer::Search::kFileItself);
  const clump::diag::Place place = symbolizer.place({object, address});
  if (place.line > 0)
    std::snprintf(text, room, "%s:%d", place.file.c_str(), place.line);
  else
    std::snprintf(text, room, "%s", place.function.c_str());
}

static_assert(std::is_same_v<decltype(clump_name_place), clump::diag::NamePlace>);
