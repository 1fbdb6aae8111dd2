// Places in the program's code, for messages that are written inside a rank.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unwind.h>

#include <array>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "diag/libraries.h"
#include "diag/places.h"
#include "diag/python.h"
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

/// In the address of a CodePlace: it is a line of an interpreted program, and the object its source.
constexpr std::uint64_t kIsLine = std::uint64_t{1} << 63;

/// Names of sources, kept for ever; any thread.
const char* keep_name(const char* name) {
  static std::mutex one_at_a_time;
  static auto& names = *new std::set<std::string>;
  const std::lock_guard lock(one_at_a_time);
  return names.emplace(name).first->c_str();
}

/// The line of Python that the calling thread is in, if the call is one of its interpreter, in `object`.
CodePlace find_in_python(const char* object) {
  const fiber::Identity* const rank = fiber::identity();
  if (rank == nullptr) return {};
  const diag::Interpreter& interpreter = host().rank(*rank).interpreter;
  const char* const its = image::locate(reinterpret_cast<const void*>(interpreter.runtime)).object;
  if (its == nullptr || std::string_view(its) != object) return {};
  pmi::FailureView::Frame frame{};
  const auto texts = std::make_unique<diag::FrameTexts>();
  if (diag::read_python(interpreter, __builtin_thread_pointer(), {&frame, 1}, *texts) == 0) return {};
  return frame.object != nullptr ? CodePlace{keep_name(frame.object), frame.address | kIsLine} : CodePlace{};
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
  const CodePlace line = find_in_python(location.object);
  return line.object != nullptr ? line : CodePlace{location.object, location.address};
}

std::string name_in_code(const CodePlace& place) {
  if (place.object == nullptr) return fmt::format("{:#x}", place.address);
  if ((place.address & kIsLine) != 0) return fmt::format("{}:{}", place.object, place.address & ~kIsLine);
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
