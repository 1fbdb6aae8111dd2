! A tool in Fortran: it wraps the procedures that programs call, and goes on by those with a P. What it does is not seen by a tool in C.
subroutine MPI_ALLREDUCE(sendbuf, recvbuf, count, datatype, op, comm, ierror)
  implicit none
  integer :: sendbuf(*), recvbuf(*), count, datatype, op, comm, ierror
  integer, save :: calls = 0
  calls = calls + 1
  if (calls == 1) print '(a)', 'seen in Fortran'
  call PMPI_ALLREDUCE(sendbuf, recvbuf, count, datatype, op, comm, ierror)
end subroutine

subroutine MPI_Finalize_f08(ierror)
  implicit none
  integer, optional :: ierror
  integer :: error
  print '(a)', 'the end is seen in Fortran'
  call PMPI_FINALIZE(error)
  if (present(ierror)) ierror = error
end subroutine
