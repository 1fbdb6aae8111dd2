// Places in the program's code, for messages that are written inside a rank.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unwind.h>

#include <array>
#include <mutex>
#include <string_view>

#include "diag/libraries.h"
#include "diag/places.h"
#include "host/host.h"
#include "host/state.h"
#include "image/image.h"

namespace clump::host {

namespace {

/// Null where libclump_places.so is missing, or libdw is.
diag::NamePlace* open_library() {
  const std::string path = fmt::format("{}/{}", own_folder(), diag::kPlacesLibrary);
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<diag::NamePlace*>(::dlsym(library, diag::kNamePlace));
}

bool is_in_binding(const void* return_address) {
  const image::Location location = image::locate(static_cast<const char*>(return_address) - 1);
  return location.object != nullptr && diag::is_binding(location.object);
}

/// A walk up the stack to the first caller of the one that returns to `address` that is no binding.
struct Search {
  const void* address;
  bool passed_address = false;
  const void* found = nullptr;
};

_Unwind_Reason_Code look(_Unwind_Context* context, void* argument) {
  Search& search = *static_cast<Search*>(argument);
  const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (address == search.address) search.passed_address = true;
  if (!search.passed_address || is_in_binding(address)) return _URC_NO_REASON;
  search.found = address;
  return _URC_END_OF_STACK;
}

}  // namespace

const void* find_programs_call(const void* address) {
  if (!is_in_binding(address)) return address;
  Search search{address};
  _Unwind_Backtrace(look, &search);
  return search.found != nullptr ? search.found : address;
}

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
