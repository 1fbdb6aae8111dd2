! The kernel EP of the NAS Parallel Benchmarks, written from their specification (Bailey et al., RNR-94-007): pairs of Gaussian deviates from
! uniform ones, counted by squares. There is next to no communication, so it shows what the processors give.
!
!     mpiexec -n 4 ./ep S          classes S, W, A; any number of ranks
!
! The sequence of uniform numbers x(k+1) = 5**13 * x(k) mod 2**46 is cut into blocks; a rank jumps to the beginning of each of its blocks.
include 'common.inc'
program ep
  use nas_common
  implicit none
  integer, parameter :: block_power = 16
  integer(long), parameter :: seed = 271828183_long
  integer :: power
  integer(long) :: block, blocks, counts(0:9)
  real(wide) :: expected(2), sums(2)
  logical :: verified

  call start()
  call choose_class()
  blocks = 2_long**(power - block_power)
  sums = 0
  counts = 0
  call start_clock()
  do block = rank, blocks - 1, ranks
    call count_block(block)
  end do
  call begin_communication()
  call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Allreduce(MPI_IN_PLACE, counts, 10, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
  call end_communication()
  call stop_clock()
  verified = all(abs((sums - expected) / expected) <= 1e-8_wide)
  if (rank == 0) then
    print '(3a,i0,a,i0,a)', 'EP class ', class, ': 2**', power, ' pairs, ', ranks, ' ranks'
    print '(a,2es24.15)', 'sums', sums
    print '(a,i0)', 'pairs in the circle ', sum(counts)
  end if
  call finish(2._wide**(power + 1), verified)

contains

  subroutine choose_class()
    select case (class)
    case ('S')
      power = 24
      expected = [-3.247834652034740e3_wide, -6.958407078382297e3_wide]
    case ('W')
      power = 25
      expected = [-2.863319731645753e3_wide, -6.320053679109499e3_wide]
    case ('A')
      power = 28
      expected = [-4.295875165629892e3_wide, -1.580732573678431e4_wide]
    case default
      call refuse('usage: ep CLASS, with one of S, W, A')
    end select
  end subroutine choose_class

  subroutine count_block(number)
    integer(long), intent(in) :: number
    integer(long) :: x, pair
    real(wide) :: u, v, square, factor, gauss(2)
    x = after(seed, 2_long * number * 2_long**block_power)
    do pair = 1, 2_long**block_power
      u = 2 * random(x) - 1
      v = 2 * random(x) - 1
      square = u * u + v * v
      if (square <= 1) then
        factor = sqrt(-2 * log(square) / square)
        gauss = [u * factor, v * factor]
        counts(int(maxval(abs(gauss)))) = counts(int(maxval(abs(gauss)))) + 1
        sums = sums + gauss
      end if
    end do
  end subroutine count_block
end program ep
