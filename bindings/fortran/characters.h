// CHARACTER arguments: without a final zero, and padded with blanks. They come with a hidden length from `use
// mpi` and mpif.h, and in a descriptor from `use mpi_f08`.
#pragma once

#include <cstring>
#include <string_view>

#include "descriptor.h"
#include "entry.h"
#include "scratch.h"

namespace clump::fortran {

/// What is left of a string without the blanks at its end.
inline long trimmed(const char* text, long length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  return length;
}

/// A string without the blanks at both ends, as those of info objects (MPI-5.0 section 10.2) and of command
/// lines (11.8.2).
inline std::string_view stripped(const char* text, long length) {
  length = trimmed(text, length);
  while (length > 0 && *text == ' ') ++text, --length;
  return {text, static_cast<std::size_t>(length)};
}

/// A string that is read: without the blanks at its end, with a final zero.
class InString {
 public:
  InString(const char* text, Length length) : text_(trimmed(text, static_cast<long>(length)) + 1) {
    const long size = trimmed(text, static_cast<long>(length));
    std::memcpy(text_.data(), text, static_cast<std::size_t>(size));
    text_[size] = '\0';
  }
  explicit InString(const Descriptor* text)
      : InString(static_cast<const char*>(text->address), text->element_size) {}
  operator const char*() { return text_.data(); }  // NOLINT

 private:
  Scratch<char> text_;
};

/// The same without the blanks at both ends.
class InStripped : public InString {
 public:
  InStripped(const char* text, Length length) : InStripped(stripped(text, static_cast<long>(length))) {}
  explicit InStripped(const Descriptor* text)
      : InStripped(static_cast<const char*>(text->address), text->element_size) {}

 private:
  explicit InStripped(std::string_view text) : InString(text.data(), text.size()) {}
};

inline void pad(char* target, Length length, const char* text) {
  const std::size_t size = strnlen(text, length);
  std::memcpy(target, text, size);
  std::memset(target + size, ' ', length - size);
}

/// A string that is written: C gets `size` bytes, Fortran as many as it has, with blanks behind. If the
/// function writes nothing, Fortran's string is as it was.
class OutString {
 public:
  OutString(char* target, Length length, long size) : target_(target), length_(length), text_(size) {
    text_[0] = kNothing;
    text_[1] = '\0';
  }
  OutString(const Descriptor* target, long size)
      : OutString(static_cast<char*>(target->address), target->element_size, size) {}
  ~OutString() {
    if (text_[0] != kNothing || text_[1] != '\0') pad(target_, length_, text_.data());
  }
  OutString(const OutString&) = delete;
  OutString& operator=(const OutString&) = delete;
  operator char*() { return text_.data(); }  // NOLINT

 private:
  static constexpr char kNothing = '\x01';
  char* target_;
  Length length_;
  Scratch<char> text_;
};

}  // namespace clump::fortran
