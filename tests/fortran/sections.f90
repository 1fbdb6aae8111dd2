! Buffers that are sections of arrays: described in place where the call allows it, otherwise copied until the call or its request is complete, and
! refused where nothing tells when that is.
module others
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer, target :: field(20)
contains
  ! An operation during which other elements of the array change, as those that a message or another thread writes.
  subroutine add(in, inout, length, datatype)
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: from(:), to(:)
    call c_f_pointer(in, from, [length])
    call c_f_pointer(inout, to, [length])
    to = to + from
    field(13) = 77
    field(14) = 78
  end subroutine

  subroutine on_error(comm, code)
    type(MPI_Comm) :: comm
    integer :: code
    field(15) = 79
  end subroutine
end module

program sections
  use mpi_f08
  use checks
  use others
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
  call interleaved()
  call blocks()
  call reductions()
  call persistent()
  call kept_copies()
  call kept_blocks()
  call kept_persistent()
  call kept_by_other_calls()
  call refused()
  call only_its_own()
  call at_the_root_only()
  if (ranks > 1) call two_groups()
  call little()
  call error_handlers()
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

  ! A datatype that is resized to less than it spans, as the column of a table that is transposed: its elements interleave.
  subroutine interleaved()
    integer :: line(16), got(16), part(8), wanted(8), i
    type(MPI_Datatype) :: column, resized
    line = [(i, i = 0, 15)]
    part = line(1:16:2)
    call MPI_Type_vector(2, 1, 4, MPI_INTEGER, column)
    call MPI_Type_create_resized(column, 0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND, resized)
    call MPI_Type_commit(resized)
    call MPI_Sendrecv(part, 4, resized, rank, 1, wanted, 8, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(line(1:16:2), 4, resized, rank, 1, part, 8, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(part == wanted), 'elements that interleave are sent')
    got = -1
    call MPI_Sendrecv(wanted, 8, MPI_INTEGER, rank, 1, got(1:16:2), 4, resized, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(got(1:16:2) == line(1:16:2)) .and. all(got(2:16:2) == -1), 'elements that interleave are received')
    call MPI_Type_free(column)
    call MPI_Type_free(resized)
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

  ! Whether the library keeps copies until a request is complete. Another one refuses these calls.
  logical function keeps_copies()
    integer :: line(4), ierr
    type(MPI_Comm) :: comm
    type(MPI_Request) :: request
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
    line = 1
    call MPI_Iallreduce(MPI_IN_PLACE, line(1:4:2), 2, MPI_INTEGER, MPI_SUM, comm, request, ierr)
    keeps_copies = ierr == MPI_SUCCESS
    if (keeps_copies) call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Comm_free(comm)
  end function

  ! Reductions: completed in each way, with what lies between the elements untouched, and written while the operation runs.
  subroutine kept_copies()
    integer :: line(10), sums(10), other(10), gap, round, index, out, indices(2), expected(5), i
    logical :: flag
    type(MPI_Request) :: requests(2), request
    if (.not. keeps_copies()) return
    gap = ranks * (ranks + 1) / 2
    do round = 1, 7
      line = [(i * (rank + 1), i = 1, 10)]
      sums = -1
      other = [(i * (rank + 1), i = 1, 10)]
      call MPI_Iallreduce(line(1:10:2), sums(2:10:2), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
      call MPI_Iallreduce(MPI_IN_PLACE, other(10:2:-2), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(2))
      sums(1) = -2
      select case (round)
      case (1)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      case (2)
        call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
      case (3)
        flag = .false.
        do while (.not. flag)
          call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE)
        end do
      case (4)
        do i = 1, 2
          call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE)
        end do
      case (5)
        do while (any(requests /= MPI_REQUEST_NULL))
          call MPI_Waitsome(2, requests, out, indices, MPI_STATUSES_IGNORE)
        end do
      case (6)
        do i = 1, 2
          flag = .false.
          do while (.not. flag)
            call MPI_Request_get_status(requests(i), flag, MPI_STATUS_IGNORE)
          end do
        end do
        ! What the program writes now it has written after the operation.
        call check(other(2) == 2 * gap, 'MPI_Request_get_status')
        other(2) = 5
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call check(other(2) == 5, 'written after MPI_Request_get_status')
        other(2) = 2 * gap
      case (7)
        flag = .false.
        do while (.not. flag)
          call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE)
        end do
        call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
      end select
      expected = [1, 3, 5, 7, 9] * gap
      call check(all(sums(2:10:2) == expected) .and. all(sums(3:9:2) == -1) .and. sums(1) == -2, 'MPI_Iallreduce')
      call check(all(other(2:10:2) == [2, 4, 6, 8, 10] * gap) .and. all(other(1:9:2) == [1, 3, 5, 7, 9] * (rank + 1)), &
                 'MPI_Iallreduce in place, backwards')
    end do
    sums = -1
    call MPI_Iscan(line(1:10:2), sums(1:10:2), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(sums(3) == 3 * (rank + 1) * (rank + 2) / 2 .and. sums(2) == -1, 'MPI_Iscan')
    call MPI_Iexscan(line(1:10:2), sums(1:10:2), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(rank == 0 .or. sums(3) == 3 * rank * (rank + 1) / 2, 'MPI_Iexscan')
    call MPI_Ireduce(line(1:10:2), sums(2:10:2), 5, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(rank /= 0 .or. sums(10) == 9 * gap, 'MPI_Ireduce')
    block
      integer :: wide(2 * ranks), part(4)
      wide = [(i, i = 1, 2 * ranks)]
      part = -1
      call MPI_Ireduce_scatter_block(wide(1:2 * ranks:2), part(4:1:-3), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(part(4) == ranks * (2 * rank + 1) .and. all(part(1:3) == -1), 'MPI_Ireduce_scatter_block')
      call MPI_Ireduce_scatter(wide(2 * ranks:1:-2), part(1:3:2), [(1, i = 1, ranks)], MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
                               request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(part(1) == ranks * (2 * ranks - 2 * rank) .and. part(2) == -1, 'MPI_Ireduce_scatter')
    end block
  end subroutine

  ! Blocks that no datatype describes.
  subroutine kept_blocks()
    integer :: from(4), table(4, 2 * ranks), line(2 * ranks), counts(ranks), places(ranks), i
    type(MPI_Datatype) :: types(ranks)
    type(MPI_Request) :: request
    if (.not. keeps_copies()) return
    from = rank * 10 + [1, 2, 3, 4]
    line = -1
    call MPI_Iallgather(from, 1, MPI_INTEGER, line(2 * ranks:1:-2), 1, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(line(2 * ranks:1:-2) == [(i * 10 + 1, i = 0, ranks - 1)]) .and. all(line(1:2 * ranks:2) == -1), 'backwards')
    table = -1
    call MPI_Iallgather(from(1:4:3), 2, MPI_INTEGER, table(1:4:3, 1:2 * ranks:2), 2, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(table(4, 1:2 * ranks:2) == [(i * 10 + 4, i = 0, ranks - 1)]) .and. all(table(2:3, :) == -1), 'a matrix')
    counts = 1
    places = [(i, i = ranks - 1, 0, -1)]
    table = rank
    line = -1
    call MPI_Ialltoallv(table(1:4:3, 1:ranks), counts, places, MPI_INTEGER, line(2 * ranks:1:-2), counts, places, MPI_INTEGER, &
                        MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(line(2:2 * ranks:2) == [(i, i = 0, ranks - 1)]), 'MPI_Ialltoallv')
    types = MPI_INTEGER
    line = -1
    call MPI_Ialltoallw(table(1:4:3, 1:ranks), counts, 4 * places, types, line(2:2 * ranks:2), counts, 4 * places, types, &
                        MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(line(2:2 * ranks:2) == [(i, i = ranks - 1, 0, -1)]) .and. line(1) == -1, 'MPI_Ialltoallw')
  end subroutine

  ! Each start takes what the array has then.
  subroutine kept_persistent()
    integer :: line(10), sums(10), from(2), table(4, 2 * ranks), round, i
    type(MPI_Request) :: requests(2)
    if (.not. keeps_copies()) return
    sums = -1
    table = -1
    call MPI_Allreduce_init(line(1:10:2), sums(10:1:-2), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
    call MPI_Allgather_init(from, 2, MPI_INTEGER, table(1:4:3, 1:2 * ranks:2), 2, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, &
                            requests(2))
    do round = 1, 3
      line = [(i * round, i = 1, 10)]
      from = rank * 10 + round
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call check(all(sums(10:1:-2) == [1, 3, 5, 7, 9] * round * ranks) .and. all(sums(1:9:2) == -1), 'MPI_Allreduce_init')
      call check(all(table(4, 1:2 * ranks:2) == [(i * 10 + round, i = 0, ranks - 1)]) .and. all(table(3, :) == -1), &
                 'MPI_Allgather_init')
    end do
    sums(10) = -5
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    call check(sums(10) == -5, 'a request that is freed')
  end subroutine

  ! Elements that are part of a datatype's one: of messages, of files, of windows, persistent and freed before they are complete.
  subroutine kept_by_other_calls()
    integer :: line(8), got(8), memory(8), i
    character(len=40) :: name
    type(MPI_File) :: file
    type(MPI_Win) :: win
    type(MPI_Request) :: requests(2)
    if (.not. keeps_copies()) return
    line = [(rank * 10 + i, i = 1, 8)]
    got = -1
    call MPI_Irecv(got(2:8:2), 2, MPI_2INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(line(1:8:2), 2, MPI_2INTEGER, right, 1, MPI_COMM_WORLD, requests(2))
    line(2) = -7
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all(got(2:8:2) == left * 10 + [1, 3, 5, 7]) .and. all(got(1:7:2) == -1), 'MPI_Isend, MPI_Irecv')
    call MPI_Send_init(line(1:8:2), 2, MPI_2INTEGER, right, 2, MPI_COMM_WORLD, requests(1))
    line(3) = 99
    call MPI_Start(requests(1))
    call MPI_Recv(got(1:8:2), 2, MPI_2INTEGER, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Request_free(requests(1))
    call check(all(got(1:8:2) == [left * 10 + 1, 99, left * 10 + 5, left * 10 + 7]), 'MPI_Send_init')
    call MPI_Isend(line(1:8:2), 2, MPI_2INTEGER, right, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Request_free(requests(1))
    call MPI_Recv(got, 2, MPI_2INTEGER, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(got(4) == left * 10 + 7, 'a request that is freed at once')
    write (name, '(a,i0,a)') 'kept.', rank, '.data'
    call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
    call MPI_File_iwrite_at(file, 0_MPI_OFFSET_KIND, line(1:8:2), 2, MPI_2INTEGER, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    got = -1
    call MPI_File_iread_at(file, 0_MPI_OFFSET_KIND, got(1:8:2), 2, MPI_2INTEGER, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(all(got(1:8:2) == line(1:8:2)) .and. all(got(2:8:2) == -1), 'MPI_File_iwrite_at, MPI_File_iread_at')
    call MPI_File_close(file)
    memory = -1
    call MPI_Win_create(memory, 32_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)
    call MPI_Rput(line(1:8:2), 2, MPI_2INTEGER, 0, 0_MPI_ADDRESS_KIND, 2, MPI_2INTEGER, win, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Win_flush(0, win)
    got = -1
    call MPI_Rget(got(1:8:2), 2, MPI_2INTEGER, 0, 0_MPI_ADDRESS_KIND, 2, MPI_2INTEGER, win, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Win_unlock(0, win)
    call check(all(memory(1:4) == line(1:8:2)) .and. all(got(1:8:2) == line(1:8:2)) .and. all(got(2:8:2) == -1), &
               'MPI_Rput, MPI_Rget')
    call MPI_Win_free(win)
  end subroutine

  ! What cannot be described and outlives the call, of which no request tells: an error that says so.
  subroutine refused()
    integer :: line(10), ierr, again, class, length
    type(MPI_Win) :: win
    character(len=MPI_MAX_ERROR_STRING) :: text
    line = 1
    call MPI_Win_create(line, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win)
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
    call MPI_Win_fence(0, win)
    call MPI_Put(line(1:8:2), 2, MPI_2INTEGER, 0, 0_MPI_ADDRESS_KIND, 2, MPI_2INTEGER, win, ierr)
    call MPI_Error_class(ierr, class)
    call MPI_Error_string(ierr, text, length)
    call check(class == MPI_ERR_BUFFER .and. index(text, 'MPI_Put (origin_addr)') > 0, 'MPI_Put: '//text(:length))
    call MPI_Put(line(1:8:2), 2, MPI_2INTEGER, 0, 0_MPI_ADDRESS_KIND, 2, MPI_2INTEGER, win, again)
    call check(again == ierr, 'the same refusal has the same code')
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
  end subroutine

  ! What a call does not write may change while it runs: elements behind its count, and between those of a section.
  subroutine only_its_own()
    integer :: from(20), i, ierr
    type(MPI_Op) :: op
    type(MPI_Comm) :: comm
    type(MPI_Errhandler) :: handler
    call MPI_Op_create(add, .true., op)
    field = [(i, i = 1, 20)]
    from = 100
    call MPI_Reduce_local(from, field(1:20:2), 5, MPI_INTEGER, op)
    call check(all(field(1:9:2) == [101, 103, 105, 107, 109]) .and. all(field(2:10:2) == [2, 4, 6, 8, 10]), 'MPI_Reduce_local')
    call check(field(13) == 77 .and. field(14) == 78, 'what has changed behind the count')
    call MPI_Op_free(op)
    ! Here no count says how many elements there are, and an error handler changes an element.
    field = [(i, i = 1, 20)]
    call MPI_Comm_create_errhandler(on_error, handler)
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Reduce_scatter(from, field(1:20:2), [-1], MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(field(15) == 79 .and. field(17) == 17, 'what has changed during MPI_Reduce_scatter')
    call MPI_Errhandler_free(handler)
    call MPI_Comm_free(comm)
  end subroutine

  ! At the other ranks the arguments mean nothing: datatypes that are none, and arrays that nothing has allocated.
  subroutine at_the_root_only()
    integer :: x(2), all(2, ranks), out(8), i
    integer, allocatable :: gathered(:, :), total(:)
    type(MPI_Datatype) :: type
    type(MPI_Request) :: request
    x = rank
    type = MPI_DATATYPE_NULL
    if (rank == 0) then
      type = MPI_INTEGER
      allocate(gathered(2, ranks), total(2))
    end if
    if (rank == 0) then
      call MPI_Gather(x, 2, MPI_INTEGER, all, 2, type, 0, MPI_COMM_WORLD)
      call check(all(1, ranks) == ranks - 1, 'MPI_Gather')
    else
      call MPI_Gather(x, 2, MPI_INTEGER, out(1:8:2), 2, type, 0, MPI_COMM_WORLD)
    end if
    call MPI_Gather(x, 2, MPI_INTEGER, gathered, 2, type, 0, MPI_COMM_WORLD)
    call MPI_Reduce(x, total, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0) call check(gathered(1, ranks) == ranks - 1 .and. total(2) == ranks * (ranks - 1) / 2, 'arrays of the root')
    ! A section that is not looked at is not refused either.
    if (rank == 0) then
      call MPI_Ireduce(x, total, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, request)
    else
      call MPI_Ireduce(x, out(1:8:2), 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, request)
    end if
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    all = reshape([(i, i = 1, 2 * ranks)], [2, ranks])
    if (rank == 0) then
      call MPI_Scatter(all, 2, MPI_INTEGER, x, 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
    else
      call MPI_Scatter(out(1:8:2), 2, type, x, 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
    end if
    call check(x(2) == 2 * (rank + 1), 'MPI_Scatter')
  end subroutine

  ! Between two groups: at the root what it gives means nothing, and at the others of its group nothing at all.
  subroutine two_groups()
    integer :: x(2), got(2, ranks), line(8), total(2)
    type(MPI_Comm) :: half, inter
    type(MPI_Request) :: request
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 9, inter)
    x = rank
    line = 7
    if (rank == 0) then
      call MPI_Gather(line(1:8:2), 0, MPI_DATATYPE_NULL, got, 2, MPI_INTEGER, MPI_ROOT, inter)
      call check(got(1, ranks / 2) == ranks / 2 * 2 - 1, 'MPI_Gather between groups')
      call MPI_Ireduce(line(1:8:2), total, 2, MPI_INTEGER, MPI_SUM, MPI_ROOT, inter, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(total(2) == (ranks / 2)**2, 'MPI_Ireduce between groups')
      call MPI_Bcast([1, 2, 3, 4], 4, MPI_INTEGER, MPI_ROOT, inter)
    else if (mod(rank, 2) == 0) then
      call MPI_Gather(line(1:8:2), 2, MPI_DATATYPE_NULL, line(2:8:2), 2, MPI_DATATYPE_NULL, MPI_PROC_NULL, inter)
      call MPI_Ireduce(line(1:8:2), line(2:8:2), 2, MPI_INTEGER, MPI_SUM, MPI_PROC_NULL, inter, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call MPI_Bcast(line(1:8:2), 4, MPI_INTEGER, MPI_PROC_NULL, inter)
      call check(all(line == 7), 'a group without a part in it')
    else
      call MPI_Gather(x, 2, MPI_INTEGER, line(1:8:2), 2, MPI_DATATYPE_NULL, 0, inter)
      call MPI_Ireduce(x, line(1:8:2), 2, MPI_INTEGER, MPI_SUM, 0, inter, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call MPI_Bcast(line(1:8:2), 4, MPI_INTEGER, 0, inter)
      call check(all(line == [1, 7, 2, 7, 3, 7, 4, 7]), 'MPI_Bcast between groups')
    end if
    call MPI_Comm_free(inter)
    call MPI_Comm_free(half)
  end subroutine

  ! Nothing at all, and what ends within the first element, is contiguous.
  subroutine little()
    integer :: line(10), sums(10), i
    type(MPI_Request) :: request
    type(MPI_Win) :: win
    line = [(i, i = 1, 10)]
    sums = -1
    call MPI_Iallreduce(line(2:1:2), sums(3:2:2), 0, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Iallreduce(line(1:10:2), sums(1:10:2), 0, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(sums == -1), 'no elements')
    call MPI_Iallreduce(line(3:10:2), sums(1:10:2), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(sums(1) == 3 * ranks .and. all(sums(2:) == -1), 'one element')
    call MPI_Win_create(line, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)
    call MPI_Fetch_and_op(sums(1:10:2), sums(4:10:2), MPI_INTEGER, 0, 4_MPI_ADDRESS_KIND, MPI_SUM, win)
    call MPI_Win_unlock(0, win)
    call check(sums(4) == 5 .and. line(5) == 5 + 3 * ranks, 'MPI_Fetch_and_op')
    call MPI_Win_free(win)
  end subroutine

  ! A refusal is an error of the file or the window, with the error handler of that one.
  subroutine error_handlers()
    integer :: line(8), ierr, class
    character(len=40) :: name
    type(MPI_File) :: file
    type(MPI_Win) :: win
    line = 1
    write (name, '(a,i0,a)') 'sections.', rank, '.data'
    call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
    call MPI_File_write_all_begin(file, line(1:8:2), 2, MPI_2INTEGER, ierr)
    call MPI_Error_class(ierr, class)
    call check(class == MPI_ERR_BUFFER, 'MPI_File_write_all_begin')
    call MPI_File_close(file)
    call MPI_Win_create(line, 32_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win)
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
    call MPI_Win_fence(0, win)
    call MPI_Put(line(1:8:2), 2, MPI_2INTEGER, 0, 0_MPI_ADDRESS_KIND, 2, MPI_2INTEGER, win, ierr)
    call MPI_Error_class(ierr, class)
    call check(class == MPI_ERR_BUFFER, 'MPI_Put')
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
  end subroutine
end program
