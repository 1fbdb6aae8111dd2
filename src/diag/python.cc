#include "diag/python.h"

#include <pthread.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>

#include "base/process.h"
#include "image/image.h"

namespace clump::diag {

namespace {

using Address = std::uintptr_t;

/// So many interpreters, threads and frames are looked through: a list that changes may lead in circles.
constexpr int kMostSteps = 4096;
constexpr std::size_t kMostName = 1024;        // bytes of a name that are shown
constexpr std::uint64_t kMostTable = 1 << 20;  // bytes of a code object's table of lines

bool read_memory(Address from, void* to, std::size_t bytes) {
  const iovec here{to, bytes}, there{reinterpret_cast<void*>(from), bytes};
  return ::process_vm_readv(base::process_id(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

/// Zero where nothing can be read, which ends what goes on from there.
template <typename Value = Address>
Value value_at(Address address) {
  Value value{};
  return read_memory(address, &value, sizeof value) ? value : Value{};
}

/// Where things lie in CPython's structures, in bytes.
struct Layout {
  Address interpreters;                          ///< in _PyRuntime
  Address next_interpreter, threads;             ///< in an interpreter
  Address next_thread, thread_id, frame;         ///< in a thread's state
  std::optional<Address> frame_in_frame_of_c;    ///< `frame` leads to a _PyCFrame, and this lies there
  Address code, previous, instruction, owner;    ///< in a frame
  Address file, name, lines, first_line, begin;  ///< in a code object
  Address text;                                  ///< an ASCII string's characters
  Address text_if_wide;                          ///< another string's
};

// From CPython's own headers (Include/internal/pycore_*.h), by offsetof(), 64 bits.
constexpr Layout k311{40, 0, 16, 8, 152, 56, 8, 32, 48, 56, 69, 112, 128, 136, 72, 184, 48, 72};
constexpr Layout k312{40, 0, 72, 8, 136, 56, 0, 0, 8, 56, 70, 112, 128, 136, 68, 192, 40, 56};

/// From 3.13 on _PyRuntime begins with a table of places (struct _Py_DebugOffsets): which of its words are
/// those of an interpreter, a thread, a frame and a code object differs.
struct TableWords {
  int interpreter, thread, frame, code;
};
constexpr TableWords k313{6, 19, 28, 34}, k314{6, 22, 31, 39};

std::optional<Layout> layout_of(Address runtime, const TableWords& at) {
  std::uint64_t table[49];
  if (!read_memory(runtime, table, sizeof table)) return {};
  const std::uint64_t free_threaded = table[2];
  if (std::string_view(reinterpret_cast<const char*>(table), 8) != "xdebugpy" || free_threaded != 0)
    return {};
  const auto word = [&](int begin, int more) { return static_cast<Address>(table[begin + more]); };
  return Layout{.interpreters = word(0, 5),
                .next_interpreter = word(at.interpreter, 2),
                .threads = word(at.interpreter, 3),
                .next_thread = word(at.thread, 2),
                .thread_id = word(at.thread, 5),
                .frame = word(at.thread, 4),
                .frame_in_frame_of_c = {},
                .code = word(at.frame, 2),
                .previous = word(at.frame, 1),
                .instruction = word(at.frame, 3),
                .owner = word(at.frame, 5),
                .file = word(at.code, 1),
                .name = word(at.code, 3),
                .lines = word(at.code, 4),
                .first_line = word(at.code, 5),
                .begin = word(at.code, 9),
                .text = k312.text,
                .text_if_wide = k312.text_if_wide};
}

std::optional<Layout> layout_of(const Interpreter& interpreter) {
  switch (interpreter.version >> 16) {
    case 0x030b:
      return k311;
    case 0x030c:
      return k312;
    case 0x030d:
      return layout_of(interpreter.runtime, k313);
    case 0x030e:
      return layout_of(interpreter.runtime, k314);
    default:
      return {};
  }
}

/// What CPython calls the thread with this thread pointer: its pthread_t, as far from the pointer as ours is
/// from our own (on x86-64 they are the same, on aarch64 not).
Address handle_of(const void* thread) {
  const auto own = reinterpret_cast<Address>(__builtin_thread_pointer());
  return thread != nullptr ? reinterpret_cast<Address>(thread) + ::pthread_self() - own : 0;
}

/// The state of a thread; of the first one if `thread` is 0. Lists begin with what came last.
Address find_thread(const Layout& layout, Address runtime, Address thread) {
  Address found = 0;
  int steps = 0;
  for (Address one = value_at(runtime + layout.interpreters); one != 0 && ++steps < kMostSteps;
       one = value_at(one + layout.next_interpreter))
    for (Address state = value_at(one + layout.threads); state != 0 && ++steps < kMostSteps;
         state = value_at(state + layout.next_thread)) {
      if (thread != 0 && value_at(state + layout.thread_id) == thread) return state;
      found = state;
    }
  return thread == 0 ? found : 0;
}

/// Reads bytes in a row.
class Bytes {
 public:
  Bytes(Address from, std::uint64_t count) : from_(from), left_(count) {}
  bool next(std::uint8_t& byte) {
    if (at_ == have_) {
      have_ = std::min<std::uint64_t>(left_, sizeof buffer_);
      if (have_ == 0 || !read_memory(from_, buffer_, have_)) return false;
      from_ += have_;
      left_ -= have_;
      at_ = 0;
    }
    byte = buffer_[at_++];
    return true;
  }
  /// A number in pieces of 6 bits, the lowest first.
  bool next_number(unsigned& number) {
    number = 0;
    std::uint8_t byte = 0;
    for (unsigned shift = 0; shift < 32; shift += 6) {
      if (!next(byte)) return false;
      number |= static_cast<unsigned>(byte & 63) << shift;
      if ((byte & 64) == 0) return true;
    }
    return false;
  }

 private:
  Address from_;
  std::uint64_t left_;
  std::uint8_t buffer_[512];
  std::uint64_t at_ = 0, have_ = 0;
};

/// The line of an instruction, by the table of its code object (CPython's Objects/locations.md): each entry
/// is for some code units, and says how the line changes there. 0: it has none.
int line_of(const Layout& layout, Address code, Address instruction) {
  int line = value_at<std::int32_t>(code + layout.first_line);
  const Address table = value_at(code + layout.lines);
  constexpr Address kSize = 16, kBytes = 32, kUnit = 2;  // in a PyBytesObject; bytes of an instruction
  Bytes entries(table + kBytes, std::min(value_at(table + kSize), kMostTable));
  const Address unit = (instruction - code - layout.begin) / kUnit;
  for (Address at = 0;;) {
    std::uint8_t first = 0, skipped = 0;
    if (!entries.next(first)) return 0;
    const int kind = first >> 3 & 15;
    unsigned number = 0;
    if (kind == 13 || kind == 14) {  // with a signed number
      if (!entries.next_number(number)) return 0;
      line += (number & 1) != 0 ? -static_cast<int>(number >> 1) : static_cast<int>(number >> 1);
      for (int i = 0; kind == 14 && i < 3; ++i)
        if (!entries.next_number(number)) return 0;
    } else if (kind < 13) {
      if (kind >= 10) line += kind - 10;
      for (int i = 0; i < (kind >= 10 ? 2 : 1); ++i)
        if (!entries.next(skipped)) return 0;
    }
    at += (first & 7) + 1;
    if (unit < at) return kind == 15 ? 0 : line;
  }
}

/// Copies a str as UTF-8, without control characters; of a long one the end. Empty: it cannot be read, or no
/// memory is left.
const char* text_of(const Layout& layout, Address string, FrameTexts& texts) {
  constexpr Address kLength = 16, kState = 32;
  const std::size_t room = sizeof texts.memory - texts.used;
  if (room <= kMostName) return "";
  char* const begin = texts.memory + texts.used;
  char* to = begin;
  const auto state = value_at<std::uint32_t>(string + kState);
  const unsigned width = state >> 2 & 7;  // of a character: 1, 2 or 4
  const bool is_ascii = (state >> 6 & 1) != 0;
  if (width != 1 && width != 2 && width != 4) return "";
  const Address all = value_at(string + kLength), length = std::min<Address>(all, kMostName / 4);
  const Address text = string + (is_ascii ? layout.text : layout.text_if_wide);
  Bytes bytes(text + (all - length) * width, length * width);
  for (Address i = 0; i < length; ++i) {
    std::uint32_t character = 0;
    for (unsigned part = 0; part < width; ++part) {
      std::uint8_t byte = 0;
      if (!bytes.next(byte)) return "";
      character |= static_cast<std::uint32_t>(byte) << 8 * part;
    }
    const auto put = [&](std::uint32_t byte) { *to++ = static_cast<char>(byte); };
    const auto more = [&](int shift) { put(0x80 | (character >> shift & 0x3f)); };
    if (character < 0x20 || (character >= 0x7f && character < 0xa0)) {
      put('?');
    } else if (character < 0x80) {
      put(character);
    } else if (character < 0x800) {
      put(0xc0 | character >> 6), more(0);
    } else if (character < 0x10000) {
      put(0xe0 | character >> 12), more(6), more(0);
    } else {
      put(0xf0 | (character >> 18 & 7)), more(12), more(6), more(0);
    }
  }
  *to = '\0';
  texts.used += static_cast<std::size_t>(to + 1 - begin);
  return begin;
}

constexpr char kUnknown[] = "Clump does not know (it knows those of 3.11 to 3.14, with a GIL)";
constexpr char kRefused[] = "cannot be read: the system refuses process_vm_readv (seccomp, as in containers)";

/// The frame that says why there is no other.
std::size_t tell_why(const char* why, std::uint32_t version, pmi::FailureView::Frame& frame,
                     FrameTexts& texts) {
  if (sizeof texts.memory - texts.used <= kMostName) return 0;
  char* const text = texts.memory + texts.used;
  char number[24] = "before 3.11";
  if (version != 0) std::snprintf(number, sizeof number, "%u.%u", version >> 24, version >> 16 & 0xff);
  const int bytes =
      std::snprintf(text, sizeof texts.memory - texts.used, "Python %s, whose lines %s", number, why);
  texts.used += static_cast<std::size_t>(bytes) + 1;
  frame = {nullptr, 0, text};
  return 1;
}

}  // namespace

void find_interpreter(Interpreter& interpreter) {
  if (interpreter.is_known.load(std::memory_order_relaxed)) return;
  const auto find = [](const char* name) { return reinterpret_cast<Address>(image::symbol_of_rank(name)); };
  interpreter.runtime = find("_PyRuntime");
  if (interpreter.runtime == 0) return;
  interpreter.code_type = find("PyCode_Type");
  const Address version = find("Py_Version");
  interpreter.version =
      version != 0 ? static_cast<std::uint32_t>(*reinterpret_cast<const unsigned long*>(version)) : 0;
  interpreter.is_known.store(true, std::memory_order_release);
}

std::size_t read_python(const Interpreter& interpreter, const void* thread,
                        std::span<pmi::FailureView::Frame> frames, FrameTexts& texts) {
  // acquire: pairs with the release in find_interpreter()
  if (!interpreter.is_known.load(std::memory_order_acquire) || frames.empty()) return 0;
  char first = 0;
  if (!read_memory(interpreter.runtime, &first, sizeof first))
    return tell_why(kRefused, interpreter.version, frames.front(), texts);
  const std::optional<Layout> known = layout_of(interpreter);
  if (!known) return tell_why(kUnknown, interpreter.version, frames.front(), texts);
  const Layout& layout = *known;
  const Address state = find_thread(layout, interpreter.runtime, handle_of(thread));
  if (state == 0) return 0;
  Address frame = value_at(state + layout.frame);
  if (layout.frame_in_frame_of_c) frame = value_at(frame + *layout.frame_in_frame_of_c);
  std::size_t count = 0;
  for (int steps = 0; frame != 0 && count < frames.size() && ++steps < kMostSteps;
       frame = value_at(frame + layout.previous)) {
    constexpr Address kType = 8, kTags = 3;          // in a PyObject; bits of a reference that are no address
    constexpr std::uint8_t kOwnedByInterpreter = 3;  // and by C, 4: no function of the program
    const Address code = value_at(frame + layout.code) & ~kTags;
    if (value_at<std::uint8_t>(frame + layout.owner) >= kOwnedByInterpreter ||
        value_at(code + kType) != interpreter.code_type)
      continue;
    const int line = line_of(layout, code, value_at(frame + layout.instruction));
    const char* const file = text_of(layout, value_at(code + layout.file), texts);
    const char* const name = text_of(layout, value_at(code + layout.name), texts);
    if (*name == '\0') break;
    frames[count++] = {file, static_cast<std::uint64_t>(std::max(line, 0)), name};
  }
  return count;
}

}  // namespace clump::diag
