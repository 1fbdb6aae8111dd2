! MPI for Fortran as another library has it: with mpif.h, with `use mpi` (-DMODULE) or with `use mpi_f08` (-DMODULE_F08). It is compiled with that
! library's modules and linked to that library, and runs under Clump.
#if defined(MODULE_F08)
#define MPI_IS use mpi_f08
#define NO_INCLUDE
#define COMM_T type(MPI_Comm)
#define TYPE_T type(MPI_Datatype)
#define REQUEST_T type(MPI_Request)
#define OP_T type(MPI_Op)
#define GROUP_T type(MPI_Group)
#define INFO_T type(MPI_Info)
#define WIN_T type(MPI_Win)
#define FILE_T type(MPI_File)
#define ERRHANDLER_T type(MPI_Errhandler)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define SOURCE_OF(name) name%MPI_SOURCE
#define TAG_OF(name) name%MPI_TAG
#define NUMBER_OF(handle) handle%MPI_VAL
#else
#define COMM_T integer
#define TYPE_T integer
#define REQUEST_T integer
#define OP_T integer
#define GROUP_T integer
#define INFO_T integer
#define WIN_T integer
#define FILE_T integer
#define ERRHANDLER_T integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(name) name(MPI_SOURCE)
#define TAG_OF(name) name(MPI_TAG)
#define NUMBER_OF(handle) handle
#if defined(MODULE)
#define MPI_IS use mpi
#define NO_INCLUDE
#endif
#endif

module checks
  implicit none
  integer, save :: failures = 0
contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    print '(2a)', 'wrong: ', what
  end subroutine check
end module checks

program basics
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: rank, ranks, total, ierr
  common /shared/ rank, ranks
  logical :: is_there
  call MPI_INITIALIZED(is_there, ierr)
  call check(.not. is_there, 'MPI_INITIALIZED')
  call MPI_INIT(ierr)
  call check(ierr == MPI_SUCCESS, 'MPI_INIT')
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  call messages()
  call requests()
  call collectives()
  call operations()
  call addresses()
  call communicators()
  call strings()
  call attributes()
  call errors()
  call datatypes()
  call windows()
  call files()
  call languages()
  call MPI_REDUCE(failures, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(i0, a, i0, a)', ranks, ' ranks, ', total, ' failures'
  call MPI_FINALIZE(ierr)
end program basics

subroutine messages()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr, right, left, count, got(4), sent(4)
  common /shared/ rank, ranks
  double precision :: began, real_got, real_sent
  STATUS(one)
  began = MPI_WTIME()
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  sent = rank
  got = -1
  call MPI_SENDRECV(sent, 3, MPI_INTEGER, right, 7, got, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, one, ierr)
  call MPI_GET_COUNT(one, MPI_INTEGER, count, ierr)
  call check(SOURCE_OF(one) == left .and. TAG_OF(one) == 7, 'a status')
  call check(count == 3, 'MPI_GET_COUNT')
  call check(all(got == (/ left, left, left, -1 /)), 'MPI_SENDRECV')
  real_sent = rank + 0.5d0
  call MPI_SENDRECV(real_sent, 1, MPI_DOUBLE_PRECISION, right, 8, real_got, 1, MPI_DOUBLE_PRECISION, left, 8, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call check(real_got == left + 0.5d0, 'MPI_STATUS_IGNORE')
  call MPI_RECV(got, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, one, ierr)
  call check(SOURCE_OF(one) == MPI_PROC_NULL, 'MPI_PROC_NULL')
  call check(MPI_WTIME() >= began .and. MPI_WTICK() > 0, 'MPI_WTIME')
end subroutine messages

subroutine requests()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr, right, left, index, in(2), out(2), number, which(2)
  common /shared/ rank, ranks
  logical :: flag
  REQUEST_T :: all_of_them(4), two(2)
  STATUS(one)
  STATUSES(some, 4)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  out = (/ rank, 10 * rank /)
  call MPI_IRECV(in(1), 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, all_of_them(1), ierr)
  call MPI_IRECV(in(2), 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, all_of_them(2), ierr)
  call MPI_ISEND(out(1), 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, all_of_them(3), ierr)
  call MPI_ISEND(out(2), 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, all_of_them(4), ierr)
  call MPI_WAITALL(4, all_of_them, some, ierr)
  call check(all(in == (/ left, 10 * left /)), 'MPI_WAITALL')
#ifdef MODULE_F08
  call check(some(2)%MPI_TAG == 2 .and. some(1)%MPI_SOURCE == left, 'statuses')
#else
  call check(some(MPI_TAG, 2) == 2 .and. some(MPI_SOURCE, 1) == left, 'statuses')
#endif
  call check(all_of_them(1) == MPI_REQUEST_NULL .and. all_of_them(4) == MPI_REQUEST_NULL, 'MPI_REQUEST_NULL')
  two(1) = MPI_REQUEST_NULL
  call MPI_IRECV(in, 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD, two(2), ierr)
  call MPI_SEND(out, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, ierr)
  call MPI_WAITANY(2, two, index, one, ierr)
  call check(index == 2 .and. two(2) == MPI_REQUEST_NULL, 'MPI_WAITANY')
  call MPI_TESTANY(2, two, index, flag, one, ierr)
  call check(flag .and. index == MPI_UNDEFINED, 'MPI_TESTANY')
  call MPI_RECV_INIT(in, 1, MPI_INTEGER, left, 4, MPI_COMM_WORLD, two(1), ierr)
  call MPI_SEND_INIT(out, 1, MPI_INTEGER, right, 4, MPI_COMM_WORLD, two(2), ierr)
  call MPI_STARTALL(2, two, ierr)
  number = 0
  do while (number < 2)
    call MPI_WAITSOME(2, two, index, which, MPI_STATUSES_IGNORE, ierr)
    call check(index >= 1 .and. all(which(1:index) >= 1 .and. which(1:index) <= 2), 'MPI_WAITSOME')
    number = number + index
  end do
  call check(two(1) /= MPI_REQUEST_NULL, 'a persistent request')
  call MPI_REQUEST_FREE(two(1), ierr)
  call MPI_REQUEST_FREE(two(2), ierr)
end subroutine requests

subroutine collectives()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr, i, value, pair(2), best(2)
  common /shared/ rank, ranks
  integer, allocatable :: all_ranks(:), counts(:), places(:), got(:)
  complex :: z, sum_of_z
  logical :: mine, any_of_them
  allocate (all_ranks(ranks), counts(ranks), places(ranks))
  value = rank
  call MPI_ALLREDUCE(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(value == ranks * (ranks - 1) / 2, 'MPI_IN_PLACE')
  pair = (/ -rank, rank /)
  call MPI_ALLREDUCE(pair, best, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, ierr)
  call check(all(best == (/ 1 - ranks, ranks - 1 /)), 'MPI_MINLOC')
  z = cmplx(rank, 1)
  call MPI_ALLREDUCE(z, sum_of_z, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(sum_of_z == cmplx(ranks * (ranks - 1) / 2, ranks), 'MPI_COMPLEX')
  mine = rank == ranks - 1
  call MPI_ALLREDUCE(mine, any_of_them, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
  call check(any_of_them, 'MPI_LOGICAL')
  call MPI_ALLGATHER(rank, 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call check(all(all_ranks == (/ (i, i = 0, ranks - 1) /)), 'MPI_ALLGATHER')
  counts = (/ (i, i = 1, ranks) /)
  places = (/ (i * (i - 1) / 2, i = 1, ranks) /)
  allocate (got(ranks * (ranks + 1) / 2))
  call MPI_ALLGATHERV((/ (rank, i = 0, rank) /), rank + 1, MPI_INTEGER, got, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call check(all((/ (got(places(i) + 1) == i - 1 .and. got(places(i) + i) == i - 1, i = 1, ranks) /)), 'MPI_ALLGATHERV')
  value = -1
  if (rank == 0) value = 5
  call MPI_BCAST(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call check(value == 5, 'MPI_BCAST')
  call MPI_BARRIER(MPI_COMM_WORLD, ierr)
end subroutine collectives

subroutine operations()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr, got
  common /shared/ rank, ranks
  logical :: commutes
  OP_T :: op
#ifdef MODULE_F08
  interface
    subroutine last(in, in_and_out, length, kind)
      use mpi_f08
      use, intrinsic :: iso_c_binding, only : c_ptr
      type(c_ptr), value :: in, in_and_out
      integer :: length
      type(MPI_Datatype) :: kind
    end subroutine last
  end interface
#else
  external last
#endif
  call MPI_OP_CREATE(last, .false., op, ierr)
  call MPI_OP_COMMUTATIVE(op, commutes, ierr)
  call check(.not. commutes, 'MPI_OP_COMMUTATIVE')
  got = -1
  call MPI_ALLREDUCE(rank, got, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
  call check(got == ranks - 1, 'an operation')
  call MPI_OP_FREE(op, ierr)
  call check(op == MPI_OP_NULL, 'MPI_OP_FREE')
end subroutine operations

#ifdef MODULE_F08
subroutine last(in, in_and_out, length, kind)
  use mpi_f08
  use checks
  use, intrinsic :: iso_c_binding, only : c_ptr
  type(c_ptr), value :: in, in_and_out
  integer :: length
  type(MPI_Datatype) :: kind
  call check(kind == MPI_INTEGER .and. length == 1, 'the type of an operation')
end subroutine last
#else
subroutine last(in, in_and_out, length, kind)
#ifdef MODULE
  use mpi
#endif
  use checks
  implicit none
#ifndef MODULE
  include 'mpif.h'
#endif
  integer :: length, kind, in(length), in_and_out(length)
  call check(kind == MPI_INTEGER .and. length == 1, 'the type of an operation')
end subroutine last
#endif

subroutine addresses()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr
  common /shared/ rank, ranks
  integer, target, save :: first, second, got(2)
  integer(kind=MPI_ADDRESS_KIND) :: places(2)
  TYPE_T :: both, types(2)
  first = rank
  second = 100 + rank
  call MPI_GET_ADDRESS(first, places(1), ierr)
  call MPI_GET_ADDRESS(second, places(2), ierr)
  types = MPI_INTEGER
  call MPI_TYPE_CREATE_STRUCT(2, (/ 1, 1 /), places, types, both, ierr)
  call MPI_TYPE_COMMIT(both, ierr)
  call MPI_SENDRECV(MPI_BOTTOM, 1, both, rank, 1, got, 2, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call check(all(got == (/ rank, 100 + rank /)), 'MPI_BOTTOM')
  call MPI_TYPE_FREE(both, ierr)
  call check(both == MPI_DATATYPE_NULL, 'MPI_TYPE_FREE')
end subroutine addresses

subroutine communicators()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr, result, size, dims(2), coords(2), in, out, to(1), right, left
  common /shared/ rank, ranks
  logical :: periods(2), flag
  COMM_T :: copy, half, grid, row, graph
  GROUP_T :: all_of_them, none
  call MPI_COMM_DUP(MPI_COMM_WORLD, copy, ierr)
  call MPI_COMM_COMPARE(MPI_COMM_WORLD, copy, result, ierr)
  call check(result == MPI_CONGRUENT, 'MPI_COMM_COMPARE')
  call MPI_COMM_GROUP(copy, all_of_them, ierr)
  call MPI_GROUP_EXCL(all_of_them, ranks, (/ (in, in = 0, ranks - 1) /), none, ierr)
  call check(none == MPI_GROUP_EMPTY, 'MPI_GROUP_EMPTY')
  call MPI_GROUP_FREE(all_of_them, ierr)
  call MPI_COMM_FREE(copy, ierr)
  call check(copy == MPI_COMM_NULL, 'MPI_COMM_FREE')
  call MPI_COMM_SPLIT(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
  call MPI_COMM_SIZE(half, size, ierr)
  call check(size == (ranks + 1 - mod(rank, 2)) / 2, 'MPI_COMM_SPLIT')
  call MPI_COMM_FREE(half, ierr)
  call MPI_COMM_SPLIT(MPI_COMM_WORLD, MPI_UNDEFINED, rank, half, ierr)
  call check(half == MPI_COMM_NULL, 'MPI_UNDEFINED')
  dims = 0
  call MPI_DIMS_CREATE(ranks, 2, dims, ierr)
  call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, (/ .true., .false. /), .false., grid, ierr)
  call MPI_CART_GET(grid, 2, dims, periods, coords, ierr)
  call check(periods(1) .and. .not. periods(2), 'MPI_CART_GET')
  call MPI_CART_SUB(grid, (/ .false., .true. /), row, ierr)
  call MPI_COMM_SIZE(row, size, ierr)
  call check(size == dims(2), 'MPI_CART_SUB')
  call MPI_TOPO_TEST(grid, result, ierr)
  call check(result == MPI_CART, 'MPI_TOPO_TEST')
  call MPI_COMM_FREE(row, ierr)
  call MPI_COMM_FREE(grid, ierr)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  call MPI_DIST_GRAPH_CREATE_ADJACENT(MPI_COMM_WORLD, 1, (/ left /), MPI_UNWEIGHTED, 1, (/ right /), MPI_UNWEIGHTED, MPI_INFO_NULL, &
    .false., graph, ierr)
  call MPI_DIST_GRAPH_NEIGHBORS_COUNT(graph, in, out, flag, ierr)
  call check(in == 1 .and. out == 1 .and. .not. flag, 'MPI_UNWEIGHTED')
  to = -1
  call MPI_NEIGHBOR_ALLGATHER(rank, 1, MPI_INTEGER, to, 1, MPI_INTEGER, graph, ierr)
  call check(to(1) == left, 'MPI_NEIGHBOR_ALLGATHER')
  call MPI_COMM_FREE(graph, ierr)
end subroutine communicators

subroutine strings()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: ierr, length
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=20) :: value
  logical :: flag
  COMM_T :: copy
  INFO_T :: info
  host = '#'
  call MPI_GET_PROCESSOR_NAME(host, length, ierr)
  call check(host(length:length) /= ' ' .and. host(length + 1:) == ' ', 'MPI_GET_PROCESSOR_NAME')
  call MPI_COMM_DUP(MPI_COMM_WORLD, copy, ierr)
  call MPI_COMM_SET_NAME(copy, 'two words   ', ierr)
  call MPI_COMM_GET_NAME(copy, name, length, ierr)
  call check(name == 'two words' .and. length == 9, 'MPI_COMM_GET_NAME')
  call MPI_COMM_FREE(copy, ierr)
  call MPI_INFO_CREATE(info, ierr)
  call MPI_INFO_SET(info, 'a key ', 'a value  ', ierr)
  call MPI_INFO_GET(info, 'a key', 20, value, flag, ierr)
  call check(flag .and. value == 'a value', 'MPI_INFO_GET')
  call MPI_INFO_GET(info, 'no key', 20, value, flag, ierr)
  call check(.not. flag, 'no key')
  call MPI_INFO_FREE(info, ierr)
  call MPI_ERROR_STRING(MPI_ERR_TRUNCATE, text, length, ierr)
  call check(length > 5 .and. text(length + 1:) == ' ', 'MPI_ERROR_STRING')
end subroutine strings

subroutine attributes()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr, key
  common /shared/ rank, ranks
  integer(kind=MPI_ADDRESS_KIND) :: extra, value
  logical :: flag
  COMM_T :: copy
  call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
  call check(flag .and. value >= 32767, 'MPI_TAG_UB')
  extra = 0
  call MPI_COMM_CREATE_KEYVAL(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra, ierr)
  value = 3000000000_MPI_ADDRESS_KIND + rank
  call MPI_COMM_SET_ATTR(MPI_COMM_WORLD, key, value, ierr)
  call MPI_COMM_DUP(MPI_COMM_WORLD, copy, ierr)
  value = 0
  call MPI_COMM_GET_ATTR(copy, key, value, flag, ierr)
  call check(flag .and. value == 3000000000_MPI_ADDRESS_KIND + rank, 'MPI_COMM_DUP_FN')
  call MPI_COMM_FREE(copy, ierr)
  call MPI_COMM_DELETE_ATTR(MPI_COMM_WORLD, key, ierr)
  call MPI_COMM_FREE_KEYVAL(key, ierr)
  call check(key == MPI_KEYVAL_INVALID, 'MPI_COMM_FREE_KEYVAL')
end subroutine attributes

subroutine errors()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: ierr, class, seen
  COMM_T :: copy
  ERRHANDLER_T :: handler
  common /noted/ seen
#ifdef MODULE_F08
  interface
    subroutine note(comm, code)
      use mpi_f08
      type(MPI_Comm) :: comm
      integer :: code
    end subroutine note
  end interface
#else
  external note
#endif
  call MPI_COMM_DUP(MPI_COMM_WORLD, copy, ierr)
  call MPI_COMM_SET_ERRHANDLER(copy, MPI_ERRORS_RETURN, ierr)
  call MPI_SEND(seen, -1, MPI_INTEGER, 0, 0, copy, ierr)
  call MPI_ERROR_CLASS(ierr, class, ierr)
  call check(class == MPI_ERR_COUNT, 'a wrong count')
  seen = 0
  call MPI_COMM_CREATE_ERRHANDLER(note, handler, ierr)
  call MPI_COMM_SET_ERRHANDLER(copy, handler, ierr)
  call MPI_SEND(seen, 1, MPI_INTEGER, 1000000, 0, copy, ierr)
  call check(seen == MPI_ERR_RANK, 'an error handler')
  call MPI_ERRHANDLER_FREE(handler, ierr)
  call MPI_COMM_FREE(copy, ierr)
end subroutine errors

subroutine note(comm, code)
#ifdef NO_INCLUDE
  MPI_IS
#endif
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  COMM_T :: comm
  integer :: code, seen, ierr
  common /noted/ seen
  call MPI_ERROR_CLASS(code, seen, ierr)
end subroutine note

subroutine datatypes()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr, size, sent(6), got(3), i, integers, addresses_used, types_used, combiner
  common /shared/ rank, ranks
  integer(kind=MPI_ADDRESS_KIND) :: low, extent
  TYPE_T :: column, wide
  call MPI_TYPE_VECTOR(3, 1, 2, MPI_INTEGER, column, ierr)
  call MPI_TYPE_CREATE_RESIZED(column, 0_MPI_ADDRESS_KIND, 32_MPI_ADDRESS_KIND, wide, ierr)
  call MPI_TYPE_GET_EXTENT(wide, low, extent, ierr)
  call check(low == 0 .and. extent == 32, 'MPI_TYPE_CREATE_RESIZED')
  call MPI_TYPE_GET_ENVELOPE(column, integers, addresses_used, types_used, combiner, ierr)
  call check(combiner == MPI_COMBINER_VECTOR .and. integers == 3 .and. types_used == 1, 'MPI_TYPE_GET_ENVELOPE')
  call MPI_TYPE_COMMIT(column, ierr)
  sent = (/ (10 * rank + i, i = 1, 6) /)
  call MPI_SENDRECV(sent, 1, column, rank, 2, got, 3, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call check(all(got == sent(1:5:2)), 'MPI_TYPE_VECTOR')
  call MPI_TYPE_FREE(column, ierr)
  call MPI_TYPE_FREE(wide, ierr)
  call MPI_TYPE_SIZE(MPI_DOUBLE_COMPLEX, size, ierr)
  call check(size == 16, 'MPI_DOUBLE_COMPLEX')
  call MPI_TYPE_SIZE(MPI_INTEGER8, size, ierr)
  call check(size == 8, 'MPI_INTEGER8')
  call MPI_TYPE_SIZE(MPI_CHARACTER, size, ierr)
  call check(size == 1, 'MPI_CHARACTER')
  call MPI_TYPE_SIZE(MPI_DOUBLE, size, ierr)
  call check(size == 8, 'MPI_DOUBLE')
#ifdef MODULE_F08
  call sections(rank)
contains
  ! A library that takes descriptors writes to the array itself, others to a copy that is gone.
  subroutine sections(rank)
    integer, intent(in) :: rank
    integer, asynchronous :: spread_out(6)
    integer :: source(6), ierr
    type(MPI_Request) :: request
    if (.not. MPI_SUBARRAYS_SUPPORTED) return
    spread_out = -1
    source = (/ 1, 2, 3, 4, 5, 6 /)
    call MPI_IRECV(spread_out(1:6:2), 3, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, request, ierr)
    call MPI_SEND(source(2:6:2), 3, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, ierr)
    call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
    call check(all(spread_out == (/ 2, -1, 4, -1, 6, -1 /)), 'a section of an array')
  end subroutine sections
#endif
end subroutine datatypes

subroutine windows()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr
  common /shared/ rank, ranks
  integer, save, asynchronous :: memory(2)
  WIN_T :: win
  memory = -1
  call MPI_WIN_CREATE(memory, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_WIN_FENCE(MPI_MODE_NOPRECEDE, win, ierr)
  call MPI_PUT(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierr)
  call MPI_WIN_FENCE(MPI_MODE_NOSUCCEED, win, ierr)
  call check(memory(2) == mod(rank + ranks - 1, ranks) .and. memory(1) == -1, 'MPI_PUT')
  call MPI_WIN_FREE(win, ierr)
  call check(win == MPI_WIN_NULL, 'MPI_WIN_FREE')
end subroutine windows

subroutine files()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr, got
  common /shared/ rank, ranks
  character(len=300) :: name
  FILE_T :: file
  call get_command_argument(1, name)
  if (name == ' ') return
  call MPI_FILE_OPEN(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, ierr)
  call check(ierr == MPI_SUCCESS, 'MPI_FILE_OPEN')
  if (ierr /= MPI_SUCCESS) return
  call MPI_FILE_WRITE_AT_ALL(file, int(4 * rank, MPI_OFFSET_KIND), rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_FILE_SYNC(file, ierr)
  call MPI_BARRIER(MPI_COMM_WORLD, ierr)
  call MPI_FILE_READ_AT_ALL(file, int(4 * mod(rank + 1, ranks), MPI_OFFSET_KIND), got, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call check(got == mod(rank + 1, ranks), 'MPI_FILE_READ_AT_ALL')
  call MPI_FILE_CLOSE(file, ierr)
  call check(file == MPI_FILE_NULL, 'MPI_FILE_CLOSE')
end subroutine files

! Handles of Fortran in C, in languages.c.
subroutine languages()
#ifdef NO_INCLUDE
  MPI_IS
#endif
  use checks
  implicit none
#ifndef NO_INCLUDE
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr
  common /shared/ rank, ranks
  integer, external :: size_in_c, is_double_in_c, world_of_c
  COMM_T :: half
  call MPI_COMM_SPLIT(MPI_COMM_WORLD, rank, 0, half, ierr)
  call check(size_in_c(NUMBER_OF(half)) == 1 .and. size_in_c(NUMBER_OF(MPI_COMM_WORLD)) == ranks, 'a communicator in C')
  call check(is_double_in_c(NUMBER_OF(MPI_DOUBLE)) == 1, 'a datatype in C')
  call check(world_of_c() == NUMBER_OF(MPI_COMM_WORLD), 'MPI_Comm_c2f')
  call MPI_COMM_FREE(half, ierr)
end subroutine languages
