! Buffers that are sections of arrays: described in place where the call allows it, copied where it blocks, and refused otherwise.
program sections
  use mpi_f08
  use checks
  implicit none
  integer :: rank, ranks, all_failures, right, left
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  call point_to_point()
  call partial()
  call wide_elements()
  call blocks()
  call reductions()
  call persistent()
  call refused()
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(i0,a,i0,a)', ranks, ' ranks, ', all_failures, ' failures'
  call MPI_Finalize()
contains
  ! The numbers of the elements of a cube, so that each is known by its place.
  function numbered(of) result(cube)
    integer, intent(in) :: of
    integer :: cube(6, 5, 4), i
    cube = reshape([(of * 1000 + i, i = 1, 120)], [6, 5, 4])
  end function

  subroutine point_to_point()
    integer :: cube(6, 5, 4), got(6, 5, 4), packed(24), expected(6, 5, 4), i
    type(MPI_Request) :: requests(2)
    cube = numbered(rank)
    ! The receiver has it contiguous; the array may change as soon as the send is complete, not before.
    call MPI_Irecv(packed, 24, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(cube(1:6:2, 2:5:3, :), 24, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    expected = numbered(left)
    call check(all(packed == reshape(expected(1:6:2, 2:5:3, :), [24])), 'a section that is sent')
    ! Received into a section, sent from one that runs backwards.
    got = -1
    expected = -1
    call MPI_Irecv(got(2:6:2, 1:5:4, 4:1:-1), 24, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(1))
    packed = [(i, i = 1, 24)]
    call MPI_Isend(packed(24:1:-1), 24, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    expected(2:6:2, 1:5:4, 4:1:-1) = reshape([(i, i = 24, 1, -1)], [3, 2, 4])
    call check(all(got == expected), 'a section that is received')
    cube = numbered(rank)
    call MPI_Bcast(cube(:, 3, :), 24, MPI_INTEGER, 0, MPI_COMM_WORLD)
    expected = numbered(rank)
    got = numbered(0)
    expected(:, 3, :) = got(:, 3, :)
    call check(all(cube == expected), 'MPI_Bcast')
    call MPI_Sendrecv_replace(cube(1, :, 1), 5, MPI_INTEGER, right, 3, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    got = numbered(left)
    call check(cube(1, 1, 1) == got(1, 1, 1) .and. all(cube(2, :, 2:) == expected(2, :, 2:)), 'MPI_Sendrecv_replace')
  end subroutine

  ! Counts that end within a row, a plane, an element; and nothing.
  subroutine partial()
    integer :: cube(6, 5, 4), got(120), count, i, sent(60)
    double complex :: z(8), w(4)
    cube = numbered(rank)
    sent = reshape(cube(1:6:2, :, :), [60])
    do count = 0, 60, 7
      got = -1
      call MPI_Sendrecv(cube(1:6:2, :, :), count, MPI_INTEGER, rank, 1, got, 120, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, &
                        MPI_STATUS_IGNORE)
      call check(all(got(:count) == sent(:count)) .and. all(got(count + 1:) == -1), 'a count within a section')
    end do
    ! Halves of elements: each is two datatypes.
    z = [(cmplx(i, -i, kind(1d0)), i = 1, 8)]
    w = 0
    call MPI_Sendrecv(z(1:8:2), 7, MPI_DOUBLE_PRECISION, rank, 1, w, 8, MPI_DOUBLE_PRECISION, rank, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call check(all(w(:3) == z(1:5:2)) .and. real(w(4)) == 7 .and. aimag(w(4)) == 0, 'half an element')
  end subroutine

  ! A datatype of several elements lies over those of the section, as if this were an array of its own.
  subroutine wide_elements()
    integer :: line(20), got(10), i
    type(MPI_Datatype) :: pair
    line = [(i, i = 1, 20)]
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    call MPI_Sendrecv(line(1:20:2), 5, pair, rank, 1, got, 10, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(got == line(1:20:2)), 'a datatype of two elements')
    call MPI_Type_free(pair)
  end subroutine

  subroutine blocks()
    integer :: table(2, 3 * ranks), plane(4, 2 * ranks), from(2 * ranks), to(2 * ranks), counts(ranks), places(ranks), i
    type(MPI_Request) :: request
    from = [(rank * 100 + i, i = 1, 2 * ranks)]
    table = -1
    ! One distance between all elements: a datatype with this extent.
    call MPI_Allgather(from, 2, MPI_INTEGER, table(1, 1:2 * ranks), 2, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(table(1, 1:2 * ranks:2) == [(i * 100 + 1, i = 0, ranks - 1)]) .and. all(table(2, :) == -1), 'MPI_Allgather')
    counts = 1
    places = [(2 * i, i = 0, ranks - 1)]
    table = -1
    call MPI_Iallgatherv(from, 1, MPI_INTEGER, table(2, :), counts, places, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(table(2, 1:2 * ranks:2) == [(i * 100 + 1, i = 0, ranks - 1)]) .and. all(table(2, 2:2 * ranks:2) == -1), &
               'MPI_Iallgatherv')
    ! Several distances: a call that blocks has a copy.
    plane = -1
    call MPI_Alltoall(from, 2, MPI_INTEGER, plane(1:4:3, 1:2 * ranks:2), 2, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(plane(1, 1:2 * ranks:2) == [(i * 100 + 2 * rank + 1, i = 0, ranks - 1)]) .and. all(plane(2:3, :) == -1) .and. &
               all(plane(:, 2:2 * ranks:2) == -1), 'MPI_Alltoall')
    to = -1
    call MPI_Gather(plane(1:4:3, 1), 2, MPI_INTEGER, to, 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank == 0) call check(all(to == [(i, i + 1, i = 1, 2 * ranks, 2)]), 'MPI_Gather')
  end subroutine

  subroutine reductions()
    integer :: line(10), sums(10), i
    line = [(i * (rank + 1), i = 1, 10)]
    sums = -1
    call MPI_Allreduce(line(1:10:3), sums(2:10:2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(sums(2:8:2) == [1, 4, 7, 10] * (ranks * (ranks + 1) / 2)) .and. all(sums(1:9:2) == -1) .and. sums(10) == -1, &
               'MPI_Allreduce')
    call MPI_Allreduce(MPI_IN_PLACE, line(2:3), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(line(3) == 3 * ranks * (ranks + 1) / 2, 'MPI_IN_PLACE')
  end subroutine

  ! The section's description outlives the call.
  subroutine persistent()
    integer :: line(10), got(10), round
    type(MPI_Request) :: requests(2)
    got = -1
    call MPI_Send_init(line(2:10:2), 5, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(1))
    call MPI_Recv_init(got(1:9:2), 5, MPI_INTEGER, left, 4, MPI_COMM_WORLD, requests(2))
    do round = 1, 3
      line = rank * 10 + round
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call check(all(got(1:9:2) == left * 10 + round) .and. all(got(2:10:2) == -1), 'a persistent request')
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine

  ! What cannot be described and outlives the call: an error that says so.
  subroutine refused()
    integer :: line(10), sums(10), ierr, class, length
    type(MPI_Comm) :: comm
    type(MPI_Request) :: request
    character(len=MPI_MAX_ERROR_STRING) :: text
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
    line = 1
    call MPI_Iallreduce(line(1:10:2), sums, 5, MPI_INTEGER, MPI_SUM, comm, request, ierr)
    call MPI_Error_class(ierr, class)
    call MPI_Error_string(ierr, text, length)
    call check(class == MPI_ERR_BUFFER .and. index(text, 'MPI_Iallreduce (sendbuf)') > 0, 'MPI_Iallreduce: '//text(:length))
    call MPI_Comm_free(comm)
  end subroutine
end program
