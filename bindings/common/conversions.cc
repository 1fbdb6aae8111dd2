// Conversions of handles and statuses between languages, and between handles and ints. The program's status
// is Fortran's, too.
#include "conversions.h"

#include "arguments.h"
#include "entry.h"

using namespace clump::facade;  // NOLINT: the functions below are of no namespace

namespace {

int copy(const void* from, void* to) {
  if (from == nullptr || to == nullptr) return program_code(MPI_ERR_ARG);
  *static_cast<Status*>(to) = *static_cast<const Status*>(from);
  return MPI_SUCCESS;
}

}  // namespace

#define CLUMP_CONVERSIONS(name, type)                                                        \
  CLUMP_ENTRY(MPI_Fint, MPI_##name##_c2f, (type handle)) { return number_of(handle); }       \
  CLUMP_ENTRY(type, MPI_##name##_f2c, (MPI_Fint handle)) { return handle_of<type>(handle); } \
  CLUMP_ENTRY(int, MPI_##name##_toint, (type handle)) { return number_of(handle); }          \
  CLUMP_ENTRY(type, MPI_##name##_fromint, (int handle)) { return handle_of<type>(handle); }
CLUMP_CONVERSIONS(Comm, Comm)
CLUMP_CONVERSIONS(Errhandler, Errhandler)
CLUMP_CONVERSIONS(File, File)
CLUMP_CONVERSIONS(Group, Group)
CLUMP_CONVERSIONS(Info, Info)
CLUMP_CONVERSIONS(Message, Message)
CLUMP_CONVERSIONS(Op, Op)
CLUMP_CONVERSIONS(Request, Request)
CLUMP_CONVERSIONS(Session, Session)
CLUMP_CONVERSIONS(Type, Datatype)
CLUMP_CONVERSIONS(Win, Win)

CLUMP_ENTRY(int, MPI_Status_c2f, (const Status* from, MPI_Fint* to)) { return copy(from, to); }
CLUMP_ENTRY(int, MPI_Status_f2c, (const MPI_Fint* from, Status* to)) { return copy(from, to); }
CLUMP_ENTRY(int, MPI_Status_c2f08, (const Status* from, void* to)) { return copy(from, to); }
CLUMP_ENTRY(int, MPI_Status_f082c, (const void* from, Status* to)) { return copy(from, to); }
CLUMP_ENTRY(int, MPI_Status_f082f, (const void* from, MPI_Fint* to)) { return copy(from, to); }
CLUMP_ENTRY(int, MPI_Status_f2f08, (const MPI_Fint* from, void* to)) { return copy(from, to); }
