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
#include <unordered_set>

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

/// The address of a CodePlace that is a line of an interpreted program: the object is its name.
constexpr std::uint64_t kLine = ~std::uint64_t{0};

/// Names of lines, kept for ever; any thread. The address of a name stands for that of a call.
class LineNames {
 public:
  const char* keep(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const char* const kept = names_.emplace(name).first->c_str();
    addresses_.insert(kept);
    return kept;
  }
  /// The name that begins there; null: none does.
  const char* find(const void* address) {
    const std::lock_guard lock(mutex_);
    const auto found = addresses_.find(address);
    return found != addresses_.end() ? static_cast<const char*>(*found) : nullptr;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;
  std::unordered_set<const void*> addresses_;
};

LineNames& line_names() {
  static auto& names = *new LineNames;
  return names;
}

/// The line of Python that the calling thread is in: "solve.py:41, in step", if the call is one of its
/// interpreter, in `object`; else null.
const char* line_of_python(const char* object) {
  const fiber::Identity* const rank = fiber::identity();
  if (rank == nullptr || object == nullptr) return nullptr;
  const diag::Interpreter& interpreter = host().rank(*rank).interpreter;
  const char* const its = image::locate(reinterpret_cast<const void*>(interpreter.runtime)).object;
  if (its == nullptr || std::string_view(its) != object) return nullptr;
  pmi::FailureView::Frame frame{};
  const auto texts = std::make_unique<diag::FrameTexts>();
  if (diag::read_python(interpreter, __builtin_thread_pointer(), {&frame, 1}, *texts) == 0) return nullptr;
  if (frame.object == nullptr) return nullptr;
  const std::string_view path = frame.object;
  return line_names().keep(
      fmt::format("{}:{}, in {}", path.substr(path.rfind('/') + 1), frame.address, frame.function));
}

}  // namespace

const void* find_programs_call(const void* address) {
  if (!is_in_binding(address)) return address;
  Search search{address};
  _Unwind_Backtrace(look, &search);
  if (search.found == nullptr) return address;
  const char* const line = line_of_python(image::locate(static_cast<const char*>(search.found) - 1).object);
  return line != nullptr ? line : search.found;
}

CodePlace find_in_code(const void* address) {
  if (const char* const line = line_names().find(address); line != nullptr) return {line, kLine};
  // A return address lies behind its call, which may be the last instruction of the line.
  const void* const call = static_cast<const char*>(address) - 1;
  const image::Location location = image::locate(call);
  if (location.object == nullptr) return {nullptr, reinterpret_cast<std::uintptr_t>(address)};
  const char* const line = line_of_python(location.object);
  return line != nullptr ? CodePlace{line, kLine} : CodePlace{location.object, location.address};
}

std::string name_in_code(const CodePlace& place) {
  if (place.object == nullptr) return fmt::format("{:#x}", place.address);
  if (place.address == kLine) return place.object;
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
