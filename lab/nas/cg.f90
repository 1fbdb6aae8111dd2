! The kernel CG of the NAS Parallel Benchmarks, written from their specification (Bailey et al., RNR-94-007): the smallest eigenvalue of a sparse
! symmetric matrix with random pattern, by inverse iteration with 25 steps of conjugate gradients each.
!
!     mpiexec -n 4 ./cg S          classes S, W, A, B; the number of ranks is a power of two
!
! Ranks form a grid of rows x columns, as many columns as rows or twice as many. Each holds a block of the matrix, and the part of a vector that
! belongs to its columns. A product sums along a row of the grid, by exchanges with the rank whose column differs in one bit, and then goes
! to the rank that has these rows for columns, by one exchange across the diagonal.
include 'common.inc'
program cg
  use nas_common
  implicit none
  integer, parameter :: steps = 25
  integer :: n, nonzer, iterations
  real(wide) :: shift, expected
  integer :: grid_rows, grid_columns, my_row, my_column, partner, levels
  integer :: first_row, last_row, first_column, last_column, part_first, part_last
  integer, allocatable :: begin(:), column(:)
  real(wide), allocatable :: value(:), x(:), z(:), p(:), q(:), r(:)
  real(wide) :: zeta, error, norm, dots(2), operations
  integer :: iteration
  logical :: verified

  call start()
  call choose_class()
  call make_grid()
  call make_matrix()
  allocate (x(first_column:last_column), z(first_column:last_column), p(first_column:last_column), q(first_column:last_column), &
            r(first_column:last_column))
  ! One iteration that is not measured touches all that is used.
  x = 1
  call solve(error)
  x = 1
  zeta = 0
  call start_clock()
  do iteration = 1, iterations
    call solve(error)
    dots = [dot_product(x, z), dot_product(z, z)]
    call sum_along_row(dots)
    zeta = shift + 1 / dots(1)
    norm = 1 / sqrt(dots(2))
    x = norm * z
  end do
  call stop_clock()
  verified = abs(zeta - expected) / expected <= 1e-10_wide
  operations = 2._wide * iterations * n * (6 + nonzer * (nonzer + 1) + 25 * (5 + nonzer * (nonzer + 1)))
  if (rank == 0) then
    print '(3a,i0,a,i0,a)', 'CG class ', class, ': order ', n, ', ', ranks, ' ranks'
    print '(a,f20.13,a,es9.2)', 'zeta', zeta, ', residual ', error
  end if
  call finish(operations, verified)

contains

  subroutine choose_class()
    select case (class)
    case ('S'); n = 1400; nonzer = 7; iterations = 15; shift = 10; expected = 8.5971775078648_wide
    case ('W'); n = 7000; nonzer = 8; iterations = 15; shift = 12; expected = 10.362595087124_wide
    case ('A'); n = 14000; nonzer = 11; iterations = 15; shift = 20; expected = 17.130235054029_wide
    case ('B'); n = 75000; nonzer = 13; iterations = 75; shift = 60; expected = 22.712745482631_wide
    case default
      call refuse('usage: cg CLASS, with one of S, W, A, B')
    end select
  end subroutine

  subroutine make_grid()
    integer :: half
    levels = 0
    grid_rows = 1
    grid_columns = 1
    do while (grid_rows * grid_columns < ranks)
      if (grid_columns == grid_rows) then
        grid_columns = 2 * grid_columns
        levels = levels + 1
      else
        grid_rows = 2 * grid_rows
      end if
    end do
    if (grid_rows * grid_columns /= ranks) then
      call refuse('cg: the number of ranks is no power of two')
    end if
    my_row = rank / grid_columns
    my_column = mod(rank, grid_columns)
    first_row = first_of(my_row, grid_rows)
    last_row = first_of(my_row + 1, grid_rows) - 1
    if (grid_columns == grid_rows) then
      first_column = first_of(my_column, grid_rows)
      last_column = first_of(my_column + 1, grid_rows) - 1
      part_first = first_row
      part_last = last_row
      partner = my_column * grid_columns + my_row
    else  ! two blocks of columns are one of rows
      half = mod(my_column, 2)
      call split(first_of(my_column / 2, grid_rows), first_of(my_column / 2 + 1, grid_rows) - 1, half, first_column, last_column)
      call split(first_row, last_row, half, part_first, part_last)
      partner = (my_column / 2) * grid_columns + 2 * my_row + half
    end if
  end subroutine

  integer function first_of(block, blocks)
    integer, intent(in) :: block, blocks
    first_of = 1 + int(int(block, long) * n / blocks)
  end function

  subroutine split(first, last, half, from, to)
    integer, intent(in) :: first, last, half
    integer, intent(out) :: from, to
    integer :: middle
    middle = first + (last - first) / 2
    from = merge(first, middle + 1, half == 0)
    to = merge(middle, last, half == 0)
  end subroutine

  ! The matrix is the sum of outer products of n sparse random vectors with falling weights; each rank makes all vectors, and keeps its block.
  subroutine make_matrix()
    real(wide), parameter :: condition = 0.1_wide
    integer, allocatable :: places(:, :), lengths(:), fill(:)
    real(wide), allocatable :: vectors(:, :)
    real(wide) :: weight, ratio, ignored
    integer(long) :: seed
    integer :: outer, i, j, row, count
    allocate (places(nonzer + 1, n), vectors(nonzer + 1, n), lengths(n))
    seed = 314159265
    ignored = random(seed)
    do outer = 1, n
      call sparse_vector(seed, outer, vectors(:, outer), places(:, outer), lengths(outer))
    end do
    ! How much comes into each row, with what will be added up.
    allocate (begin(first_row:last_row + 1), fill(first_row:last_row))
    fill = 0
    do outer = 1, n
      count = 0
      do j = 1, lengths(outer)
        if (is_my_column(places(j, outer))) count = count + 1
      end do
      do i = 1, lengths(outer)
        row = places(i, outer)
        if (row >= first_row .and. row <= last_row) fill(row) = fill(row) + count
      end do
    end do
    begin(first_row) = 1
    do row = first_row, last_row
      begin(row + 1) = begin(row) + fill(row) + merge(1, 0, is_my_column(row))
    end do
    allocate (column(begin(last_row + 1)), value(begin(last_row + 1)))
    fill = begin(first_row:last_row)
    weight = 1
    ratio = condition**(1 / real(n, wide))
    do outer = 1, n
      do i = 1, lengths(outer)
        row = places(i, outer)
        if (row < first_row .or. row > last_row) cycle
        do j = 1, lengths(outer)
          if (.not. is_my_column(places(j, outer))) cycle
          column(fill(row)) = places(j, outer)
          value(fill(row)) = vectors(i, outer) * (weight * vectors(j, outer))
          fill(row) = fill(row) + 1
        end do
      end do
      weight = weight * ratio
    end do
    do row = first_row, last_row
      if (is_my_column(row)) then
        column(fill(row)) = row
        value(fill(row)) = condition - shift
      end if
    end do
    call add_up()
  end subroutine

  logical function is_my_column(at)
    integer, intent(in) :: at
    is_my_column = at >= first_column .and. at <= last_column
  end function

  ! A vector with `nonzer` random elements at different random places, and 0.5 at place `outer`.
  subroutine sparse_vector(seed, outer, elements, places, length)
    integer(long), intent(inout) :: seed
    integer, intent(in) :: outer
    real(wide), intent(out) :: elements(:)
    integer, intent(out) :: places(:), length
    real(wide) :: element, place
    integer :: power, at
    power = 1
    do while (power < n)
      power = 2 * power
    end do
    length = 0
    do while (length < nonzer)
      element = random(seed)
      place = random(seed)
      at = int(power * place) + 1
      if (at > n) cycle
      if (any(places(:length) == at)) cycle
      length = length + 1
      elements(length) = element
      places(length) = at
    end do
    do at = 1, length
      if (places(at) == outer) then
        elements(at) = 0.5_wide
        return
      end if
    end do
    length = length + 1
    elements(length) = 0.5_wide
    places(length) = outer
  end subroutine

  ! Elements of a row at the same place become one.
  subroutine add_up()
    integer :: row, i, to, first, place(first_column:last_column)
    place = 0
    to = 1
    do row = first_row, last_row
      first = to
      do i = begin(row), begin(row + 1) - 1
        if (place(column(i)) >= first) then
          value(place(column(i))) = value(place(column(i))) + value(i)
        else
          place(column(i)) = to
          column(to) = column(i)
          value(to) = value(i)
          to = to + 1
        end if
      end do
      begin(row) = first
    end do
    begin(last_row + 1) = to
  end subroutine

  ! result = A vector
  subroutine multiply(vector, result)
    real(wide), intent(in) :: vector(first_column:)
    real(wide), intent(out) :: result(first_column:)
    real(wide) :: rows(first_row:last_row), sum
    integer :: row, i
    do row = first_row, last_row
      sum = 0
      do i = begin(row), begin(row + 1) - 1
        sum = sum + value(i) * vector(column(i))
      end do
      rows(row) = sum
    end do
    call sum_along_row(rows)
    if (partner == rank) then
      result = rows(part_first:part_last)
    else
      call begin_communication()
      call MPI_Sendrecv(rows(part_first:part_last), part_last - part_first + 1, MPI_DOUBLE_PRECISION, partner, 2, result, &
                        last_column - first_column + 1, MPI_DOUBLE_PRECISION, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call end_communication()
    end if
  end subroutine

  subroutine sum_along_row(values)
    real(wide), intent(inout), asynchronous :: values(:)
    real(wide), asynchronous :: others(size(values))
    type(MPI_Request) :: request
    integer :: level, neighbour
    do level = 0, levels - 1
      neighbour = my_row * grid_columns + ieor(my_column, 2**level)
      call begin_communication()
      call MPI_Irecv(others, size(others), MPI_DOUBLE_PRECISION, neighbour, 1, MPI_COMM_WORLD, request)
      call MPI_Send(values, size(values), MPI_DOUBLE_PRECISION, neighbour, 1, MPI_COMM_WORLD)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call end_communication()
      values = values + others
    end do
  end subroutine

  ! Conjugate gradients for A z = x, and the norm of what is left.
  subroutine solve(error)
    real(wide), intent(out) :: error
    real(wide) :: rho(1), before, alpha, product(1)
    integer :: step
    z = 0
    r = x
    p = r
    rho = dot_product(r, r)
    call sum_along_row(rho)
    do step = 1, steps
      call multiply(p, q)
      product = dot_product(p, q)
      call sum_along_row(product)
      alpha = rho(1) / product(1)
      z = z + alpha * p
      r = r - alpha * q
      before = rho(1)
      rho = dot_product(r, r)
      call sum_along_row(rho)
      p = r + rho(1) / before * p
    end do
    call multiply(z, q)
    product = dot_product(x - q, x - q)
    call sum_along_row(product)
    error = sqrt(product(1))
  end subroutine
end program
