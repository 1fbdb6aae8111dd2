! Command lines lose blanks at both ends (MPI-5.0 section 11.8.2), with mpif.h, with `use mpi` (-DMODULE) and with `use mpi_f08` (-DMODULE_F08). The
! program is its own child, which compares its arguments with those of ARGV.
#if defined(MODULE_F08)
#define MPI_IS use mpi_f08
#define COMM_T type(MPI_Comm)
#define INFO_T type(MPI_Info)
#else
#define COMM_T integer
#define INFO_T integer
#if defined(MODULE)
#define MPI_IS use mpi
#endif
#endif
program spawn
#ifdef MPI_IS
  MPI_IS
#endif
  implicit none
#ifndef MPI_IS
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr, failures, all_failures
  COMM_T :: parent
  failures = 0
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  call MPI_COMM_GET_PARENT(parent, ierr)
  if (parent == MPI_COMM_NULL) then
    call one_program()
    call two_programs()
    call names()
    call MPI_ALLREDUCE(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(i0,a,i0,a)', ranks, ' ranks, ', all_failures, ' failures'
  else
    call child()
  end if
  call MPI_FINALIZE(ierr)
contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    print '(2a)', 'does not hold: ', what
  end subroutine

  ! How many arguments of the children are wrong.
  subroutine hear(children)
    COMM_T :: children
    integer :: wrong
    call MPI_BCAST(wrong, 1, MPI_INTEGER, 0, children, ierr)
    call check(wrong == 0, 'the arguments of a child')
    call MPI_COMM_DISCONNECT(children, ierr)
  end subroutine

  subroutine one_program()
    character(200) :: self, argv(6)
    COMM_T :: children
    call get_command_argument(0, self)
    argv = [character(200) :: '  one', ' two words ', ':', 'none', '-n', ' ']
    call MPI_COMM_SPAWN('  '//self, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierr)
    call hear(children)
  end subroutine

  subroutine two_programs()
    character(200) :: commands(2), argv(2, 4)
    INFO_T :: infos(2)
    COMM_T :: children
    call get_command_argument(0, commands(1))
    commands(2) = ' '//commands(1)
    infos = MPI_INFO_NULL
    argv(1, :) = [character(200) :: ' one', '   two words', ':', ' ']
    argv(2, :) = [character(200) :: 'one', 'two words ', ' :', ' ']
    call MPI_COMM_SPAWN_MULTIPLE(2, commands, argv, [1, 1], infos, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierr)
    call hear(children)
  end subroutine

  subroutine child()
    character(200) :: got
    character(9), parameter :: expected(5) = [character(9) :: 'one', 'two words', ':', 'none', '-n']
    integer :: i, length, wrong
    wrong = 0
    do i = 1, command_argument_count()
      call get_command_argument(i, got, length)
      if (i > 5) wrong = wrong + 1
      if (i > 5) cycle
      if (length /= len_trim(expected(i)) .or. got /= expected(i)) wrong = wrong + 1
    end do
    if (command_argument_count() /= 3 .and. command_argument_count() /= 5) wrong = wrong + 1
    call MPI_ALLREDUCE(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_BCAST(wrong, 1, MPI_INTEGER, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), parent, ierr)
    call MPI_COMM_DISCONNECT(parent, ierr)
  end subroutine

  ! Other strings: blanks at the end of all, and at the begin of keys and values of info objects alone.
  subroutine names()
    character(40) :: got, key
    character(MPI_MAX_OBJECT_NAME) :: name
    INFO_T :: info
    logical :: is_there
    integer :: length
    call MPI_COMM_SET_NAME(MPI_COMM_SELF, '  mine  ', ierr)
    call MPI_COMM_GET_NAME(MPI_COMM_SELF, name, length, ierr)
    call check(length == 6 .and. name == '  mine', 'the name of a communicator (MPI-5.0 section 7.8)')
    call MPI_INFO_CREATE(info, ierr)
    call MPI_INFO_SET(info, '  key ', '   some value ', ierr)
    call MPI_INFO_GET_NTHKEY(info, 0, key, ierr)
    length = len(got)
    call MPI_INFO_GET_STRING(info, ' key', length, got, is_there, ierr)
    call check(key == 'key' .and. is_there .and. length == 10 .and. got == 'some value', 'an info object')
    call MPI_INFO_DELETE(info, '   key', ierr)
    call MPI_INFO_GET_NKEYS(info, length, ierr)
    call check(length == 0, 'MPI_INFO_DELETE')
    call MPI_INFO_FREE(info, ierr)
  end subroutine
end program
