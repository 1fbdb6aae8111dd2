! The pseudo-application LU of the NAS Parallel Benchmarks, written from their specification (Bailey et al., RNR-94-007): the equations of a
! compressible viscous flow in a cube, by symmetric successive over-relaxation. Its messages are many and small.
!
!     mpiexec -n 4 ./lu S          classes S, W, A; the number of ranks is a power of two
!
! Ranks form a grid of columns (along x) and rows (along y), and each has all planes of constant z. In a sweep a plane can be computed as soon as the
! ranks before this one, in x and in y, have sent their edges of it: so a wave of planes goes through the grid of ranks, and another one back.
include 'common.inc'
program lu
  use nas_common
  implicit none
  real(wide), parameter :: c1 = 1.4_wide, c2 = 0.4_wide, c34 = 0.1_wide, c15 = c1 * 1.4_wide
  real(wide), parameter :: omega = 1.2_wide, dissipation = 0.25_wide
  real(wide), parameter :: diffusion(3) = [0.75_wide, 0.75_wide, 1._wide]
  ! The exact solution is a polynomial of x, y and z: a row has a variable's constant, then coefficients of x, y, z, of their squares, and so on.
  real(wide), parameter :: exact_rows(13, 5) = reshape([real(wide) :: &
    200, 0, 0, 400, 500, 300, 50, 2, 1, 3, 50, 40, 30, &
    100, 0, 0, 0, 100, 200, 300, 1, 3, 2, 40, 30, 50, &
    200, 200, 0, 0, 0, 200, 300, 4, 3, 5, 30, 50, 40, &
    200, 200, 0, 0, 0, 200, 300, 3, 5, 4, 20, 10, 30, &
    500, 400, 300, 200, 10, 40, 30, 5, 4, 3, 10, 30, 20], [13, 5]) / 100
  integer :: n, steps, step
  real(wide) :: dt, first_order, second_order        ! 1 / (2 h) and 1 / h**2, of points that are h apart
  integer :: columns, rows, my_column, my_row, nx, ny, x0, y0          ! point i of this rank is point x0 + i of the cube
  integer :: low(2), high(2)                         ! its inner points: none is on a face of the cube
  integer :: west, east, south, north
  ! Density, momentum in three directions, and energy; two layers of the neighbours' points around. `v`: what is left of the equations, then the change.
  real(wide), allocatable :: u(:, :, :, :), v(:, :, :, :), forcing(:, :, :, :)
  real(wide), allocatable, asynchronous :: to_low(:), to_high(:), from_low(:), from_high(:)
  real(wide) :: residual_norms(5), error_norms(5), integral, operations
  real(wide) :: expected_residuals(5), expected_errors(5), expected_integral
  logical :: verified

  call start()
  call choose_class()
  call make_grid()
  call make_forcing()
  ! One step that is not measured touches all that is used.
  call make_initial()
  call leave_residual()
  call advance()
  call make_initial()
  call start_clock()
  call leave_residual()
  do step = 1, steps
    call advance()
    call leave_residual()
  end do
  residual_norms = norms_of_residual()
  call stop_clock()
  error_norms = norms_of_error()
  integral = surface_integral()
  verified = all(abs((residual_norms - expected_residuals) / expected_residuals) <= 1e-8_wide) .and. &
             all(abs((error_norms - expected_errors) / expected_errors) <= 1e-8_wide) .and. &
             abs((integral - expected_integral) / expected_integral) <= 1e-8_wide
  if (rank == 0) then
    print '(3a,5(i0,a))', 'LU class ', class, ': ', n, ' points a side, ', steps, ' steps, ', ranks, ' ranks as ', columns, &
      ' x ', rows
    print '(a,5es21.13)', 'residuals', residual_norms
    print '(a,5es21.13)', 'errors   ', error_norms
    print '(a,es21.13)', 'surface integral', integral
  end if
  operations = steps * (1984.77_wide * real(n, wide)**3 - 10923.3_wide * real(n, wide)**2 + 27770.9_wide * n - 144010)
  call finish(operations, verified)

contains

  ! The specification has A; S and W are of NASA's later programs.
  subroutine choose_class()
    select case (class)
    case ('S')
      n = 12; steps = 50; dt = 0.5_wide
      expected_residuals = [1.6196343210976702e-2_wide, 2.1976745164821318e-3_wide, 1.5179927653399185e-3_wide, &
                            1.5029584435994323e-3_wide, 3.4264073155896461e-2_wide]
      expected_errors = [6.4223319957960924e-4_wide, 8.4144342047347926e-5_wide, 5.8588269616485186e-5_wide, &
                         5.8474222595157350e-5_wide, 1.3103347914111294e-3_wide]
      expected_integral = 7.8418928865937083_wide
    case ('W')
      n = 33; steps = 300; dt = 1.5e-3_wide
      expected_residuals = [12.36511638192_wide, 1.317228477799_wide, 2.550120713095_wide, 2.326187750252_wide, 28.26799444189_wide]
      expected_errors = [0.4867877144216_wide, 0.05064652880982_wide, 0.09281818101960_wide, 0.08570126542733_wide, &
                         1.084277417792_wide]
      expected_integral = 11.61399311023_wide
    case ('A')
      n = 64; steps = 250; dt = 2
      expected_residuals = [7.7902107606689367e2_wide, 6.3402765259692870e1_wide, 1.9499249727292479e2_wide, &
                            1.7845301160418537e2_wide, 1.8384760349464247e3_wide]
      expected_errors = [2.9964085685471943e1_wide, 2.8194576365003349_wide, 7.3473412698774742_wide, 6.7139225687777051_wide, &
                         7.0715315688392578e1_wide]
      expected_integral = 2.6030925604886277e1_wide
    case default
      call refuse('usage: lu CLASS, with one of S, W, A')
    end select
    first_order = (n - 1) / 2._wide
    second_order = real(n - 1, wide)**2
  end subroutine

  subroutine make_grid()
    integer :: halo
    if (.not. is_power_of_two(ranks)) call refuse('lu: the number of ranks is no power of two')
    columns = 2**((trailz(ranks) + 1) / 2)
    rows = ranks / columns
    if (n / columns < 2) call refuse('lu: too many ranks for this class: each needs two points in x and in y')
    my_column = mod(rank, columns)
    my_row = rank / columns
    x0 = n * my_column / columns
    y0 = n * my_row / rows
    nx = n * (my_column + 1) / columns - x0
    ny = n * (my_row + 1) / rows - y0
    low = [max(1, 2 - x0), max(1, 2 - y0)]
    high = [min(nx, n - 1 - x0), min(ny, n - 1 - y0)]
    west = merge(rank - 1, MPI_PROC_NULL, my_column > 0)
    east = merge(rank + 1, MPI_PROC_NULL, my_column < columns - 1)
    south = merge(rank - columns, MPI_PROC_NULL, my_row > 0)
    north = merge(rank + columns, MPI_PROC_NULL, my_row < rows - 1)
    halo = 10 * max(nx, ny) * n
    allocate (u(5, -1:nx + 2, -1:ny + 2, n), v(5, 0:nx + 1, 0:ny + 1, n), forcing(5, nx, ny, n))
    allocate (to_low(halo), to_high(halo), from_low(halo), from_high(halo))
    u = 1
  end subroutine

  ! At point i, j, k of the cube.
  pure function exact(i, j, k) result(values)
    integer, intent(in) :: i, j, k
    real(wide) :: values(5), at(3)
    integer :: axis, m
    at = [i - 1, j - 1, k - 1] / real(n - 1, wide)
    do m = 1, 5
      associate (c => exact_rows(:, m))
        values(m) = c(1)
        do axis = 1, 3
          values(m) = values(m) &
                      + at(axis) * (c(1 + axis) + at(axis) * (c(4 + axis) + at(axis) * (c(7 + axis) + at(axis) * c(10 + axis))))
        end do
      end associate
    end do
  end function

  ! What the exact solution leaves of the equations: with that taken off, it solves them.
  subroutine make_forcing()
    integer :: i, j, k
    do k = 1, n
      do j = 1, ny
        do i = 1, nx
          u(:, i, j, k) = exact(x0 + i, y0 + j, k)
        end do
      end do
    end do
    call exchange()
    forcing = 0
    call leave_residual()
    forcing = v(:, 1:nx, 1:ny, :)
  end subroutine

  ! Exact on the faces of the cube, and interpolated between them elsewhere.
  subroutine make_initial()
    integer :: i, j, k, x, y
    real(wide), dimension(5) :: along_x, along_y, along_z
    real(wide) :: part(3)
    do k = 1, n
      do j = 1, ny
        do i = 1, nx
          x = x0 + i
          y = y0 + j
          if (min(x, y, k) == 1 .or. max(x, y, k) == n) then
            u(:, i, j, k) = exact(x, y, k)
            cycle
          end if
          part = [x - 1, y - 1, k - 1] / real(n - 1, wide)
          along_x = (1 - part(1)) * exact(1, y, k) + part(1) * exact(n, y, k)
          along_y = (1 - part(2)) * exact(x, 1, k) + part(2) * exact(x, n, k)
          along_z = (1 - part(3)) * exact(x, y, 1) + part(3) * exact(x, y, n)
          u(:, i, j, k) = along_x + along_y + along_z - along_x * along_y - along_y * along_z - along_z * along_x &
                          + along_x * along_y * along_z
        end do
      end do
    end do
    call exchange()
  end subroutine

  ! v = what is left of the steady equations, at inner points; 0 on the faces of the cube.
  subroutine leave_residual()
    real(wide) :: line(5, -1:n + 2), sums(5, n)
    integer :: i, j, k
    v = 0
    do k = 2, n - 1
      do j = low(2), high(2)
        call add_up(1, x0, nx, u(:, :, j, k), sums)
        v(:, low(1):high(1), j, k) = sums(:, low(1):high(1)) - forcing(:, low(1):high(1), j, k)
      end do
      do i = low(1), high(1)
        line(:, :ny + 2) = u(:, i, :, k)
        call add_up(2, y0, ny, line, sums)
        v(:, i, low(2):high(2), k) = v(:, i, low(2):high(2), k) + sums(:, low(2):high(2))
      end do
    end do
    do j = low(2), high(2)
      do i = low(1), high(1)
        line(:, 1:n) = u(:, i, j, :)
        call add_up(3, 0, n, line, sums)
        v(:, i, j, 2:n - 1) = v(:, i, j, 2:n - 1) + sums(:, 2:n - 1)
      end do
    end do
  end subroutine

  ! Along one axis, of a line of m points whose first is point before + 1 of the cube: differences of the flux, viscosity and diffusion, and the
  ! dissipation of fourth order, which is cut off beside the faces.
  subroutine add_up(axis, before, m, line, sums)
    integer, intent(in) :: axis, before, m
    real(wide), intent(in) :: line(5, -1:m + 2)
    real(wide), intent(out) :: sums(5, m)
    real(wide) :: flux(5, 0:m + 1), diffused(5, 0:m + 1), velocity(3), kinetic, fourth(5)
    integer :: i, x
    do i = max(0, 1 - before), min(m + 1, n - before)
      velocity = line(2:4, i) / line(1, i)
      kinetic = dot_product(velocity, line(2:4, i)) / 2
      flux(1, i) = line(axis + 1, i)
      flux(2:4, i) = line(2:4, i) * velocity(axis)
      flux(axis + 1, i) = flux(axis + 1, i) + c2 * (line(5, i) - kinetic)
      flux(5, i) = (c1 * line(5, i) - c2 * kinetic) * velocity(axis)
      diffused(:, i) = diffusion(axis) * line(:, i)
      diffused(2:4, i) = diffused(2:4, i) + c34 * velocity
      diffused(axis + 1, i) = diffused(axis + 1, i) + c34 / 3 * velocity(axis)
      diffused(5, i) = diffused(5, i) + c34 * ((1 - c15) / 2 * dot_product(velocity, velocity) + velocity(axis)**2 / 6 &
                                               + c15 * line(5, i) / line(1, i))
    end do
    do i = max(1, 2 - before), min(m, n - 1 - before)
      x = before + i
      fourth = 6 * line(:, i)
      if (x == 2 .or. x == n - 1) fourth = fourth - line(:, i)
      if (x > 2) fourth = fourth - 4 * line(:, i - 1)
      if (x > 3) fourth = fourth + line(:, i - 2)
      if (x < n - 1) fourth = fourth - 4 * line(:, i + 1)
      if (x < n - 2) fourth = fourth + line(:, i + 2)
      sums(:, i) = second_order * (diffused(:, i - 1) - 2 * diffused(:, i) + diffused(:, i + 1)) &
                   - first_order * (flux(:, i + 1) - flux(:, i - 1)) - dissipation * fourth
    end do
  end subroutine

  ! One step of time: the lower triangle from the first plane to the last, then the upper one back.
  subroutine advance()
    integer :: k
    v = dt * v
    do k = 2, n - 1
      call sweep(k, 1)
    end do
    do k = n - 1, 2, -1
      call sweep(k, -1)
    end do
    u(:, 1:nx, 1:ny, :) = u(:, 1:nx, 1:ny, :) + v(:, 1:nx, 1:ny, :) / (omega * (2 - omega))
    call exchange()
  end subroutine

  ! Plane k. way: 1 for the lower triangle, where a point needs those before it, -1 for the upper one, where it needs those behind.
  subroutine sweep(k, way)
    integer, intent(in) :: k, way
    integer :: i, j, from(2), to(2)
    real(wide) :: coupled(5)
    from = merge(low, high, way == 1)
    to = merge(high, low, way == 1)
    call receive_edges(k, way)
    do j = from(2), to(2), way
      do i = from(1), to(1), way
        coupled = coupling(3, way, u(:, i, j, k - way), v(:, i, j, k - way)) &
                  + coupling(2, way, u(:, i, j - way, k), v(:, i, j - way, k)) &
                  + coupling(1, way, u(:, i - way, j, k), v(:, i - way, j, k))
        if (way == 1) then
          v(:, i, j, k) = solved(u(:, i, j, k), v(:, i, j, k) - omega * coupled)
        else
          v(:, i, j, k) = v(:, i, j, k) - solved(u(:, i, j, k), omega * coupled)
        end if
      end do
    end do
    call send_edges(k, way)
  end subroutine

  ! What a change at the neighbour along one axis, whose state is `state`, does here: the derivative of flux, viscosity and diffusion times the change.
  pure function coupling(axis, way, state, change) result(product)
    integer, intent(in) :: axis, way
    real(wide), intent(in) :: state(5), change(5)
    real(wide) :: product(5), velocity(3), of_velocity(3), flux(5), diffused(5), density, energy, kinetic, of_kinetic
    density = 1 / state(1)
    velocity = state(2:4) * density
    energy = state(5) * density
    kinetic = dot_product(velocity, velocity) / 2
    of_velocity = (change(2:4) - velocity * change(1)) * density
    of_kinetic = dot_product(velocity, change(2:4)) - kinetic * change(1)
    flux(1) = change(axis + 1)
    flux(2:4) = change(2:4) * velocity(axis) + state(2:4) * of_velocity(axis)
    flux(axis + 1) = flux(axis + 1) + c2 * (change(5) - of_kinetic)
    flux(5) = (c1 * change(5) - c2 * of_kinetic) * velocity(axis) + (c1 * state(5) - c2 * kinetic * state(1)) * of_velocity(axis)
    diffused = diffusion(axis) * change
    diffused(2:4) = diffused(2:4) + c34 * of_velocity
    diffused(axis + 1) = diffused(axis + 1) + c34 / 3 * of_velocity(axis)
    diffused(5) = diffused(5) + c34 * ((1 - c15) * dot_product(velocity, of_velocity) + velocity(axis) * of_velocity(axis) / 3 &
                                       + c15 * (change(5) - energy * change(1)) * density)
    product = -dt * (way * first_order * flux + second_order * diffused)
  end function

  ! The change at a point by the part of its own state, which is triangular: density alone, then momentum, then energy.
  pure function solved(state, right) result(change)
    real(wide), intent(in) :: state(5), right(5)
    real(wide) :: change(5), velocity(3), of_velocity(3), diagonal, viscous, density
    density = 1 / state(1)
    velocity = state(2:4) * density
    diagonal = 1 + 2 * dt * second_order * sum(diffusion)
    viscous = 2 * dt * second_order * c34
    change(1) = right(1) / diagonal
    associate (of_three => viscous * density * 10 / 3)
      change(2:4) = (right(2:4) + of_three * velocity * change(1)) / (diagonal + of_three)
    end associate
    of_velocity = (change(2:4) - velocity * change(1)) * density
    associate (of_three => 3 * viscous * c15 * density)
      change(5) = (right(5) - viscous * (3 * (1 - c15) + 1 / 3._wide) * dot_product(velocity, of_velocity) &
                   + of_three * state(5) * density * change(1)) / (diagonal + of_three)
    end associate
  end function

  ! Edges of plane k from the ranks before this one on the way.
  subroutine receive_edges(k, way)
    integer, intent(in) :: k, way
    real(wide) :: edge_x(5, ny), edge_y(5, nx)
    integer :: from_x, from_y
    from_x = merge(west, east, way == 1)
    from_y = merge(south, north, way == 1)
    call begin_communication()
    call MPI_Recv(edge_x, 5 * ny, MPI_DOUBLE_PRECISION, from_x, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Recv(edge_y, 5 * nx, MPI_DOUBLE_PRECISION, from_y, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call end_communication()
    if (from_x /= MPI_PROC_NULL) v(:, merge(0, nx + 1, way == 1), 1:ny, k) = edge_x
    if (from_y /= MPI_PROC_NULL) v(:, 1:nx, merge(0, ny + 1, way == 1), k) = edge_y
  end subroutine

  subroutine send_edges(k, way)
    integer, intent(in) :: k, way
    real(wide) :: edge_x(5, ny), edge_y(5, nx)
    edge_x = v(:, merge(nx, 1, way == 1), 1:ny, k)
    edge_y = v(:, 1:nx, merge(ny, 1, way == 1), k)
    call begin_communication()
    call MPI_Send(edge_x, 5 * ny, MPI_DOUBLE_PRECISION, merge(east, west, way == 1), 1, MPI_COMM_WORLD)
    call MPI_Send(edge_y, 5 * nx, MPI_DOUBLE_PRECISION, merge(north, south, way == 1), 2, MPI_COMM_WORLD)
    call end_communication()
  end subroutine

  ! The two layers of u around this rank's points.
  subroutine exchange()
    integer :: count
    count = 10 * ny * n
    to_low(:count) = reshape(u(:, 1:2, 1:ny, :), [count])
    to_high(:count) = reshape(u(:, nx - 1:nx, 1:ny, :), [count])
    call swap(west, east, count)
    if (west /= MPI_PROC_NULL) u(:, -1:0, 1:ny, :) = reshape(from_low(:count), [5, 2, ny, n])
    if (east /= MPI_PROC_NULL) u(:, nx + 1:nx + 2, 1:ny, :) = reshape(from_high(:count), [5, 2, ny, n])
    count = 10 * nx * n
    to_low(:count) = reshape(u(:, 1:nx, 1:2, :), [count])
    to_high(:count) = reshape(u(:, 1:nx, ny - 1:ny, :), [count])
    call swap(south, north, count)
    if (south /= MPI_PROC_NULL) u(:, 1:nx, -1:0, :) = reshape(from_low(:count), [5, nx, 2, n])
    if (north /= MPI_PROC_NULL) u(:, 1:nx, ny + 1:ny + 2, :) = reshape(from_high(:count), [5, nx, 2, n])
  end subroutine

  subroutine swap(lower, higher, count)
    integer, intent(in) :: lower, higher, count
    type(MPI_Request) :: requests(4)
    call begin_communication()
    call MPI_Irecv(from_low, count, MPI_DOUBLE_PRECISION, lower, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(from_high, count, MPI_DOUBLE_PRECISION, higher, 4, MPI_COMM_WORLD, requests(2))
    call MPI_Isend(to_high, count, MPI_DOUBLE_PRECISION, higher, 3, MPI_COMM_WORLD, requests(3))
    call MPI_Isend(to_low, count, MPI_DOUBLE_PRECISION, lower, 4, MPI_COMM_WORLD, requests(4))
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call end_communication()
  end subroutine

  ! The root of the mean of squares over the inner points, of each of the five variables.
  function norms_of_residual() result(norms)
    real(wide) :: norms(5)
    integer :: m
    do m = 1, 5
      norms(m) = sum(v(m, low(1):high(1), low(2):high(2), 2:n - 1)**2)
    end do
    norms = sqrt(summed(norms) / real(n - 2, wide)**3)
  end function

  function norms_of_error() result(norms)
    real(wide) :: norms(5)
    integer :: i, j, k
    norms = 0
    do k = 2, n - 1
      do j = low(2), high(2)
        do i = low(1), high(1)
          norms = norms + (exact(x0 + i, y0 + j, k) - u(:, i, j, k))**2
        end do
      end do
    end do
    norms = sqrt(summed(norms) / real(n - 2, wide)**3)
  end function

  function summed(values)
    real(wide), intent(in) :: values(5)
    real(wide) :: summed(5)
    call begin_communication()
    call MPI_Allreduce(values, summed, 5, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call end_communication()
  end function

  ! Of the pressure, over the six faces of a box inside the cube, by the trapezoid rule.
  real(wide) function surface_integral()
    integer, parameter :: first(3) = [2, 2, 3]
    integer :: last(3), at(3), i, j, k, axis
    real(wide) :: sums(5), weights(3), pressure
    last = [n - 1, n - 2, n - 1]
    sums = 0
    do k = first(3), last(3)
      do j = 1, ny
        do i = 1, nx
          at = [x0 + i, y0 + j, k]
          if (any(at < first .or. at > last) .or. all(at > first .and. at < last)) cycle
          pressure = c2 * (u(5, i, j, k) - dot_product(u(2:4, i, j, k), u(2:4, i, j, k)) / (2 * u(1, i, j, k)))
          weights = merge(1, 2, at == first .or. at == last)
          do axis = 1, 3
            if (at(axis) > first(axis) .and. at(axis) < last(axis)) cycle
            sums(axis) = sums(axis) + pressure * product(weights) / weights(axis)
          end do
        end do
      end do
    end do
    sums = summed(sums)
    surface_integral = sum(sums(1:3)) / (4 * second_order)
  end function
end program lu
