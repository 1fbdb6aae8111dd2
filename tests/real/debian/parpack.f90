! Eigenvalues by PARPACK of a matrix whose eigenvalues are known: 2 on its diagonal, -1 beside it. Each rank has
! some consecutive rows.
program parpack
  implicit none
  include 'mpif.h'
  integer, parameter :: order = 100, wanted = 4, basis = 20, most = order
  double precision, parameter :: pi = 3.14159265358979324d0
  double precision :: v(most, basis), work(3 * most), projected(basis * (basis + 8)), residual(most), values(wanted), known
  integer :: iparam(11), ipntr(11), rank, ranks, rows, ido, info, error, i, products
  logical :: selected(basis), right
  external :: pdsaupd, pdseupd

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  rows = order / ranks
  if (rank < mod(order, ranks)) rows = rows + 1

  iparam = 0
  iparam(1) = 1     ! shifts are PARPACK's
  iparam(3) = 300   ! at most so many restarts
  iparam(7) = 1     ! A x = lambda x
  ido = 0
  info = 0
  products = 0
  do
    call pdsaupd(MPI_COMM_WORLD, ido, 'I', rows, 'LM', wanted, 1d-13, residual, basis, v, most, iparam, ipntr, work, projected, &
                 size(projected), info)
    if (ido /= 1 .and. ido /= -1) exit
    call multiply(work(ipntr(1)), work(ipntr(2)))
    products = products + 1
  end do
  if (info == 0) call pdseupd(MPI_COMM_WORLD, .false., 'A', selected, values, v, most, 0d0, 'I', rows, 'LM', wanted, 1d-13, residual, &
                              basis, v, most, iparam, ipntr, work, projected, size(projected), info)
  right = info == 0 .and. iparam(5) >= wanted .and. products > 0
  do i = 1, wanted
    known = 2 - 2 * cos((order - wanted + i) * pi / (order + 1))
    right = right .and. abs(values(i) - known) < 1d-10
    if (rank == 0) print '(a, f18.14)', ' eigenvalue ', values(i)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, right, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
  if (rank == 0 .and. right) print '(a)', ' eigenvalues are right'
  if (rank == 0 .and. .not. right) print '(a, 2i6)', ' wrong: info and how many have converged: ', info, iparam(5)
  call MPI_Finalize(error)

contains

  subroutine multiply(x, y)
    double precision, intent(in) :: x(rows)
    double precision, intent(out) :: y(rows)
    double precision :: before, after
    integer :: previous, next
    previous = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    next = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
    before = 0
    after = 0
    call MPI_Sendrecv(x(rows), 1, MPI_DOUBLE_PRECISION, next, 1, before, 1, MPI_DOUBLE_PRECISION, previous, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv(x(1), 1, MPI_DOUBLE_PRECISION, previous, 2, after, 1, MPI_DOUBLE_PRECISION, next, 2, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, error)
    y = 2 * x
    y(2:) = y(2:) - x(:rows - 1)
    y(:rows - 1) = y(:rows - 1) - x(2:)
    y(1) = y(1) - before
    y(rows) = y(rows) - after
  end subroutine

end program
