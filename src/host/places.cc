// Places in the program's code, for messages that are written inside a rank.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <mutex>
#include <string_view>

#include "diag/places.h"
#include "image/image.h"
#include "host/host.h"
#include "host/state.h"

namespace clump::host {

namespace {

/// Null where libclump_places.so is missing, or libdw is.
diag::NamePlace* open_library() {
  const std::string path = fmt::format("{}/{}", own_folder(), diag::kPlacesLibrary);
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<diag::NamePlace*>(::dlsym(library, diag::kNamePlace));
}

}  // namespace

CodePlace find_in_code(const void* address) {
  // A return address lies behind its call, which may be the last instruction of the line.
  const void* const call = static_cast<const char*>(address) - 1;
  const image::Location location = image::locate(call);
  if (location.object == nullptr) return {nullptr, reinterpret_cast<std::uintptr_t>(address)};
  return {location.object, location.address};
}

std::string name_in_code(const CodePlace& place) {
  if (place.object == nullptr) return fmt::format("{:#x}", place.address);
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  static diag::NamePlace* const name = open_library();
  std::array<char, 512> text{};
  if (name != nullptr) name(place.object, place.address, text.data(), text.size());
  if (text[0] != '\0') return text.data();
  const std::string_view object = place.object;
  return fmt::format("{}+{:#x}", object.substr(object.rfind('/') + 1), place.address);
}

}  // namespace clump::host
