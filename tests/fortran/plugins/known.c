/* MPI_F_STATUS_IGNORE and MPI_F_STATUSES_IGNORE: the addresses of Fortran, which Fortran's procedures know
 * when C hands them over. */
#if defined(OF_MPICH) || defined(OF_OPENMPI)
typedef int MPI_Fint;
extern MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
#else
#include <mpi.h>
#endif

#if defined(OF_MPICH)
enum { kSelf = 1140850689, kInteger = 1275069467 };
#elif defined(OF_OPENMPI)
enum { kSelf = 1, kInteger = 7 };
#else
#define kSelf MPI_Comm_c2f(MPI_COMM_SELF)
#define kInteger MPI_Type_c2f(MPI_INTEGER)
#endif

void mpi_irecv_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
void mpi_isend_(const void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
void pmpi_waitall_(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);

/* How many of them are wrong. */
MPI_Fint known_(MPI_Fint* status, MPI_Fint* statuses) {
  enum { kMany = 16 };
  MPI_Fint requests[kMany], count = kMany, zero = 0, self = kSelf, type = kInteger, error = 0, wrong = 0;
  for (MPI_Fint i = 0; i < kMany / 2; ++i) {
    mpi_irecv_(&wrong, &zero, &type, &zero, &i, &self, &requests[i], &error);
    mpi_isend_(&wrong, &zero, &type, &zero, &i, &self, &requests[kMany / 2 + i], &error);
  }
  pmpi_waitall_(&count, requests, MPI_F_STATUSES_IGNORE, &error);
  for (int i = 0; i < 5; ++i) wrong += MPI_F_STATUSES_IGNORE[i] != 0;
  return wrong + (status != MPI_F_STATUS_IGNORE) + (statuses != MPI_F_STATUSES_IGNORE);
}
