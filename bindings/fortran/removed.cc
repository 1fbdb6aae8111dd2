// Procedures that MPI-3.0 has removed from the standard and that old programs call by mpif.h. They are called
// like those that have replaced them, but addresses and extents are default INTEGERs: what does not fit is
// MPI_UNDEFINED.
#include <limits>

#include "arguments.h"
#include "callbacks.h"

using namespace clump::fortran;  // NOLINT: nobody includes this file

namespace {

Integer narrow(MPI_Aint value) {
  const bool fits =
      value >= std::numeric_limits<Integer>::min() && value <= std::numeric_limits<Integer>::max();
  return fits ? static_cast<Integer>(value) : MPI_UNDEFINED;
}

/// Displacements in bytes.
class Displacements {
 public:
  Displacements(const Integer* narrow, Integer count) : all_(count) {
    for (Integer i = 0; i < count; ++i) all_[i] = narrow[i];
  }
  operator MPI_Aint*() { return all_.data(); }  // NOLINT: it is made to be an argument

 private:
  Scratch<MPI_Aint> all_;
};

}  // namespace

CLUMP_ENTRY(address, (void* location, Integer* address, Integer* ierror)) {
  MPI_Aint wide = 0;
  const int code = CLUMP_C(Get_address)(c_buffer(location), &wide);
  if (code == MPI_SUCCESS) *address = narrow(wide);
  finish(ierror, code);
}

CLUMP_ENTRY(type_extent, (Integer * datatype, Integer* extent, Integer* ierror)) {
  MPI_Aint low = 0;
  MPI_Aint wide = 0;
  const int code = CLUMP_C(Type_get_extent)(handle<MPI_Datatype>(*datatype), &low, &wide);
  if (code == MPI_SUCCESS) *extent = narrow(wide);
  finish(ierror, code);
}

CLUMP_ENTRY(type_lb, (Integer * datatype, Integer* displacement, Integer* ierror)) {
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  const int code = CLUMP_C(Type_get_extent)(handle<MPI_Datatype>(*datatype), &low, &extent);
  if (code == MPI_SUCCESS) *displacement = narrow(low);
  finish(ierror, code);
}

CLUMP_ENTRY(type_ub, (Integer * datatype, Integer* displacement, Integer* ierror)) {
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  const int code = CLUMP_C(Type_get_extent)(handle<MPI_Datatype>(*datatype), &low, &extent);
  if (code == MPI_SUCCESS) *displacement = narrow(low + extent);
  finish(ierror, code);
}

CLUMP_ENTRY(type_hvector, (Integer * count, Integer* blocklength, Integer* stride, Integer* oldtype,
                           Integer* newtype, Integer* ierror)) {
  finish(ierror, CLUMP_C(Type_create_hvector)(*count, *blocklength, *stride, handle<MPI_Datatype>(*oldtype),
                                              OutHandle<MPI_Datatype>(newtype)));
}

CLUMP_ENTRY(type_hindexed, (Integer * count, Integer* blocklengths, Integer* displacements, Integer* oldtype,
                            Integer* newtype, Integer* ierror)) {
  finish(ierror,
         CLUMP_C(Type_create_hindexed)(*count, blocklengths, Displacements(displacements, *count),
                                       handle<MPI_Datatype>(*oldtype), OutHandle<MPI_Datatype>(newtype)));
}

CLUMP_ENTRY(type_struct, (Integer * count, Integer* blocklengths, Integer* displacements, Integer* types,
                          Integer* newtype, Integer* ierror)) {
  finish(ierror,
         CLUMP_C(Type_create_struct)(*count, blocklengths, Displacements(displacements, *count),
                                     Handles<MPI_Datatype>(types, *count), OutHandle<MPI_Datatype>(newtype)));
}

CLUMP_ENTRY(errhandler_create, (ErrorFunction * function, Integer* errhandler, Integer* ierror)) {
  auto* const own = comm_error_handler(function);
  if (own == nullptr) return finish(ierror, too_many("MPI_Errhandler_create", kErrorHandlers));
  finish(ierror, CLUMP_C(Comm_create_errhandler)(own, OutHandle<MPI_Errhandler>(errhandler)));
}

CLUMP_ENTRY(errhandler_set, (Integer * comm, Integer* errhandler, Integer* ierror)) {
  finish(ierror, CLUMP_C(Comm_set_errhandler)(handle<MPI_Comm>(*comm), handle<MPI_Errhandler>(*errhandler)));
}

CLUMP_ENTRY(errhandler_get, (Integer * comm, Integer* errhandler, Integer* ierror)) {
  finish(ierror,
         CLUMP_C(Comm_get_errhandler)(handle<MPI_Comm>(*comm), OutHandle<MPI_Errhandler>(errhandler)));
}
