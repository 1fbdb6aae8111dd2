// Functions that MPI-3 took away and that libraries still have.
#include "abi_library.h"
#include "callbacks.h"
#include "entry.h"

using namespace clump::facade;  // NOLINT: the functions below are of no namespace

extern "C" int facade_PMPI_Type_create_struct(int, const int*, const MPI_Aint*, const Datatype*,
                                              Datatype*) __asm__("PMPI_Type_create_struct");
extern "C" int facade_PMPI_Comm_create_errhandler(ErrorFunction<Comm>,
                                                  Errhandler*) __asm__("PMPI_Comm_create_errhandler");

CLUMP_ENTRY(int, MPI_Address, (void* location, MPI_Aint* address)) {
  return program_code(abi::Get_address()(location, address));
}
CLUMP_ENTRY(int, MPI_Type_struct,
            (int count, int* lengths, MPI_Aint* places, Datatype* types, Datatype* newtype)) {
  return facade_PMPI_Type_create_struct(count, lengths, places, types, newtype);
}
CLUMP_ENTRY(int, MPI_Type_hindexed,
            (int count, int* lengths, MPI_Aint* places, Datatype oldtype, Datatype* newtype)) {
  return program_code(
      abi::Type_create_hindexed()(count, lengths, places, standard(oldtype), Out<Datatype>(newtype)));
}
CLUMP_ENTRY(int, MPI_Type_hvector,
            (int count, int length, MPI_Aint stride, Datatype oldtype, Datatype* newtype)) {
  return program_code(
      abi::Type_create_hvector()(count, length, stride, standard(oldtype), Out<Datatype>(newtype)));
}
CLUMP_ENTRY(int, MPI_Type_extent, (Datatype datatype, MPI_Aint* extent)) {
  MPI_Aint lower = 0;
  return program_code(abi::Type_get_extent()(standard(datatype), &lower, extent));
}
CLUMP_ENTRY(int, MPI_Type_lb, (Datatype datatype, MPI_Aint* lower)) {
  MPI_Aint extent = 0;
  return program_code(abi::Type_get_extent()(standard(datatype), lower, &extent));
}
CLUMP_ENTRY(int, MPI_Type_ub, (Datatype datatype, MPI_Aint* upper)) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  const int code = abi::Type_get_extent()(standard(datatype), &lower, &extent);
  if (code == MPI_SUCCESS && upper != nullptr) *upper = lower + extent;
  return program_code(code);
}
CLUMP_ENTRY(int, MPI_Errhandler_create, (ErrorFunction<Comm> function, Errhandler* errhandler)) {
  return facade_PMPI_Comm_create_errhandler(function, errhandler);
}
CLUMP_ENTRY(int, MPI_Errhandler_get, (Comm comm, Errhandler* errhandler)) {
  return program_code(abi::Comm_get_errhandler()(standard(comm), Out<Errhandler>(errhandler)));
}
CLUMP_ENTRY(int, MPI_Errhandler_set, (Comm comm, Errhandler errhandler)) {
  return program_code(abi::Comm_set_errhandler()(standard(comm), standard(errhandler)));
}
