! The kernel IS of the NAS Parallel Benchmarks, written from their specification (Bailey et al., RNR-94-007): the ranks of integer keys, ten times
! with two keys changed in between, and at the end the sorted keys. Most of the time goes to one exchange of each rank with each other one.
!
!     mpiexec -n 4 ./is S          classes S, W, A; the number of ranks divides that of the keys, so it is a power of two
!
! Keys are counted by their leading bits in buckets. Buckets that follow each other belong to one rank, so that each has about as many keys. It gets
! them by MPI_Alltoallv, and counts them by value: the rank of a value is the number of keys that are less.
include 'common.inc'
program is
  use nas_common
  implicit none
  integer, parameter :: iterations = 10, tests = 5, buckets = 512
  integer :: total, limit, own, bucket_size, iteration, failures
  integer :: test_places(tests), test_ranks(tests), rising, lag_of_rising, lag_of_falling
  ! This rank counts values low .. high - 1; `below` keys are less than low; it got `arrived` of them.
  integer :: low, high, below, arrived
  integer, allocatable :: keys(:), packed(:), received(:), less(:)
  integer, allocatable, dimension(:) :: send_counts, send_places, receive_counts, receive_places
  logical :: verified

  call start()
  call choose_class()
  own = total / ranks
  bucket_size = limit / buckets
  allocate (keys(0:own - 1), packed(0:own - 1), received(0:2 * own - 1), less(0:0))
  allocate (send_counts(0:ranks - 1), send_places(0:ranks - 1), receive_counts(0:ranks - 1), receive_places(0:ranks - 1))
  call make_keys()
  ! One iteration that is not measured touches all that is used.
  call rank_keys(1)
  failures = 0
  call start_clock()
  do iteration = 1, iterations
    call rank_keys(iteration)
    call check_tests(iteration)
  end do
  call stop_clock()
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  verified = is_sorted() .and. failures == 0
  if (rank == 0) then
    print '(3a,2(i0,a),i0,a)', 'IS class ', class, ': ', total, ' keys below ', limit, ', ', ranks, ' ranks'
    print '(2(i0,a))', iterations * tests - failures, ' of ', iterations * tests, ' ranks are those of the specification'
  end if
  call finish(real(iterations, wide) * total, verified)

contains

  ! The specification has A; S and W are of NASA's later programs. In iteration i the first `rising` of the tested keys have the rank that stands
  ! here and i - lag_of_rising more, the others i - lag_of_falling less.
  subroutine choose_class()
    rising = 3
    lag_of_rising = 0
    lag_of_falling = 0
    select case (class)
    case ('S')
      total = 2**16; limit = 2**11
      test_places = [48427, 17148, 23627, 62548, 4431]
      test_ranks = [0, 18, 346, 64917, 65463]
    case ('W')
      total = 2**20; limit = 2**16; rising = 2; lag_of_rising = 2
      test_places = [357773, 934767, 875723, 898999, 404505]
      test_ranks = [1249, 11698, 1039987, 1043896, 1048018]
    case ('A')
      total = 2**23; limit = 2**19; lag_of_rising = 1; lag_of_falling = 1
      test_places = [2112377, 662041, 5336171, 3642833, 4250760]
      test_ranks = [104, 17523, 123928, 8288932, 8388264]
    case default
      call refuse('usage: is CLASS, with one of S, W, A')
    end select
    if (.not. is_power_of_two(ranks) .or. ranks > buckets) call refuse('is: ranks are no power of two, or more than 512')
  end subroutine

  ! A key is the mean of four random numbers, so most are near the middle.
  subroutine make_keys()
    integer(long) :: x
    integer :: i, j
    real(wide) :: four
    x = after(314159265_long, 4_long * own * rank)
    do i = 0, own - 1
      four = 0
      do j = 1, 4
        four = four + random(x)
      end do
      keys(i) = int(limit / 4 * four)
    end do
  end subroutine

  subroutine rank_keys(iteration)
    integer, intent(in) :: iteration
    integer :: i, at
    if (rank == 0) then
      keys(iteration) = iteration
      keys(iteration + iterations) = limit - iteration
    end if
    call divide()
    call begin_communication()
    call MPI_Alltoall(send_counts, 1, MPI_INTEGER, receive_counts, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call end_communication()
    at = 0
    do i = 0, ranks - 1
      receive_places(i) = at
      at = at + receive_counts(i)
    end do
    arrived = at
    if (arrived > size(received)) then
      deallocate (received)
      allocate (received(0:arrived - 1))
    end if
    call begin_communication()
    call MPI_Alltoallv(packed, send_counts, send_places, MPI_INTEGER, received, receive_counts, receive_places, MPI_INTEGER, &
                       MPI_COMM_WORLD)
    call end_communication()
    call count_values()
  end subroutine

  ! Counts the buckets of all ranks, gives each to a rank, and packs this rank's keys in the order of buckets.
  subroutine divide()
    integer :: mine(0:buckets - 1), all(0:buckets - 1), places(0:buckets - 1)
    integer :: i, bucket, at, before, owner, first, last
    mine = 0
    do i = 0, own - 1
      bucket = keys(i) / bucket_size
      mine(bucket) = mine(bucket) + 1
    end do
    call begin_communication()
    call MPI_Allreduce(mine, all, buckets, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call end_communication()
    send_counts = 0
    first = buckets
    last = -1
    below = 0
    before = 0
    at = 0
    do bucket = 0, buckets - 1
      owner = min(before / own, ranks - 1)
      if (owner == rank .and. first == buckets) then
        first = bucket
        below = before
      end if
      if (owner == rank) last = bucket
      send_counts(owner) = send_counts(owner) + mine(bucket)
      places(bucket) = at
      at = at + mine(bucket)
      before = before + all(bucket)
    end do
    low = first * bucket_size
    high = (last + 1) * bucket_size
    at = 0
    do owner = 0, ranks - 1
      send_places(owner) = at
      at = at + send_counts(owner)
    end do
    do i = 0, own - 1
      bucket = keys(i) / bucket_size
      packed(places(bucket)) = keys(i)
      places(bucket) = places(bucket) + 1
    end do
  end subroutine

  ! less(value): how many keys of all ranks are less.
  subroutine count_values()
    integer :: i, before, number
    if (lbound(less, 1) /= low .or. ubound(less, 1) /= high - 1) then
      deallocate (less)
      allocate (less(low:high - 1))
    end if
    less = 0
    do i = 0, arrived - 1
      less(received(i)) = less(received(i)) + 1
    end do
    before = below
    do i = low, high - 1
      number = less(i)
      less(i) = before
      before = before + number
    end do
  end subroutine

  ! The rank that counts the value of a tested key compares.
  subroutine check_tests(iteration)
    integer, intent(in) :: iteration
    integer :: values(tests), i, expected
    values = -1
    do i = 1, tests
      if (test_places(i) / own == rank) values(i) = keys(mod(test_places(i), own))
    end do
    call begin_communication()
    call MPI_Allreduce(MPI_IN_PLACE, values, tests, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call end_communication()
    do i = 1, tests
      if (values(i) < low .or. values(i) >= high) cycle
      expected = test_ranks(i) + merge(iteration - lag_of_rising, lag_of_falling - iteration, i <= rising)
      if (less(values(i)) /= expected) failures = failures + 1
    end do
  end subroutine

  ! Puts each key of this rank at its rank, and looks whether none is less than the one before, here and on the ranks before; and none is lost.
  logical function is_sorted()
    integer :: i, at, sorted(0:max(arrived, 1) - 1), greatest, before, wrong(2)
    sorted = -1
    do i = 0, arrived - 1
      at = less(received(i)) - below
      less(received(i)) = less(received(i)) + 1
      sorted(at) = received(i)
    end do
    greatest = -1
    if (arrived > 0) greatest = sorted(arrived - 1)
    before = -1
    call MPI_Exscan(greatest, before, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    if (rank == 0) before = -1
    wrong = [0, arrived]
    do i = 0, arrived - 1
      if (sorted(i) < before .or. sorted(i) < 0) wrong(1) = wrong(1) + 1
      before = sorted(i)
    end do
    call MPI_Allreduce(MPI_IN_PLACE, wrong, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    is_sorted = wrong(1) == 0 .and. wrong(2) == total
  end function
end program is
