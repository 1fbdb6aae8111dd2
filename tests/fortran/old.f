C     What programs of the nineties do: fixed form, mpif.h, COMMON, no interfaces.
      program old
      include 'mpif.h'
      integer ierr, rank, ranks, all, failures_so_far
      external failures_so_far
      call MPI_INIT(ierr)
      call check_that(ierr .eq. MPI_SUCCESS, 'MPI_INIT')
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
      call commons(rank)
      call ring(rank, ranks)
      call sentinels(rank, ranks)
      call indices(rank, ranks)
      call strings(rank)
      call attributes(rank)
      call topologies(rank, ranks)
      call functions(rank, ranks)
      call errors()
      call removed(rank)
      call MPI_ALLREDUCE(failures_so_far(), all, 1, MPI_INTEGER,
     &     MPI_SUM, MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) print '(i0,a,i0,a)', ranks, ' ranks, ', all,
     &     ' failures'
      call MPI_FINALIZE(ierr)
      end

C     Each rank has its own COMMON and SAVE variables.
      subroutine commons(rank)
      include 'mpif.h'
      integer rank, ierr, counter, here, calls
      double precision values
      common /shared/ values(1000), counter
      save calls
      data calls /0/
      counter = rank
      calls = calls + rank
      do here = 1, 1000
         values(here) = rank + here
      end do
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      call check_that(counter .eq. rank, 'COMMON')
      call check_that(values(1000) .eq. rank + 1000.d0, 'COMMON array')
      call check_that(calls .eq. rank, 'SAVE')
      end

      subroutine ring(rank, ranks)
      include 'mpif.h'
      integer rank, ranks, ierr, left, right, got, count
      integer status(MPI_STATUS_SIZE)
      logical flag
      double precision x(10), y(10)
      right = mod(rank + 1, ranks)
      left = mod(rank + ranks - 1, ranks)
      got = -1
      call MPI_SENDRECV(rank, 1, MPI_INTEGER, right, 7, got, 1,
     &     MPI_INTEGER, left, MPI_ANY_TAG, MPI_COMM_WORLD, status,
     &     ierr)
      call check_that(got .eq. left, 'ring: data')
      call check_that(status(MPI_SOURCE) .eq. left, 'ring: source')
      call check_that(status(MPI_TAG) .eq. 7, 'ring: tag')
      x = rank
      call MPI_SENDRECV(x, 10, MPI_DOUBLE_PRECISION, right, 8, y, 10,
     &     MPI_DOUBLE_PRECISION, left, 8, MPI_COMM_WORLD, status, ierr)
      call MPI_GET_COUNT(status, MPI_DOUBLE_PRECISION, count, ierr)
      call check_that(count .eq. 10, 'MPI_GET_COUNT')
      call check_that(y(10) .eq. left, 'ring: doubles')
      call MPI_IPROBE(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, flag,
     &     status, ierr)
      call check_that(.not. flag, 'MPI_IPROBE')
      end

C     Arguments that mean something by their address.
      subroutine sentinels(rank, ranks)
      include 'mpif.h'
      integer rank, ranks, ierr, left, right, type, sum, values(5)
      integer request(2), before
      integer (kind=MPI_ADDRESS_KIND) address
      right = mod(rank + 1, ranks)
      left = mod(rank + ranks - 1, ranks)
      sum = rank + 1
      call MPI_ALLREDUCE(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierr)
      call check_that(sum .eq. ranks * (ranks + 1) / 2, 'MPI_IN_PLACE')
      values = rank
      call MPI_GET_ADDRESS(values(2), address, ierr)
      call MPI_TYPE_CREATE_STRUCT(1, (/ 3 /), (/ address /),
     &     (/ MPI_INTEGER /), type, ierr)
      call MPI_TYPE_COMMIT(type, ierr)
      call MPI_SENDRECV_REPLACE(MPI_BOTTOM, 1, type, right, 1, left,
     &     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call check_that(values(1) .eq. rank .and. values(5) .eq. rank
     &     .and. all(values(2:4) .eq. left), 'MPI_BOTTOM')
      call MPI_TYPE_FREE(type, ierr)
      call check_that(type .eq. MPI_DATATYPE_NULL, 'MPI_TYPE_FREE')
      before = rank
      call MPI_IRECV(sum, 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD,
     &     request(1), ierr)
      call MPI_ISEND(before, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD,
     &     request(2), ierr)
      call MPI_WAITALL(2, request, MPI_STATUSES_IGNORE, ierr)
      call check_that(sum .eq. left, 'MPI_STATUSES_IGNORE')
      call check_that(all(request .eq. MPI_REQUEST_NULL), 'MPI_WAITALL')
      end

C     Fortran counts requests from 1.
      subroutine indices(rank, ranks)
      include 'mpif.h'
      integer rank, ranks, ierr, request(3), index, data, out
      integer status(MPI_STATUS_SIZE), which(3)
      integer statuses(MPI_STATUS_SIZE, 3)
      logical flag
      request(1) = MPI_REQUEST_NULL
      request(3) = MPI_REQUEST_NULL
      call MPI_IRECV(data, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD,
     &     request(2), ierr)
      call MPI_SEND(rank, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, ierr)
      call MPI_WAITANY(3, request, index, status, ierr)
      call check_that(index .eq. 2, 'MPI_WAITANY')
      call MPI_TESTANY(3, request, index, flag, status, ierr)
      call check_that(flag .and. index .eq. MPI_UNDEFINED,
     &     'MPI_TESTANY without requests')
      call MPI_IRECV(data, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD,
     &     request(3), ierr)
      call MPI_SEND(rank, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, ierr)
      call MPI_WAITSOME(3, request, out, which, statuses, ierr)
      call check_that(out .eq. 1 .and. which(1) .eq. 3, 'MPI_WAITSOME')
      call check_that(statuses(MPI_TAG, 1) .eq. 4, 'MPI_WAITSOME: tag')
      call MPI_TESTSOME(3, request, out, which, statuses, ierr)
      call check_that(out .eq. MPI_UNDEFINED, 'MPI_TESTSOME')
      end

C     Blanks at the end are no part of a string.
      subroutine strings(rank)
      include 'mpif.h'
      integer rank, ierr, length, info, comm
      character*(MPI_MAX_PROCESSOR_NAME) host
      character*(MPI_MAX_OBJECT_NAME) name
      character*20 value
      character*3 short
      character*(MPI_MAX_ERROR_STRING) text
      logical flag
      host = '#'
      call MPI_GET_PROCESSOR_NAME(host, length, ierr)
      call check_that(host(length:length) .ne. ' ' .and.
     &     host(length+1:) .eq. ' ', 'MPI_GET_PROCESSOR_NAME')
      call MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierr)
      call MPI_COMM_SET_NAME(comm, 'two words   ', ierr)
      name = '#'
      call MPI_COMM_GET_NAME(comm, name, length, ierr)
      call check_that(name .eq. 'two words' .and. length .eq. 9,
     &     'MPI_COMM_GET_NAME')
      call MPI_COMM_GET_NAME(comm, short, length, ierr)
      call check_that(short .eq. 'two', 'a short string')
      call MPI_COMM_FREE(comm, ierr)
      call MPI_INFO_CREATE(info, ierr)
      call MPI_INFO_SET(info, '  a key ', '  a value  ', ierr)
      value = '#'
      call MPI_INFO_GET(info, 'a key', 20, value, flag, ierr)
      call check_that(flag .and. value .eq. 'a value', 'MPI_INFO_GET')
      call MPI_INFO_GET_VALUELEN(info, 'a key  ', length, flag, ierr)
      call check_that(flag .and. length .eq. 7, 'MPI_INFO_GET_VALUELEN')
      length = 4
      call MPI_INFO_GET_STRING(info, 'a key', length, value, flag, ierr)
      call check_that(flag .and. length .eq. 7 .and. value .eq.
     &     'a va', 'MPI_INFO_GET_STRING')
      call MPI_INFO_GET(info, 'no key', 20, value, flag, ierr)
      call check_that(.not. flag .and. value .eq. 'a va', 'no key')
      call MPI_INFO_GET_NTHKEY(info, 0, value, ierr)
      call check_that(value .eq. 'a key', 'MPI_INFO_GET_NTHKEY')
      call MPI_INFO_FREE(info, ierr)
      call MPI_ERROR_STRING(MPI_ERR_TRUNCATE, text, length, ierr)
      call check_that(length .gt. 5 .and. text(length+1:) .eq. ' ',
     &     'MPI_ERROR_STRING')
      end

C     Attributes: those of MPI-1, and those with addresses.
      subroutine attributes(rank)
      include 'mpif.h'
      integer rank, ierr, key, comm, value, state, old_key
      integer (kind=MPI_ADDRESS_KIND) extra, wide
      integer copies, deletes
      common /counts/ copies, deletes
      logical flag
      external copy_it, delete_it, old_copy
      copies = 0
      deletes = 0
      call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, wide, flag,
     &     ierr)
      call check_that(flag .and. wide .ge. 32767, 'MPI_TAG_UB')
      call MPI_ATTR_GET(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value,
     &     flag, ierr)
      call check_that(.not. flag .or. value .le. 1, 'MPI_ATTR_GET')
      extra = 5
      call MPI_COMM_CREATE_KEYVAL(copy_it, delete_it, key, extra, ierr)
      wide = 3000000000_MPI_ADDRESS_KIND + rank
      call MPI_COMM_SET_ATTR(MPI_COMM_WORLD, key, wide, ierr)
      state = 7
      call MPI_KEYVAL_CREATE(old_copy, MPI_NULL_DELETE_FN, old_key,
     &     state, ierr)
      call MPI_ATTR_PUT(MPI_COMM_WORLD, old_key, -rank - 1, ierr)
      call MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierr)
      wide = 0
      call MPI_COMM_GET_ATTR(comm, key, wide, flag, ierr)
      call check_that(flag .and. wide .eq.
     &     3000000005_MPI_ADDRESS_KIND + rank, 'a copied attribute')
      call MPI_ATTR_GET(comm, old_key, value, flag, ierr)
      call check_that(flag .and. value .eq. 2 * (-rank - 1) + 7,
     &     'a copied attribute of MPI-1')
      call MPI_COMM_FREE(comm, ierr)
      call MPI_COMM_DELETE_ATTR(MPI_COMM_WORLD, key, ierr)
      call MPI_ATTR_DELETE(MPI_COMM_WORLD, old_key, ierr)
      call check_that(copies .eq. 1 .and. deletes .eq. 2, 'callbacks')
      call MPI_COMM_FREE_KEYVAL(key, ierr)
      call check_that(key .eq. MPI_KEYVAL_INVALID, 'a freed key')
      call MPI_KEYVAL_FREE(old_key, ierr)
      call MPI_COMM_CREATE_KEYVAL(MPI_COMM_DUP_FN,
     &     MPI_COMM_NULL_DELETE_FN, key, extra, ierr)
      call MPI_COMM_SET_ATTR(MPI_COMM_SELF, key, wide, ierr)
      call MPI_COMM_DUP(MPI_COMM_SELF, comm, ierr)
      extra = 0
      call MPI_COMM_GET_ATTR(comm, key, extra, flag, ierr)
      call check_that(flag .and. extra .eq. wide, 'MPI_COMM_DUP_FN')
      call MPI_COMM_FREE(comm, ierr)
      call MPI_COMM_DELETE_ATTR(MPI_COMM_SELF, key, ierr)
      call MPI_COMM_FREE_KEYVAL(key, ierr)
      end

      subroutine copy_it(comm, key, extra, in, out, flag, ierr)
      include 'mpif.h'
      integer comm, key, ierr, copies, deletes
      integer (kind=MPI_ADDRESS_KIND) extra, in, out
      logical flag
      common /counts/ copies, deletes
      copies = copies + 1
      out = in + extra
      flag = comm .eq. MPI_COMM_WORLD
      ierr = MPI_SUCCESS
      end

      subroutine delete_it(comm, key, value, extra, ierr)
      include 'mpif.h'
      integer comm, key, ierr, copies, deletes
      integer (kind=MPI_ADDRESS_KIND) value, extra
      common /counts/ copies, deletes
      if (extra .eq. 5) deletes = deletes + 1
      ierr = MPI_SUCCESS
      end

      subroutine old_copy(comm, key, extra, in, out, flag, ierr)
      include 'mpif.h'
      integer comm, key, extra, in, out, ierr
      logical flag
      out = 2 * in + extra
      flag = .true.
      ierr = MPI_SUCCESS
      end

C     LOGICAL arguments; weights that are none.
      subroutine topologies(rank, ranks)
      include 'mpif.h'
      integer rank, ranks, ierr, comm, sub, dims(2), coords(2), size
      integer right, left, in, out, graph, from(1), to(1)
      integer weights(1), degrees(1)
      logical periods(2), remain(2), flag
      dims = 0
      call MPI_DIMS_CREATE(ranks, 2, dims, ierr)
      periods(1) = .true.
      periods(2) = .false.
      call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, periods, .false.,
     &     comm, ierr)
      periods(1) = .false.
      periods(2) = .true.
      call MPI_CART_GET(comm, 2, dims, periods, coords, ierr)
      call check_that(periods(1) .and. .not. periods(2), 'periods')
      remain(1) = .false.
      remain(2) = .true.
      call MPI_CART_SUB(comm, remain, sub, ierr)
      call MPI_COMM_SIZE(sub, size, ierr)
      call check_that(size .eq. dims(2), 'MPI_CART_SUB')
      call MPI_COMM_FREE(sub, ierr)
      call MPI_COMM_FREE(comm, ierr)
      right = mod(rank + 1, ranks)
      left = mod(rank + ranks - 1, ranks)
      call MPI_DIST_GRAPH_CREATE_ADJACENT(MPI_COMM_WORLD, 1, left,
     &     MPI_UNWEIGHTED, 1, right, MPI_UNWEIGHTED, MPI_INFO_NULL,
     &     .false., graph, ierr)
      call MPI_DIST_GRAPH_NEIGHBORS_COUNT(graph, in, out, flag, ierr)
      call check_that(in .eq. 1 .and. out .eq. 1 .and. .not. flag,
     &     'MPI_UNWEIGHTED')
      call MPI_DIST_GRAPH_NEIGHBORS(graph, 1, from, MPI_UNWEIGHTED, 1,
     &     to, MPI_UNWEIGHTED, ierr)
      call check_that(from(1) .eq. left .and. to(1) .eq. right,
     &     'MPI_DIST_GRAPH_NEIGHBORS')
      call MPI_COMM_FREE(graph, ierr)
      degrees(1) = 1
      weights(1) = 4
      call MPI_DIST_GRAPH_CREATE(MPI_COMM_WORLD, 1, rank, degrees,
     &     right, weights, MPI_INFO_NULL, .false., graph, ierr)
      call MPI_DIST_GRAPH_NEIGHBORS_COUNT(graph, in, out, flag, ierr)
      call check_that(flag, 'weights')
      call MPI_COMM_FREE(graph, ierr)
      end

C     Functions of the program, and those that have a result.
      subroutine functions(rank, ranks)
      include 'mpif.h'
      integer rank, ranks, ierr, op, got, request
      integer status(MPI_STATUS_SIZE), queries, frees
      integer (kind=MPI_ADDRESS_KIND) state, base
      double precision began
      logical flag, commutes
      common /requests/ queries, frees
      external last, query, free_it, cancel
      call MPI_OP_CREATE(last, .false., op, ierr)
      call MPI_OP_COMMUTATIVE(op, commutes, ierr)
      call check_that(.not. commutes, 'MPI_OP_COMMUTATIVE')
      call MPI_ALLREDUCE(rank, got, 1, MPI_INTEGER, op,
     &     MPI_COMM_WORLD, ierr)
      call check_that(got .eq. ranks - 1, 'an operation')
      call MPI_OP_FREE(op, ierr)
      call check_that(op .eq. MPI_OP_NULL, 'MPI_OP_FREE')
      began = MPI_WTIME()
      call check_that(MPI_WTIME() .ge. began .and. MPI_WTICK() .gt. 0,
     &     'MPI_WTIME')
      base = 100
      call check_that(MPI_AINT_ADD(base, base) .eq. 200 .and.
     &     MPI_AINT_DIFF(base, base) .eq. 0, 'MPI_AINT_ADD')
      queries = 0
      frees = 0
      state = 42
      call MPI_GREQUEST_START(query, free_it, cancel, state, request,
     &     ierr)
      call MPI_TEST(request, flag, status, ierr)
      call check_that(.not. flag, 'MPI_TEST')
      call MPI_GREQUEST_COMPLETE(request, ierr)
      call MPI_WAIT(request, status, ierr)
      call check_that(queries .eq. 1 .and. frees .eq. 1 .and.
     &     status(MPI_SOURCE) .eq. 42, 'a generalised request')
      end

      subroutine last(in, inout, length, type)
      include 'mpif.h'
      integer length, type, in(length), inout(length)
      call check_that(type .eq. MPI_INTEGER, 'the type of an operation')
      end

      subroutine query(state, status, ierr)
      include 'mpif.h'
      integer (kind=MPI_ADDRESS_KIND) state
      integer status(MPI_STATUS_SIZE), ierr, queries, frees
      common /requests/ queries, frees
      queries = queries + 1
      status(MPI_SOURCE) = state
      status(MPI_TAG) = 1
      call MPI_STATUS_SET_CANCELLED(status, .false., ierr)
      call MPI_STATUS_SET_ELEMENTS(status, MPI_BYTE, 0, ierr)
      ierr = MPI_SUCCESS
      end

      subroutine free_it(state, ierr)
      include 'mpif.h'
      integer (kind=MPI_ADDRESS_KIND) state
      integer ierr, queries, frees
      common /requests/ queries, frees
      if (state .eq. 42) frees = frees + 1
      ierr = MPI_SUCCESS
      end

      subroutine cancel(state, complete, ierr)
      include 'mpif.h'
      integer (kind=MPI_ADDRESS_KIND) state
      logical complete
      integer ierr
      ierr = MPI_SUCCESS
      end

C     Error codes instead of the end of the job, and error handlers.
      subroutine errors()
      include 'mpif.h'
      integer ierr, class, handler, comm, freed, seen
      common /errs/ seen
      external note
      seen = 0
      call MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierr)
      call MPI_COMM_SET_ERRHANDLER(comm, MPI_ERRORS_RETURN, ierr)
      call MPI_SEND(comm, -1, MPI_INTEGER, 0, 0, comm, ierr)
      call MPI_ERROR_CLASS(ierr, class, ierr)
      call check_that(class .eq. MPI_ERR_COUNT, 'a wrong count')
      call MPI_COMM_CREATE_ERRHANDLER(note, handler, ierr)
      call MPI_COMM_SET_ERRHANDLER(comm, handler, ierr)
      call MPI_SEND(comm, 1, MPI_INTEGER, 1000000, 0, comm, ierr)
      call check_that(seen .eq. MPI_ERR_RANK, 'an error handler')
      call MPI_ERRHANDLER_FREE(handler, ierr)
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_RETURN,
     &     ierr)
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN,
     &     ierr)
      freed = comm
      call MPI_COMM_FREE(comm, ierr)
      call MPI_COMM_SIZE(MPI_COMM_NULL, class, ierr)
      call MPI_ERROR_CLASS(ierr, class, ierr)
      call check_that(class .eq. MPI_ERR_COMM, 'MPI_COMM_NULL')
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL,
     &     ierr)
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD,
     &     MPI_ERRORS_ARE_FATAL, ierr)
      end

      subroutine note(comm, code)
      include 'mpif.h'
      integer comm, code, seen, ierr
      common /errs/ seen
      call MPI_ERROR_CLASS(code, seen, ierr)
      end

C     What MPI-3.0 has removed from the standard.
      subroutine removed(rank)
      include 'mpif.h'
      integer rank, ierr, type, size, extent, low, high, handler, same
      integer lengths(2), places(2), types(2), got(3), sent(6), i
      call MPI_TYPE_HVECTOR(3, 1, 8, MPI_INTEGER, type, ierr)
      call MPI_TYPE_EXTENT(type, extent, ierr)
      call MPI_TYPE_LB(type, low, ierr)
      call MPI_TYPE_UB(type, high, ierr)
      call check_that(extent .eq. 20 .and. low .eq. 0 .and. high .eq.
     &     20, 'MPI_TYPE_EXTENT')
      call MPI_TYPE_COMMIT(type, ierr)
      sent = (/ (rank + i, i = 1, 6) /)
      call MPI_SENDRECV(sent, 1, type, rank, 1, got, 3, MPI_INTEGER,
     &     rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call check_that(all(got .eq. sent(1:5:2)), 'MPI_TYPE_HVECTOR')
      call MPI_TYPE_FREE(type, ierr)
      lengths(1) = 2
      lengths(2) = 1
      places(1) = 0
      places(2) = 16
      types(1) = MPI_INTEGER
      types(2) = MPI_DOUBLE_PRECISION
      call MPI_TYPE_STRUCT(2, lengths, places, types, type, ierr)
      call MPI_TYPE_SIZE(type, size, ierr)
      call MPI_TYPE_EXTENT(type, extent, ierr)
      call check_that(size .eq. 16 .and. extent .eq. 24,
     &     'MPI_TYPE_STRUCT')
      call MPI_TYPE_FREE(type, ierr)
      call MPI_TYPE_HINDEXED(2, lengths, places, MPI_INTEGER, type,
     &     ierr)
      call MPI_TYPE_EXTENT(type, extent, ierr)
      call check_that(extent .eq. 20, 'MPI_TYPE_HINDEXED')
      call MPI_TYPE_FREE(type, ierr)
      call MPI_ERRHANDLER_GET(MPI_COMM_WORLD, handler, ierr)
      call MPI_ERRHANDLER_SET(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
      call MPI_ERRHANDLER_GET(MPI_COMM_WORLD, same, ierr)
      call check_that(same .eq. MPI_ERRORS_RETURN, 'MPI_ERRHANDLER_SET')
      call MPI_ERRHANDLER_SET(MPI_COMM_WORLD, handler, ierr)
      end
