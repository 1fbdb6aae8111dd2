! A program with common blocks of its own, which is linked to a library that has others.
program main
  implicit none
#include "special.inc"
  interface
    integer function plug() bind(c)
    end function
    integer function open_all() bind(c)
    end function
    subroutine leave() bind(c)
    end subroutine
  end interface
  integer :: failures, x, rank, ranks, ierr
  failures = plug()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  x = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (x /= ranks * (ranks + 1) / 2) failures = failures + 1
  failures = failures + open_all()
  print '(i0,a)', failures, ' failures'
  call leave()
end program
