! Every rank writes unit 10 to a file of its own, at the same time, and reads it back. The table of units is a variable of the Fortran
! run-time library, and module variables and SAVE variables are globals: all must be the rank's own. MPI is reached through units_mpi.c.
module counts
  implicit none
  integer :: lines_written = 0
  common /shared_block/ of_rank
  integer :: of_rank
end module counts

program units
  use, intrinsic :: iso_c_binding
  use counts
  implicit none
  interface
    integer(c_int) function start_mpi() bind(c)
      import :: c_int
    end function
    integer(c_int) function finish_mpi(wrong) bind(c)
      import :: c_int
      integer(c_int), value :: wrong
    end function
    subroutine wait_for_all() bind(c)
    end subroutine
  end interface
  integer :: rank, i, value, wrong, status
  character(len=40) :: name

  rank = start_mpi()
  of_rank = rank
  wrong = 0
  write (name, '(a,i0)') 'unit10.', rank
  open (unit=10, file=trim(name), status='replace', action='readwrite')
  call wait_for_all()
  do i = 1, 100
    write (10, *) rank * 1000 + i
    call count_line()
  end do
  call wait_for_all()
  rewind (10)
  do i = 1, 100
    read (10, *, iostat=status) value
    if (status /= 0 .or. value /= rank * 1000 + i) wrong = wrong + 1
  end do
  read (10, *, iostat=status) value
  if (status == 0) wrong = wrong + 1
  close (10, status='delete')
  if (lines_written /= 100 .or. of_rank /= rank .or. saved() /= 1) wrong = wrong + 1
  if (finish_mpi(wrong) /= 0) stop 1

contains
  subroutine count_line()
    lines_written = lines_written + 1
  end subroutine
  integer function saved()
    integer, save :: calls = 0
    calls = calls + 1
    saved = calls
  end function
end program units
