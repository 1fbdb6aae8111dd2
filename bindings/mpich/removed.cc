// Functions that MPI-3 took away and that MPICH still has, and conversions of handles and statuses that are
// functions in its newer versions. Handles of Fortran are the ints themselves.
#include "abi_library.h"
#include "callbacks.h"
#include "entry.h"

using namespace clump::mpich;  // NOLINT: the functions below are of no namespace

extern "C" int mpich_PMPI_Type_create_struct(int, const int*, const MPI_Aint*, const Datatype*,
                                             Datatype*) __asm__("PMPI_Type_create_struct");
extern "C" int mpich_PMPI_Comm_create_errhandler(ErrorFunction<Comm>,
                                                 Errhandler*) __asm__("PMPI_Comm_create_errhandler");

CLUMP_ENTRY(int, MPI_Address, (void* location, MPI_Aint* address)) {
  return program_code(abi::Get_address()(location, address));
}
CLUMP_ENTRY(int, MPI_Type_struct,
            (int count, int* lengths, MPI_Aint* places, Datatype* types, Datatype* newtype)) {
  return mpich_PMPI_Type_create_struct(count, lengths, places, types, newtype);
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
  return mpich_PMPI_Comm_create_errhandler(function, errhandler);
}
CLUMP_ENTRY(int, MPI_Errhandler_get, (Comm comm, Errhandler* errhandler)) {
  return program_code(abi::Comm_get_errhandler()(standard(comm), Out<Errhandler>(errhandler)));
}
CLUMP_ENTRY(int, MPI_Errhandler_set, (Comm comm, Errhandler errhandler)) {
  return program_code(abi::Comm_set_errhandler()(standard(comm), standard(errhandler)));
}

#define CLUMP_CONVERSIONS(name, type)                                                              \
  CLUMP_ENTRY(MPI_Fint, MPI_##name##_c2f, (type handle)) { return static_cast<MPI_Fint>(handle); } \
  CLUMP_ENTRY(type, MPI_##name##_f2c, (MPI_Fint handle)) { return static_cast<type>(handle); }     \
  CLUMP_ENTRY(int, MPI_##name##_toint, (type handle)) { return static_cast<int>(handle); }         \
  CLUMP_ENTRY(type, MPI_##name##_fromint, (int handle)) { return static_cast<type>(handle); }
CLUMP_CONVERSIONS(Comm, Comm)
CLUMP_CONVERSIONS(Errhandler, Errhandler)
CLUMP_CONVERSIONS(Group, Group)
CLUMP_CONVERSIONS(Info, Info)
CLUMP_CONVERSIONS(Message, Message)
CLUMP_CONVERSIONS(Op, Op)
CLUMP_CONVERSIONS(Request, Request)
CLUMP_CONVERSIONS(Session, Session)
CLUMP_CONVERSIONS(Type, Datatype)
CLUMP_CONVERSIONS(Win, Win)

namespace {

int number_of(File file) { return file == nullptr ? 0 : abi::File_toint()(standard(file)); }
File file_of(int number) { return number == 0 ? nullptr : program<File>(abi::File_fromint()(number)); }

int copy(const void* from, void* to) {
  if (from == nullptr || to == nullptr) return program_code(MPI_ERR_ARG);
  *static_cast<Status*>(to) = *static_cast<const Status*>(from);
  return MPI_SUCCESS;
}

}  // namespace

CLUMP_ENTRY(MPI_Fint, MPI_File_c2f, (File file)) { return number_of(file); }
CLUMP_ENTRY(File, MPI_File_f2c, (MPI_Fint file)) { return file_of(file); }
CLUMP_ENTRY(int, MPI_File_toint, (File file)) { return number_of(file); }
CLUMP_ENTRY(File, MPI_File_fromint, (int file)) { return file_of(file); }
CLUMP_ENTRY(int, MPI_Status_c2f, (const Status* from, MPI_Fint* to)) { return copy(from, to); }
CLUMP_ENTRY(int, MPI_Status_f2c, (const MPI_Fint* from, Status* to)) { return copy(from, to); }
CLUMP_ENTRY(int, MPI_Status_c2f08, (const Status* from, void* to)) { return copy(from, to); }
CLUMP_ENTRY(int, MPI_Status_f082c, (const void* from, Status* to)) { return copy(from, to); }
CLUMP_ENTRY(int, MPI_Status_f082f, (const void* from, MPI_Fint* to)) { return copy(from, to); }
CLUMP_ENTRY(int, MPI_Status_f2f08, (const MPI_Fint* from, void* to)) { return copy(from, to); }
