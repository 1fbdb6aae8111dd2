// The writable data of an object as ld.so left it: relocated, but before any constructor has run. Copies are
// made from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "image/relocations.h"

namespace clump::image {

struct Object;

/// A word that holds an address: at `place` is `target`. Both are addresses in the originals.
struct Word {
  std::uintptr_t place = 0;
  std::uintptr_t target = 0;
  std::int32_t object = 0;  ///< number of the object that `target` lies in
};

/// A word of the data with the address of one of those variables of the C library that each rank has for
/// itself.
struct VariableWord {
  std::uintptr_t place = 0;
  int variable = 0;  ///< see variables.h
};

/// A word of a template whose symbol ld.so has found in a template, or nowhere. Other ranks may have other
/// libraries open, so each copy is bound by what its rank has open (binding.h).
struct Reference {
  SymbolicWord word;
  std::int32_t bound = kNothing;  ///< number of the object to which ld.so has bound it
  static constexpr std::int32_t kNothing = -1;
};

/// A range of the file that a copy maps unchanged: code and constants.
struct CodePart {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::uint64_t file_offset = 0;
  int protection = 0;
};

/// A range of data, in whole pages. What no part covers is zero.
struct DataPart {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool mapped = false;          ///< from the store, without being touched: a long range without addresses
  std::uint64_t stored_at = 0;  ///< offset in the store
};

/// Opens the file of an object anew. MPI_ERR_ARG if another version is at its path by now.
base::Status open_file(const Object& object, int* descriptor);

class Snapshot {
 public:
  bool taken() const { return taken_; }

  /// Takes the snapshot of an object from its memory. Before any of its constructors runs, when all private
  /// objects are known. Of a template with the loader's lock held.
  base::Status take(Object& object);

  /// Reads the bytes [from, from + bytes) as they were when the snapshot was taken. Constants are read from
  /// memory, so they must not have been written since.
  void read(std::uintptr_t from, std::size_t bytes, std::byte* to) const;

  /// The words that point into private objects, in the order of their places.
  std::vector<Word> words;
  std::vector<VariableWord> variable_words;
  /// The words of the initial thread-local data; their places are relative to its beginning.
  std::vector<Word> tls_words;
  std::vector<Reference> references;  ///< of templates only
  std::vector<CodePart> code;
  std::vector<DataPart> data;
  /// The objects that `words` point into, each once; it may include the object itself.
  std::vector<std::int32_t> targets;
  /// The file from which `code` is mapped, if it is kept open: not that of a template, which ranks open by
  /// its path, and not where the process has no more descriptors. -1: open_file() opens it.
  int file = -1;
  int store = -1;                     ///< memfd from which mapped data parts are mapped
  const std::byte* stored = nullptr;  ///< the store's bytes
  std::size_t stored_bytes = 0;

 private:
  void sort_words(const Object& object);
  void list_references(const Object& object);
  void list_code(const Object& object);
  base::Status store_data(const Object& object);
  bool taken_ = false;
};

}  // namespace clump::image
