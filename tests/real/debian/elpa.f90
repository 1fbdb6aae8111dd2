! Eigenvalues and eigenvectors by both solvers of ELPA, of a matrix whose eigenvalues are known: 2 on its diagonal, -1 beside it. Ranks
! form a grid, over which blocks of the matrix are dealt in both directions.
program elpa_example
  use mpi
  use elpa
  implicit none
  integer, parameter :: order = 200, block = 16
  double precision, parameter :: pi = 3.14159265358979324d0
  class(elpa_t), pointer :: solver
  double precision, allocatable :: a(:, :), vectors(:, :), values(:)
  double precision :: norms
  integer, allocatable :: row_of(:), column_of(:)
  integer :: rank, ranks, rows, columns, error, i, j, stage
  logical :: right

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  rows = int(sqrt(dble(ranks)))
  do while (mod(ranks, rows) /= 0)
    rows = rows - 1
  end do
  columns = ranks / rows
  row_of = pack([(i, i=1, order)], [(mod((i - 1) / block, rows) == mod(rank, rows), i=1, order)])
  column_of = pack([(i, i=1, order)], [(mod((i - 1) / block, columns) == rank / rows, i=1, order)])
  allocate (a(size(row_of), size(column_of)), vectors(size(row_of), size(column_of)), values(order))

  right = elpa_init(20171201) == ELPA_OK
  solver => elpa_allocate(error)
  call set('na', order)
  call set('nev', order)
  call set('nblk', block)
  call set('local_nrows', size(row_of))
  call set('local_ncols', size(column_of))
  call set('mpi_comm_parent', MPI_COMM_WORLD)
  call set('process_row', mod(rank, rows))
  call set('process_col', rank / rows)
  right = right .and. solver%setup() == ELPA_OK
  do stage = 1, 2
    do j = 1, size(column_of)
      do i = 1, size(row_of)
        a(i, j) = merge(2, merge(-1, 0, abs(row_of(i) - column_of(j)) == 1), row_of(i) == column_of(j))
      end do
    end do
    call set('solver', merge(ELPA_SOLVER_1STAGE, ELPA_SOLVER_2STAGE, stage == 1))
    call solver%eigenvectors(a, values, vectors, error)
    right = right .and. error == ELPA_OK
    do i = 1, order
      right = right .and. abs(values(i) - (2 - 2 * cos(i * pi / (order + 1)))) < 1d-11
    end do
    norms = sum(vectors**2)
    call MPI_Allreduce(MPI_IN_PLACE, norms, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    right = right .and. abs(norms - order) < 1d-9
    if (rank == 0) print '(a, f18.14)', (' eigenvalue ', values(i), i=1, order, 40)
  end do
  call elpa_deallocate(solver, error)
  call elpa_uninit(error)
  call MPI_Allreduce(MPI_IN_PLACE, right, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a)', merge(' eigenvalues are right', ' something is wrong   ', right)
  call MPI_Finalize(error)

contains

  subroutine set(name, number)
    character(*), intent(in) :: name
    integer, intent(in) :: number
    call solver%set(name, number, error)
    right = right .and. error == ELPA_OK
  end subroutine
end program
