// The constructors of derived datatypes (MPI-5.0 sections 5.1.2 to 5.1.5 and 5.1.8, 5.1.10).
//
// Counts and block lengths must not be negative and the arrays must fit each other: the callers check their
// arguments. What can fail here is arithmetic: a type whose size or bounds do not fit into MPI_Count is
// MPI_ERR_COUNT.
#pragma once

#include <span>

#include "datatype/datatype.h"

namespace clump::datatype {

/// Where the new type is put, and whether its procedure was one with large counts (which
/// MPI_Type_get_envelope tells).
struct Made {
  Ref type;
  bool large = false;
};

base::Status make_contiguous(Count count, const Datatype& old, Made& made);
base::Status make_dup(const Datatype& old, Made& made);
base::Status make_resized(const Datatype& old, Count lb, Count extent, Made& made);

/// Equally spaced blocks. `stride` in extents of the old type, or in bytes (hvector).
struct Blocks {
  Count count;
  Count length;
  Count stride;
};
base::Status make_vector(const Blocks& blocks, const Datatype& old, Made& made);
base::Status make_hvector(const Blocks& blocks, const Datatype& old, Made& made);

/// Displacements in extents of the old type, or in bytes (hindexed).
base::Status make_indexed(std::span<const Count> lengths, std::span<const Count> displacements,
                          const Datatype& old, Made& made);
base::Status make_hindexed(std::span<const Count> lengths, std::span<const Count> displacements,
                           const Datatype& old, Made& made);
base::Status make_indexed_block(Count length, std::span<const Count> displacements, const Datatype& old,
                                Made& made);
base::Status make_hindexed_block(Count length, std::span<const Count> displacements, const Datatype& old,
                                 Made& made);
base::Status make_struct(std::span<const Count> lengths, std::span<const Count> displacements,
                         std::span<const Datatype* const> types, Made& made);

/// A box inside an array. All three have one number per dimension; `order` is MPI_ORDER_C or
/// MPI_ORDER_FORTRAN.
struct Box {
  std::span<const Count> sizes;
  std::span<const Count> subsizes;
  std::span<const Count> starts;
  int order;
};
base::Status make_subarray(const Box& box, const Datatype& old, Made& made);

/// The part of an array that process `rank` of a grid of `size` processes has (MPI-5.0 section 5.1.4). The
/// spans have one number per dimension: extent of the array, MPI_DISTRIBUTE_BLOCK, _CYCLIC or _NONE, block
/// length or MPI_DISTRIBUTE_DFLT_DARG, processes.
struct Distribution {
  int size;
  int rank;
  std::span<const Count> sizes;
  std::span<const int> kinds;
  std::span<const int> arguments;
  std::span<const int> processes;
  int order;
};
base::Status make_darray(const Distribution& distribution, const Datatype& old, Made& made);

}  // namespace clump::datatype
