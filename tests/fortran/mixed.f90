! One program of files with mpif.h, mpi and mpi_f08: handles and statuses go from one to the other, and MPI_IN_PLACE, MPI_BOTTOM and the
! ignored statuses are the same to the library. Each rank has variables and units of its own.
subroutine with_mpif(comm, total)
  implicit none
  include 'mpif.h'
  integer :: comm, total, ierr
  call MPI_ALLREDUCE(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
  call MPI_PROBE(MPI_PROC_NULL, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE, ierr)
end subroutine

subroutine with_mpi(comm, total)
  use mpi
  implicit none
  integer :: comm, total, ierr
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
  call MPI_Probe(MPI_PROC_NULL, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE, ierr)
end subroutine

subroutine with_f08(comm, total)
  use mpi_f08
  implicit none
  type(MPI_Comm) :: comm
  integer :: total
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, comm)
  call MPI_Probe(MPI_PROC_NULL, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE)
end subroutine

program mixed
  use mpi_f08
  use checks
  implicit none
  integer :: rank, ranks, total, all_failures, unit, number, i
  integer, save :: saved = 0
  double precision :: grid
  common /field/ grid(100000)
  character(len=32) :: name
  interface
    subroutine with_f08(comm, total)
      import
      type(MPI_Comm) :: comm
      integer :: total
    end subroutine
  end interface
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  total = 1
  call with_mpif(MPI_COMM_WORLD%MPI_VAL, total)
  call with_mpi(MPI_COMM_WORLD%MPI_VAL, total)
  call with_f08(MPI_COMM_WORLD, total)
  call check(total == ranks**3, 'MPI_IN_PLACE in all three')
  saved = saved + rank + 1
  grid = rank
  write (name, '(a,i0)') 'fortran_unit_', rank
  open (newunit=unit, file=trim(name))
  write (unit, *) rank
  do i = 1, 3
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  rewind (unit)
  read (unit, *) number
  close (unit, status='delete')
  call check(saved == rank + 1 .and. all(grid == rank) .and. number == rank, 'SAVE, COMMON and a unit of each rank')
  call MPI_Reduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(i0,a,i0,a)', ranks, ' ranks, ', all_failures, ' failures'
  call MPI_Finalize()
end program
