// The handle of a datatype that a function of the program gets: a reduction function, or the conversion
// functions of a data representation.
#pragma once

#include "datatype/datatype.h"

namespace clump::core {

class Rank;

/// A handle that names the type as long as this lives, whatever the program frees meanwhile, on any thread:
/// an operation that has begun goes on with a type that was freed (MPI-5.0 section 5.1.9). It is the handle
/// that the program has, if that still names the type, and otherwise one that ends with this.
class LentHandle {
 public:
  /// `programs`: the handle that the program has given for the type; MPI_DATATYPE_NULL: there is none.
  LentHandle(Rank& rank, const datatype::Datatype& type, MPI_Datatype programs = MPI_DATATYPE_NULL);
  ~LentHandle();
  LentHandle(const LentHandle&) = delete;
  LentHandle& operator=(const LentHandle&) = delete;

  MPI_Datatype handle;  ///< the program may overwrite it

 private:
  enum class Way : std::uint8_t { kPredefined, kPrograms, kOwn };
  Rank& rank_;
  MPI_Datatype handle_;
  Way way_;
};

}  // namespace clump::core
