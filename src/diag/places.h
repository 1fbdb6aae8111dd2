// libclump_places.so: names places in the code for messages that are written inside a rank. It is a library
// of its own, opened when the first such message is written, because it needs libdw, which programs shall not
// have to load.
#pragma once

#include <cstddef>
#include <cstdint>

namespace clump::diag {

/// Writes "file:line", or the function's name, or nothing, as far as it is known, as a C string into `text`.
/// `address` is relative to the file `object`. One thread at a time.
using NamePlace = void(const char* object, std::uint64_t address, char* text, std::size_t room);
inline constexpr const char* kPlacesLibrary = "libclump_places.so";
inline constexpr const char* kNamePlace = "clump_name_place";

}  // namespace clump::diag
