// A program of the job, with the objects that it needs. Images are made from it.
//
// ld.so has bound every library with the main program first in its scope. For the ranks of another program of
// an MPMD job, their own program comes first. So some words in their copies are bound again: those that hold
// an address in the main program, and those whose symbol their own program defines. What the C library itself
// uses stays bound to the main program: `stdout`, malloc().
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "image/fork_locks.h"
#include "image/snapshot.h"
#include "image/variables.h"

namespace clump::image {

struct Object;

/// The differences, in a copy of one object, from the binding that ld.so has made. A word without a
/// definition holds 0.
struct Rebinding {
  std::vector<Word> words;
  std::vector<VariableWord> variable_words;
};

class Program {
 public:
  /// `main` and the objects that it needs have their snapshots already.
  Program(Object& main, std::vector<Object*> objects);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Object* main;
  std::vector<Object*> objects;             ///< the private ones, in load order; `main` first
  std::vector<Object*> construction_order;  ///< the same, dependencies first

  /// Whether it is not the program that ld.so has started.
  bool is_other() const;
  bool has(const Object& object) const;
  /// The place in the originals where this program has one of the C library's variables; 0 if it refers to
  /// the C library's own.
  std::uintptr_t variable_place(int number) const {
    return variable_places_[static_cast<std::size_t>(number)];
  }
  /// How copies of `object` are bound for this program, if it is not the main program. Any thread.
  const Rebinding& rebinding(const Object& object) const;
  /// The program's entry point, at which the kernel would start it, in the originals.
  std::uintptr_t entry() const;

 private:
  Rebinding bind(const Object& object) const;
  /// The first definition if the main program is left out; null if there is none.
  const Object* definer_of(const char* name, const Object& user, std::uintptr_t* address) const;

  std::array<std::uintptr_t, kVariables> variable_places_{};
  mutable ForkMutex lock_;
  mutable std::map<std::int32_t, Rebinding> rebindings_;  // by object number
};

/// Private objects, dependencies first, in the order in which ld.so runs constructors.
std::vector<Object*> construction_order(const std::vector<Object*>& objects);

}  // namespace clump::image
