// Making and freeing datatypes (MPI-5.0 sections 5.1.2 to 5.1.10). What there is to check beyond single
// arguments is checked here; the work is done by the constructors of datatype/derive.h.
#include "datatype/derive.h"

#include <algorithm>
#include <vector>

#include "core/handle_table.h"
#include "core/rank.h"
#include "mpi/attributes.h"
#include "mpi/bodies.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;
using datatype::Datatype;
using datatype::Made;

std::vector<Count> numbers(Counts values, Count count) {
  std::vector<Count> read(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < read.size(); ++i) read[i] = values[i];
  return read;
}

/// Gives the user a handle of what a constructor made.
Status give(Rank& self, Made& made, MPI_Datatype* newtype) {
  *newtype = self.add(std::move(made.type));
  return {};
}

Status check_box(int dimension, Count size, Count subsize, Count start) {
  if (size < 1)
    return base::fail(MPI_ERR_ARG, "array_of_sizes[{}] is {}, but an array has at least 1 element", dimension,
                      size);
  if (subsize < 1 || subsize > size) {
    return base::fail(MPI_ERR_ARG,
                      "array_of_subsizes[{}] is {}, but must be from 1 to the size of the array there, {}",
                      dimension, subsize, size);
  }
  if (start < 0 || start > size - subsize) {
    return base::fail(MPI_ERR_ARG, "array_of_starts[{}] is {}, but {} elements of {} can start at 0 to {}",
                      dimension, start, subsize, size, size - subsize);
  }
  return {};
}

Status check_distribution(const datatype::Distribution& distribution, std::size_t d) {
  const int kind = distribution.kinds[d], argument = distribution.arguments[d],
            processes = distribution.processes[d];
  const Count size = distribution.sizes[d];
  if (size < 1)
    return base::fail(MPI_ERR_ARG, "array_of_gsizes[{}] is {}, but an array has at least 1 element", d, size);
  if (processes < 1) {
    return base::fail(MPI_ERR_ARG,
                      "array_of_psizes[{}] is {}, but a grid has at least 1 process in a dimension", d,
                      processes);
  }
  switch (kind) {
    case MPI_DISTRIBUTE_NONE:
      if (processes == 1) return {};
      return base::fail(MPI_ERR_ARG, "array_of_psizes[{}] is {}, but must be 1 where MPI_DISTRIBUTE_NONE is",
                        d, processes);
    case MPI_DISTRIBUTE_BLOCK:
    case MPI_DISTRIBUTE_CYCLIC:
      break;
    default:
      return base::fail(
          MPI_ERR_ARG,
          "array_of_distribs[{}] is {}, but must be MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC or "
          "MPI_DISTRIBUTE_NONE",
          d, kind);
  }
  if (argument == MPI_DISTRIBUTE_DFLT_DARG) return {};
  if (argument < 1) {
    return base::fail(MPI_ERR_ARG,
                      "array_of_dargs[{}] is {}, but must be positive or MPI_DISTRIBUTE_DFLT_DARG", d,
                      argument);
  }
  if (kind == MPI_DISTRIBUTE_BLOCK && static_cast<Count>(argument) * processes < size) {
    return base::fail(MPI_ERR_ARG,
                      "array_of_dargs[{}] is {}, but {} blocks of {} do not cover the {} elements there", d,
                      argument, processes, argument, size);
  }
  return {};
}

Status check_dimensions(int ndims, int order) {
  if (ndims < 1) return base::fail(MPI_ERR_ARG, "ndims is {}, but an array has at least 1 dimension", ndims);
  if (order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN) return {};
  return base::fail(MPI_ERR_ARG, "order is {}, but must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
}

}  // namespace

Status type_contiguous(Rank& self, Count count, const Datatype& oldtype, MPI_Datatype* newtype, bool large) {
  Made made{.large = large};
  CLUMP_TRY(datatype::make_contiguous(count, oldtype, made));
  return give(self, made, newtype);
}

Status type_vector(Rank& self, Count count, Count blocklength, Count stride, const Datatype& oldtype,
                   MPI_Datatype* newtype, bool large) {
  Made made{.large = large};
  CLUMP_TRY(datatype::make_vector({count, blocklength, stride}, oldtype, made));
  return give(self, made, newtype);
}

Status type_create_hvector(Rank& self, Count count, Count blocklength, Count stride, const Datatype& oldtype,
                           MPI_Datatype* newtype, bool large) {
  Made made{.large = large};
  CLUMP_TRY(datatype::make_hvector({count, blocklength, stride}, oldtype, made));
  return give(self, made, newtype);
}

Status type_indexed(Rank& self, Count count, Counts array_of_blocklengths, Counts array_of_displacements,
                    const Datatype& oldtype, MPI_Datatype* newtype, bool large) {
  Made made{.large = large};
  CLUMP_TRY(datatype::make_indexed(numbers(array_of_blocklengths, count),
                                   numbers(array_of_displacements, count), oldtype, made));
  return give(self, made, newtype);
}

Status type_create_hindexed(Rank& self, Count count, Counts array_of_blocklengths,
                            Counts array_of_displacements, const Datatype& oldtype, MPI_Datatype* newtype,
                            bool large) {
  Made made{.large = large};
  CLUMP_TRY(datatype::make_hindexed(numbers(array_of_blocklengths, count),
                                    numbers(array_of_displacements, count), oldtype, made));
  return give(self, made, newtype);
}

Status type_create_indexed_block(Rank& self, Count count, Count blocklength, Counts array_of_displacements,
                                 const Datatype& oldtype, MPI_Datatype* newtype, bool large) {
  Made made{.large = large};
  CLUMP_TRY(datatype::make_indexed_block(blocklength, numbers(array_of_displacements, count), oldtype, made));
  return give(self, made, newtype);
}

Status type_create_hindexed_block(Rank& self, Count count, Count blocklength, Counts array_of_displacements,
                                  const Datatype& oldtype, MPI_Datatype* newtype, bool large) {
  Made made{.large = large};
  CLUMP_TRY(
      datatype::make_hindexed_block(blocklength, numbers(array_of_displacements, count), oldtype, made));
  return give(self, made, newtype);
}

Status type_create_struct(Rank& self, Count count, Counts array_of_blocklengths,
                          Counts array_of_displacements, const MPI_Datatype array_of_types[],
                          MPI_Datatype* newtype, bool large) {
  std::vector<const Datatype*> types(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < types.size(); ++i) {
    types[i] = self.datatype(array_of_types[i]);
    if (types[i] == nullptr) {
      return base::fail(MPI_ERR_TYPE, "array_of_types[{}] is {:#x}, which is no datatype or was freed", i,
                        core::value_of(array_of_types[i]));
    }
  }
  Made made{.large = large};
  CLUMP_TRY(datatype::make_struct(numbers(array_of_blocklengths, count),
                                  numbers(array_of_displacements, count), types, made));
  return give(self, made, newtype);
}

Status type_create_subarray(Rank& self, int ndims, Counts array_of_sizes, Counts array_of_subsizes,
                            Counts array_of_starts, int order, const Datatype& oldtype, MPI_Datatype* newtype,
                            bool large) {
  CLUMP_TRY(check_dimensions(ndims, order));
  const std::vector<Count> sizes = numbers(array_of_sizes, ndims),
                           subsizes = numbers(array_of_subsizes, ndims),
                           starts = numbers(array_of_starts, ndims);
  for (int d = 0; d < ndims; ++d) CLUMP_TRY(check_box(d, sizes[d], subsizes[d], starts[d]));
  Made made{.large = large};
  CLUMP_TRY(datatype::make_subarray({sizes, subsizes, starts, order}, oldtype, made));
  return give(self, made, newtype);
}

Status type_create_darray(Rank& self, int size, int rank, int ndims, Counts array_of_gsizes,
                          const int array_of_distribs[], const int array_of_dargs[],
                          const int array_of_psizes[], int order, const Datatype& oldtype,
                          MPI_Datatype* newtype, bool large) {
  CLUMP_TRY(check_dimensions(ndims, order));
  const std::vector<Count> sizes = numbers(array_of_gsizes, ndims);
  const auto length = static_cast<std::size_t>(ndims);
  const datatype::Distribution distribution{
      size, rank, sizes, {array_of_distribs, length}, {array_of_dargs, length}, {array_of_psizes, length},
      order};
  Count grid = 1;
  for (std::size_t d = 0; d < length; ++d) {
    CLUMP_TRY(check_distribution(distribution, d));
    grid = std::min<Count>(grid * array_of_psizes[d], Count{1} << 31);
  }
  if (grid != size)
    return base::fail(MPI_ERR_ARG, "size is {}, but array_of_psizes describes another number of processes",
                      size);
  if (rank < 0 || rank >= size)
    return base::fail(MPI_ERR_ARG, "rank is {}, but must be from 0 to {}", rank, size - 1);
  Made made{.large = large};
  CLUMP_TRY(datatype::make_darray(distribution, oldtype, made));
  return give(self, made, newtype);
}

Status type_create_resized(Rank& self, const Datatype& oldtype, Count lb, Count extent, MPI_Datatype* newtype,
                           bool large) {
  Made made{.large = large};
  CLUMP_TRY(datatype::make_resized(oldtype, lb, extent, made));
  return give(self, made, newtype);
}

Status type_dup(Rank& self, const Datatype& oldtype, MPI_Datatype oldtype_handle, MPI_Datatype* newtype) {
  Made made;
  CLUMP_TRY(datatype::make_dup(oldtype, made));
  const MPI_Datatype handle = self.add(std::move(made.type));
  if (const Status copied = copy_type_attributes(self, oldtype_handle, handle); !copied.ok()) {
    self.remove(handle);
    *newtype = MPI_DATATYPE_NULL;
    return copied;
  }
  *newtype = handle;
  return {};
}

Status type_commit(Rank& self, MPI_Datatype* datatype) {
  self.datatype(*datatype)->commit();
  return {};
}

Status type_free(Rank& self, MPI_Datatype* datatype) {
  const Datatype& type = *self.datatype(*datatype);
  if (type.is_basic())
    return base::fail(MPI_ERR_TYPE, "{} is predefined and cannot be freed", type.description());
  CLUMP_TRY(delete_type_attributes(self, *datatype));
  self.remove(*datatype);
  *datatype = MPI_DATATYPE_NULL;
  return {};
}

}  // namespace clump::mpi
