// A program of the job, with what it needs. Images are made from it.
//
// ld.so has bound every library with the main program first in its scope. For the ranks of another program of
// an MPMD job their own program comes first, so some words of their copies are bound anew: those that hold an
// address in the main program, and those whose symbol their own program defines. What the C library itself
// uses stays the main program's: `stdout`, malloc().
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "image/snapshot.h"
#include "image/variables.h"

namespace clump::image {

struct Object;

/// What differs, in a copy of one object, from the binding that ld.so chose. A word without a definition
/// holds 0.
struct Rebinding {
  std::vector<Word> words;
  std::vector<VariableWord> variable_words;
};

class Program {
 public:
  /// `main` and the objects it needs have their snapshots.
  Program(Object& main, std::vector<Object*> objects);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Object* main;
  std::vector<Object*> objects;             ///< private ones, in load order; `main` first
  std::vector<Object*> construction_order;  ///< the same, dependencies first

  /// Not the program that ld.so started.
  bool is_other() const;
  bool has(const Object& object) const;
  /// Where in the originals this program holds one of the C library's variables; 0 if it refers to the C
  /// library's own.
  std::uintptr_t variable_place(int number) const {
    return variable_places_[static_cast<std::size_t>(number)];
  }
  /// How copies of `object` are bound for this program, if it is another than the main one. Any thread.
  const Rebinding& rebinding(const Object& object) const;
  /// The address of the program's own code that the kernel would start, in the originals.
  std::uintptr_t entry() const;

 private:
  Rebinding bind(const Object& object) const;
  /// The definition that comes first when the main program is left out; null if there is none.
  const Object* definer_of(const char* name, const Object& user, std::uintptr_t* address) const;

  std::array<std::uintptr_t, kVariables> variable_places_{};
  mutable std::mutex lock_;
  mutable std::map<std::int32_t, Rebinding> rebindings_;  // by object number
};

/// Dependencies first, in the order in which ld.so runs constructors; private objects only.
std::vector<Object*> construction_order(const std::vector<Object*>& objects);

}  // namespace clump::image
