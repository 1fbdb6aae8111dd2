! The kernel FT of the NAS Parallel Benchmarks, written from their specification (Bailey et al., RNR-94-007): a partial differential equation by
! Fourier transforms in three dimensions. All communication is exchanges of each rank with each other one.
!
!     mpiexec -n 4 ./ft S          classes S, W, A; the number of ranks is a power of two, and divides the points in x and in z
!
! Planes of constant z are divided among the ranks. For transforms along z the field is turned by MPI_Alltoall, so that planes of constant x are; the
! transformed field stays like that, and comes back for each step of time.
include 'common.inc'
program ft
  use nas_common
  implicit none
  integer, parameter :: steps = 6
  real(wide), parameter :: pi = acos(-1._wide), alpha = 1e-6_wide
  integer(long), parameter :: seed = 314159265_long
  integer :: nx, ny, nz, own_x, own_z, step
  complex(wide), allocatable :: field(:, :, :), spectrum(:, :, :), evolved(:, :, :), sent(:), received(:)
  complex(wide) :: expected(steps), sums(steps)
  real(wide) :: operations, points
  logical :: verified

  call start()
  call choose_class()
  own_x = nx / ranks
  own_z = nz / ranks
  allocate (field(nx, ny, own_z), spectrum(nz, ny, own_x), evolved(nz, ny, own_x), sent(nx * ny * own_z), received(nx * ny * own_z))
  call fill()
  call start_clock()
  call to_spectrum()
  do step = 1, steps
    call evolve(step)
    call to_field()
    sums(step) = checksum()
  end do
  call begin_communication()
  call MPI_Allreduce(MPI_IN_PLACE, sums, steps, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD)
  call end_communication()
  call stop_clock()
  verified = all(abs((sums - expected) / expected) <= 1e-12_wide)
  points = real(nx, wide) * ny * nz
  ! A transform of n points takes 5 n log2(n) operations; evolution and normalisation take a few for each point.
  operations = points * ((steps + 1) * 5 * log(points) / log(2._wide) + steps * 4)
  if (rank == 0) then
    print '(3a,3(i0,a),i0,a)', 'FT class ', class, ': ', nx, ' x ', ny, ' x ', nz, ', ', ranks, ' ranks'
    print '(a,2es22.12)', ('checksum', sums(step), step=1, steps)
  end if
  call finish(operations, verified)

contains

  subroutine choose_class()
    select case (class)
    case ('S')
      nx = 64; ny = 64; nz = 64
      expected = [(5.546087004964e2_wide, 4.845363331978e2_wide), (5.546385409189e2_wide, 4.865304269511e2_wide), &
                  (5.546148406171e2_wide, 4.883910722336e2_wide), (5.545423607415e2_wide, 4.901273169046e2_wide), &
                  (5.544255039624e2_wide, 4.917475857993e2_wide), (5.542683411902e2_wide, 4.932597244941e2_wide)]
    case ('W')
      nx = 128; ny = 128; nz = 32
      expected = [(5.673612178944e2_wide, 5.293246849175e2_wide), (5.631436885271e2_wide, 5.282149986629e2_wide), &
                  (5.594024089970e2_wide, 5.270996558037e2_wide), (5.560698047020e2_wide, 5.260027904925e2_wide), &
                  (5.530898991250e2_wide, 5.249400845633e2_wide), (5.504159734538e2_wide, 5.239212247086e2_wide)]
    case ('A')
      nx = 256; ny = 256; nz = 128
      expected = [(5.046735008193e2_wide, 5.114047905510e2_wide), (5.059412319734e2_wide, 5.098809666433e2_wide), &
                  (5.069376896287e2_wide, 5.098144042213e2_wide), (5.077892868474e2_wide, 5.101336130759e2_wide), &
                  (5.085233095391e2_wide, 5.104914655194e2_wide), (5.091487099959e2_wide, 5.107917842803e2_wide)]
    case default
      call refuse('usage: ft CLASS, with one of S, W, A')
    end select
    if (.not. is_power_of_two(ranks) .or. ranks > min(nx, nz)) call refuse('ft: ranks are no power of two, or more than planes')
  end subroutine choose_class

  ! Uniform numbers, two for each point in the order of addresses. A rank jumps to the first of its planes.
  subroutine fill()
    integer(long) :: last
    integer :: x, y, z
    real(wide) :: first
    last = after(seed, 2_long * nx * ny * own_z * rank)
    do z = 1, own_z
      do y = 1, ny
        do x = 1, nx
          first = random(last)
          field(x, y, z) = cmplx(first, random(last), wide)
        end do
      end do
    end do
  end subroutine fill

  ! In place, by halves: Stockham's order, which needs no reversal of bits. sign: -1 forward, 1 back, neither of which divides.
  subroutine transform(line, n, sign)
    integer, intent(in) :: n, sign
    complex(wide), intent(inout) :: line(0:n - 1)
    complex(wide) :: other(0:n - 1), factor, a, b
    integer :: half, stride, i, k
    half = n / 2
    stride = 1
    do while (half >= 1)
      do i = 0, half - 1
        factor = exp(cmplx(0, sign * pi * i / half, wide))
        do k = 0, stride - 1
          a = line(k + stride * i)
          b = line(k + stride * (i + half))
          other(k + stride * 2 * i) = a + b
          other(k + stride * (2 * i + 1)) = (a - b) * factor
        end do
      end do
      line = other
      half = half / 2
      stride = 2 * stride
    end do
  end subroutine transform

  subroutine to_spectrum()
    integer :: x, y, z, other, at, block
    complex(wide) :: line(max(ny, nz))
    do z = 1, own_z
      do y = 1, ny
        call transform(field(:, y, z), nx, -1)
      end do
      do x = 1, nx
        line(:ny) = field(x, :, z)
        call transform(line(:ny), ny, -1)
        field(x, :, z) = line(:ny)
      end do
    end do
    block = own_x * ny * own_z
    at = 0
    do other = 0, ranks - 1
      do x = 1, own_x
        do y = 1, ny
          sent(at + 1:at + own_z) = field(other * own_x + x, y, :)
          at = at + own_z
        end do
      end do
    end do
    call begin_communication()
    call MPI_Alltoall(sent, block, MPI_DOUBLE_COMPLEX, received, block, MPI_DOUBLE_COMPLEX, MPI_COMM_WORLD)
    call end_communication()
    at = 0
    do other = 0, ranks - 1
      do x = 1, own_x
        do y = 1, ny
          spectrum(other * own_z + 1:(other + 1) * own_z, y, x) = received(at + 1:at + own_z)
          at = at + own_z
        end do
      end do
    end do
    do x = 1, own_x
      do y = 1, ny
        call transform(spectrum(:, y, x), nz, -1)
      end do
    end do
  end subroutine to_spectrum

  ! Frequencies are -n/2 to n/2 - 1.
  pure integer function frequency(index, n)
    integer, intent(in) :: index, n
    frequency = mod(index - 1 + n / 2, n) - n / 2
  end function frequency

  subroutine evolve(time)
    integer, intent(in) :: time
    integer :: x, y, z, square
    do x = 1, own_x
      do y = 1, ny
        do z = 1, nz
          square = frequency(rank * own_x + x, nx)**2 + frequency(y, ny)**2 + frequency(z, nz)**2
          evolved(z, y, x) = spectrum(z, y, x) * exp(-4 * alpha * pi**2 * square * time)
        end do
      end do
    end do
  end subroutine evolve

  subroutine to_field()
    integer :: x, y, z, other, at, block
    complex(wide) :: line(max(ny, nz))
    do x = 1, own_x
      do y = 1, ny
        call transform(evolved(:, y, x), nz, 1)
      end do
    end do
    block = own_x * ny * own_z
    at = 0
    do other = 0, ranks - 1
      do x = 1, own_x
        do y = 1, ny
          sent(at + 1:at + own_z) = evolved(other * own_z + 1:(other + 1) * own_z, y, x)
          at = at + own_z
        end do
      end do
    end do
    call begin_communication()
    call MPI_Alltoall(sent, block, MPI_DOUBLE_COMPLEX, received, block, MPI_DOUBLE_COMPLEX, MPI_COMM_WORLD)
    call end_communication()
    at = 0
    do other = 0, ranks - 1
      do x = 1, own_x
        do y = 1, ny
          field(other * own_x + x, y, :) = received(at + 1:at + own_z)
          at = at + own_z
        end do
      end do
    end do
    do z = 1, own_z
      do x = 1, nx
        line(:ny) = field(x, :, z)
        call transform(line(:ny), ny, 1)
        field(x, :, z) = line(:ny)
      end do
      do y = 1, ny
        call transform(field(:, y, z), nx, 1)
      end do
    end do
  end subroutine to_field

  ! This rank's part of the sum over 1024 points that the specification names.
  complex(wide) function checksum()
    integer :: j, z
    checksum = 0
    do j = 1, 1024
      z = mod(5 * j, nz) - rank * own_z
      if (z >= 0 .and. z < own_z) checksum = checksum + field(mod(j, nx) + 1, mod(3 * j, ny) + 1, z + 1)
    end do
    checksum = checksum / (real(nx, wide) * ny * nz)
  end function checksum
end program ft
