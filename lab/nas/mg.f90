! The kernel MG of the NAS Parallel Benchmarks, written from their specification (Bailey et al., RNR-94-007): V-cycles of a multigrid method for
! the Poisson equation on a cube with periodic boundaries. The right side is +1 and -1 at ten points each.
!
!     mpiexec -n 4 ./mg S          classes S, W, A, B; the number of ranks is a power of two
!
! Ranks form a grid of three dimensions, and each has a block of every level's cube and one layer around it. On coarse levels a dimension may have
! fewer points than ranks: every second rank has no point there, and sits out until the V-cycle is back at a level where it has one.
include 'common.inc'
program mg
  use nas_common
  implicit none
  integer, parameter :: charges = 10
  real(wide), parameter :: poisson(0:3) = [-8 / 3._wide, 0._wide, 1 / 6._wide, 1 / 12._wide]
  real(wide), parameter :: full(0:3) = [0.5_wide, 0.25_wide, 0.125_wide, 0.0625_wide]

  ! A rank's part of one level: how many points it has in each dimension, and whether it has any; how far its neighbours are in the grid of ranks.
  type level_type
    integer :: points(3), stride(3)
    logical :: mine
    real(wide), allocatable :: u(:, :, :), r(:, :, :)
  end type

  integer :: order, iterations, levels, iteration
  integer :: grid(3), place(3)
  real(wide) :: smoother(0:3), norm, expected
  type(level_type), allocatable :: level(:)
  real(wide), allocatable :: v(:, :, :)
  real(wide), allocatable, target, asynchronous :: to_low(:), to_high(:), from_low(:), from_high(:)
  logical :: verified

  call start()
  call choose_class()
  call make_grid()
  call make_levels()
  call make_charges()
  ! One iteration that is not measured touches all that is used.
  level(levels)%u = 0
  call leave_residual()
  call v_cycle()
  level(levels)%u = 0
  call start_clock()
  call leave_residual()
  do iteration = 1, iterations
    call v_cycle()
    call leave_residual()
  end do
  norm = norm_of(level(levels)%r, level(levels)%points)
  call stop_clock()
  verified = abs(norm - expected) / expected <= 1e-8_wide
  if (rank == 0) then
    print '(3a,i0,a,i0,a,2(i0,a),i0)', 'MG class ', class, ': order ', order, ', ', ranks, ' ranks as ', grid(1), ' x ', grid(2), &
      ' x ', grid(3)
    print '(a,es20.13,a,es20.13)', 'norm of the residual ', norm, ', expected ', expected
  end if
  call finish(58 * iterations * real(order, wide)**3, verified)

contains

  ! The specification has A and B; S and W are of NASA's later programs.
  subroutine choose_class()
    smoother = [-3 / 8._wide, 1 / 32._wide, -1 / 64._wide, 0._wide]
    iterations = 4
    select case (class)
    case ('S'); order = 32; expected = 0.5307707005734e-4_wide
    case ('W'); order = 128; expected = 0.6467329375339e-5_wide
    case ('A'); order = 256; expected = 0.2433365309069e-5_wide
    case ('B'); order = 256; iterations = 20; expected = 0.1800564401355e-5_wide
      smoother = [-3 / 17._wide, 1 / 33._wide, -1 / 61._wide, 0._wide]
    case default
      call refuse('usage: mg CLASS, with one of S, W, A, B')
    end select
    levels = nint(log(real(order, wide)) / log(2._wide))
  end subroutine

  ! As close to a cube as a power of two allows; the last dimension is cut first, the first one goes from rank to rank.
  subroutine make_grid()
    integer :: dimension
    grid = 1
    dimension = 3
    do while (product(grid) < ranks)
      grid(dimension) = 2 * grid(dimension)
      dimension = merge(dimension - 1, 3, dimension > 1)
    end do
    if (product(grid) /= ranks .or. maxval(grid) > order) then
      call refuse('mg: the number of ranks is no power of two, or too large for this class')
    end if
    place = [mod(rank, grid(1)), mod(rank / grid(1), grid(2)), rank / (grid(1) * grid(2))]
  end subroutine

  integer function rank_at(dimension, steps)
    integer, intent(in) :: dimension, steps
    integer :: at(3)
    at = place
    at(dimension) = modulo(place(dimension) + steps, grid(dimension))
    rank_at = at(1) + grid(1) * (at(2) + grid(2) * at(3))
  end function

  ! Point j of a level is point 2j + 1 of the next finer one, both counted from 0, so the last of some ranks has the point that they share.
  subroutine make_levels()
    integer :: k, n(3), faces
    allocate (level(levels))
    do k = 1, levels
      level(k)%stride = max(1, grid / 2**k)
      level(k)%points = max(1, 2**k / grid)
      where (modulo(place + 1, level(k)%stride) /= 0) level(k)%points = 0
      level(k)%mine = all(level(k)%points > 0)
      n = level(k)%points
      allocate (level(k)%u(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1), level(k)%r(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1))
      level(k)%u = 0
      level(k)%r = 0
    end do
    allocate (v, mold=level(levels)%r)
    n = level(levels)%points
    faces = max((n(1) + 2) * (n(2) + 2), (n(1) + 2) * (n(3) + 2), (n(2) + 2) * (n(3) + 2))
    allocate (to_low(faces), to_high(faces), from_low(faces), from_high(faces))
  end subroutine

  ! +1 at the points that get the ten largest random numbers, -1 at those that get the ten smallest.
  subroutine make_charges()
    integer(long) :: largest(2, charges), smallest(2, charges), all_largest(2, charges, ranks), all_smallest(2, charges, ranks)
    integer(long) :: x, at
    integer :: n(3), i, j, k, first(3)
    n = level(levels)%points
    first = place * n
    largest = -1
    smallest = huge(x)
    do k = 0, n(3) - 1
      do j = 0, n(2) - 1
        at = first(1) + order * (first(2) + j + int(order, long) * (first(3) + k))
        x = after(314159265_long, at)
        do i = 0, n(1) - 1
          x = product_of(multiplier, x)
          if (x > largest(1, charges)) call put_in(largest, [x, at + i], 1)
          if (x < smallest(1, charges)) call put_in(smallest, [x, at + i], -1)
        end do
      end do
    end do
    call MPI_Allgather(largest, 2 * charges, MPI_INTEGER8, all_largest, 2 * charges, MPI_INTEGER8, MPI_COMM_WORLD)
    call MPI_Allgather(smallest, 2 * charges, MPI_INTEGER8, all_smallest, 2 * charges, MPI_INTEGER8, MPI_COMM_WORLD)
    largest = -1
    smallest = huge(x)
    do j = 1, ranks
      do i = 1, charges
        if (all_largest(1, i, j) > largest(1, charges)) call put_in(largest, all_largest(:, i, j), 1)
        if (all_smallest(1, i, j) < smallest(1, charges)) call put_in(smallest, all_smallest(:, i, j), -1)
      end do
    end do
    v = 0
    do i = 1, charges
      call charge(largest(2, i), 1._wide)
      call charge(smallest(2, i), -1._wide)
    end do
  end subroutine

  ! Puts a number and its point in its place in a list that falls (sign 1) or rises (sign -1). The last of the list is lost.
  subroutine put_in(list, new, sign)
    integer(long), intent(inout) :: list(:, :)
    integer(long), intent(in) :: new(2)
    integer, intent(in) :: sign
    integer :: i
    do i = size(list, 2), 2, -1
      if (sign * list(1, i - 1) > sign * new(1)) exit
      list(:, i) = list(:, i - 1)
    end do
    list(:, i) = new
  end subroutine

  subroutine charge(point, amount)
    integer(long), intent(in) :: point
    real(wide), intent(in) :: amount
    integer :: at(3)
    at = int([modulo(point, int(order, long)), modulo(point / order, int(order, long)), point / (int(order, long) * order)])
    at = at - place * level(levels)%points + 1
    if (all(at >= 1 .and. at <= level(levels)%points)) v(at(1), at(2), at(3)) = amount
  end subroutine

  ! r = v - A u on the finest level.
  subroutine leave_residual()
    associate (top => level(levels))
      top%r = v
      call add_stencil(-poisson, top%u, top%r, top%points)
      call exchange(top%r, top%points, top%stride, top%points)
    end associate
  end subroutine

  ! u = u + M r
  subroutine v_cycle()
    integer :: k
    do k = levels, 2, -1
      if (level(k)%mine) call restrict(level(k), level(k - 1))
    end do
    do k = 1, levels
      associate (here => level(k))
        if (.not. here%mine) cycle
        if (k < levels) here%u = 0
        if (k > 1) then
          call prolong(level(k - 1), here)
          call exchange(here%u, here%points, here%stride, here%points)
          if (k == levels) here%r = v
          call add_stencil(-poisson, here%u, here%r, here%points)
          call exchange(here%r, here%points, here%stride, here%points)
        end if
        call add_stencil(smoother, here%r, here%u, here%points)
        ! Coarser ones are exchanged by `prolong`, with those who have points on the next level only.
        if (k == levels) call exchange(here%u, here%points, here%stride, here%points)
      end associate
    end do
  end subroutine

  ! to = to + (weights x from), the weights by the number of dimensions in which a neighbour differs.
  subroutine add_stencil(weights, from, to, n)
    real(wide), intent(in) :: weights(0:3), from(0:, 0:, 0:)
    integer, intent(in) :: n(3)
    real(wide), intent(inout) :: to(0:, 0:, 0:)
    real(wide) :: beside(0:n(1) + 1), across(0:n(1) + 1)
    integer :: i, j, k
    do k = 1, n(3)
      do j = 1, n(2)
        beside = from(:, j - 1, k) + from(:, j + 1, k) + from(:, j, k - 1) + from(:, j, k + 1)
        across = from(:, j - 1, k - 1) + from(:, j + 1, k - 1) + from(:, j - 1, k + 1) + from(:, j + 1, k + 1)
        do i = 1, n(1)
          to(i, j, k) = to(i, j, k) + weights(0) * from(i, j, k) &
                        + weights(1) * (from(i - 1, j, k) + from(i + 1, j, k) + beside(i)) &
                        + weights(2) * (beside(i - 1) + beside(i + 1) + across(i)) + weights(3) * (across(i - 1) + across(i + 1))
        end do
      end do
    end do
  end subroutine

  ! By how much the points of a rank are shifted against twice those of the coarser level: 1 where it has the same single point on both.
  function shift_of(fine, coarse) result(shift)
    type(level_type), intent(in) :: fine, coarse
    integer :: shift(3)
    shift = merge(1, 0, fine%stride < coarse%stride .and. coarse%points == 1)
  end function

  ! The residual of the coarser level: weighted means of the finer one's.
  subroutine restrict(fine, coarse)
    type(level_type), intent(in) :: fine
    type(level_type), intent(inout) :: coarse
    real(wide) :: beside(0:fine%points(1) + 1), across(0:fine%points(1) + 1)
    integer :: shift(3), i, j, k, x, y, z
    if (.not. coarse%mine) return
    shift = shift_of(fine, coarse)
    do k = 1, coarse%points(3)
      z = 2 * k - shift(3)
      do j = 1, coarse%points(2)
        y = 2 * j - shift(2)
        beside = fine%r(:, y - 1, z) + fine%r(:, y + 1, z) + fine%r(:, y, z - 1) + fine%r(:, y, z + 1)
        across = fine%r(:, y - 1, z - 1) + fine%r(:, y + 1, z - 1) + fine%r(:, y - 1, z + 1) + fine%r(:, y + 1, z + 1)
        do i = 1, coarse%points(1)
          x = 2 * i - shift(1)
          coarse%r(i, j, k) = full(0) * fine%r(x, y, z) + full(1) * (fine%r(x - 1, y, z) + fine%r(x + 1, y, z) + beside(x)) &
                              + full(2) * (beside(x - 1) + beside(x + 1) + across(x)) + full(3) * (across(x - 1) + across(x + 1))
        end do
      end do
    end do
    call exchange(coarse%r, coarse%points, coarse%stride, coarse%points)
  end subroutine

  ! Adds what is between the points of the coarser level, trilinearly. A rank that has none there gets those on both sides of its own first.
  subroutine prolong(coarse, fine)
    type(level_type), intent(inout) :: coarse, fine
    real(wide) :: between(0:coarse%points(1) + 1)
    integer :: shift(3), i, j, k, low(3), high(3)
    call exchange(coarse%u, coarse%points, fine%stride, merge(coarse%points, 1 - coarse%points, fine%stride == coarse%stride))
    shift = shift_of(fine, coarse)
    do k = 1, fine%points(3)
      low(3) = (k + shift(3)) / 2
      high(3) = (k + shift(3) + 1) / 2
      do j = 1, fine%points(2)
        low(2) = (j + shift(2)) / 2
        high(2) = (j + shift(2) + 1) / 2
        between = (coarse%u(:, low(2), low(3)) + coarse%u(:, high(2), low(3)) &
                   + coarse%u(:, low(2), high(3)) + coarse%u(:, high(2), high(3))) / 4
        do i = 1, fine%points(1)
          fine%u(i, j, k) = fine%u(i, j, k) + (between((i + shift(1)) / 2) + between((i + shift(1) + 1) / 2)) / 2
        end do
      end do
    end do
  end subroutine

  ! In each dimension, one after the other so that edges and corners come along: sends the outermost points to both neighbours if there are
  ! points, and receives the layers around if `wanted` is not 0.
  subroutine exchange(values, n, stride, wanted)
    real(wide), intent(inout) :: values(0:, 0:, 0:)
    integer, intent(in) :: n(3), stride(3), wanted(3)
    type(MPI_Request) :: requests(4)
    integer :: dimension, count, other(2), low, high
    do dimension = 1, 3
      low = rank_at(dimension, -stride(dimension))
      high = rank_at(dimension, stride(dimension))
      other = pack([n(1), n(2), n(3)] + 2, [1, 2, 3] /= dimension)
      count = product(other)
      requests = MPI_REQUEST_NULL
      if (n(dimension) > 0) then
        call take(values, dimension, 1, to_low, other)
        call take(values, dimension, n(dimension), to_high, other)
      end if
      if (low == rank) then
        if (n(dimension) > 0) call give(values, dimension, 0, to_high, other)
        if (n(dimension) > 0) call give(values, dimension, n(dimension) + 1, to_low, other)
        cycle
      end if
      call begin_communication()
      if (wanted(dimension) > 0) then
        call MPI_Irecv(from_low, count, MPI_DOUBLE_PRECISION, low, 1, MPI_COMM_WORLD, requests(1))
        call MPI_Irecv(from_high, count, MPI_DOUBLE_PRECISION, high, 2, MPI_COMM_WORLD, requests(2))
      end if
      if (n(dimension) > 0) then
        call MPI_Isend(to_high, count, MPI_DOUBLE_PRECISION, high, 1, MPI_COMM_WORLD, requests(3))
        call MPI_Isend(to_low, count, MPI_DOUBLE_PRECISION, low, 2, MPI_COMM_WORLD, requests(4))
      end if
      call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
      call end_communication()
      if (wanted(dimension) > 0) then
        call give(values, dimension, 0, from_low, other)
        call give(values, dimension, n(dimension) + 1, from_high, other)
      end if
    end do
  end subroutine

  subroutine take(values, dimension, at, buffer, extents)
    real(wide), intent(in) :: values(0:, 0:, 0:)
    integer, intent(in) :: dimension, at, extents(2)
    real(wide), intent(out) :: buffer(extents(1), extents(2))
    select case (dimension)
    case (1); buffer = values(at, :, :)
    case (2); buffer = values(:, at, :)
    case (3); buffer = values(:, :, at)
    end select
  end subroutine

  subroutine give(values, dimension, at, buffer, extents)
    real(wide), intent(inout) :: values(0:, 0:, 0:)
    integer, intent(in) :: dimension, at, extents(2)
    real(wide), intent(in) :: buffer(extents(1), extents(2))
    select case (dimension)
    case (1); values(at, :, :) = buffer
    case (2); values(:, at, :) = buffer
    case (3); values(:, :, at) = buffer
    end select
  end subroutine

  real(wide) function norm_of(values, n)
    real(wide), intent(in) :: values(0:, 0:, 0:)
    integer, intent(in) :: n(3)
    real(wide) :: sum_of(1)
    sum_of = sum(values(1:n(1), 1:n(2), 1:n(3))**2)
    call begin_communication()
    call MPI_Allreduce(MPI_IN_PLACE, sum_of, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call end_communication()
    norm_of = sqrt(sum_of(1) / real(order, wide)**3)
  end function
end program
