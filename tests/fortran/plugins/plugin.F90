! Uses MPI's special addresses in a library that has common blocks of its own for them. Begins MPI if nothing has.
integer function plug() bind(c) result(failures)
  implicit none
#include "special.inc"
  integer, parameter :: many = 8
  integer :: ierr, rank, ranks, right, left, x(4), y(4), requests(2 * many), i, type, graph, comm, sources, targets
  integer(MPI_ADDRESS_KIND) :: place(1)
  logical :: is_begun, is_weighted
  failures = 0
  call MPI_Initialized(is_begun, ierr)
  if (.not. is_begun) call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  x = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(all(x == ranks * (ranks + 1) / 2), 'MPI_IN_PLACE')
  call MPI_Get_address(x, place(1), ierr)
  call MPI_Type_create_hindexed(1, [4], place, MPI_INTEGER, type, ierr)
  call MPI_Type_commit(type, ierr)
  x = rank
  y = -1
  call MPI_Sendrecv(MPI_BOTTOM, 1, type, right, 5, y, 4, MPI_INTEGER, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Type_free(type, ierr)
  call check(all(y == left), 'MPI_BOTTOM')
  call check(all(MPI_STATUS_IGNORE == 0), 'MPI_STATUS_IGNORE')
  do i = 1, many
    call MPI_Irecv(y, 0, MPI_INTEGER, left, i, MPI_COMM_WORLD, requests(i), ierr)
    call MPI_Isend(x, 0, MPI_INTEGER, right, i, MPI_COMM_WORLD, requests(many + i), ierr)
  end do
  call MPI_Waitall(2 * many, requests, MPI_STATUSES_IGNORE, ierr)
  call check(all(MPI_STATUSES_IGNORE == 0), 'MPI_STATUSES_IGNORE')
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierr)
  call MPI_Dist_graph_neighbors_count(graph, sources, targets, is_weighted, ierr)
  call check(.not. is_weighted, 'MPI_UNWEIGHTED')
  call MPI_Comm_free(graph, ierr)
#if !defined(OF_MPICH) && !defined(OF_OPENMPI)
  call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
  call MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0, ierr)
  call MPI_Bsend(x, 4, MPI_INTEGER, 0, 0, comm, ierr)
  call MPI_Recv(y, 4, MPI_INTEGER, 0, 0, comm, MPI_STATUS_IGNORE, ierr)
  call check(all(y == rank), 'MPI_BUFFER_AUTOMATIC')
  call MPI_Comm_free(comm, ierr)
#endif
contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    print '(2a)', 'not known: ', what
  end subroutine
end function

! Whether C code knows this library's special addresses by MPI's names for them.
integer function known_in_c() bind(c)
  implicit none
#include "special.inc"
  interface
    integer function known(status, statuses)
      integer :: status(*), statuses(*)
    end function
  end interface
  known_in_c = known(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE)
end function

subroutine leave() bind(c)
  integer :: ierr
  call MPI_Finalize(ierr)
end subroutine
