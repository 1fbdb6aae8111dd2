! `use mpi`: explicit interfaces, choice buffers of any type and rank.
program module
  use mpi
  use checks
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: ierr, rank, ranks, all_failures, provided
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  call check(ierr == MPI_SUCCESS .and. provided >= MPI_THREAD_SINGLE, 'MPI_Init_thread')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call buffers()
  call memory()
  call sizes()
  call profiling_names()
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(i0,a,i0,a)', ranks, ' ranks, ', all_failures, ' failures'
  call MPI_Finalize(ierr)
contains
  subroutine buffers()
    type point
      sequence
      double precision :: x, y
    end type
    type(point) :: points(3), got(3)
    complex :: z(2, 2)
    character(5) :: word
    integer :: status(MPI_STATUS_SIZE), scalar, cube(2, 3, 4), matrix(4, 4)
    logical :: truth
    points = point(rank, -rank)
    call MPI_Sendrecv(points, 6, MPI_DOUBLE_PRECISION, rank, 1, got, 6, MPI_DOUBLE_PRECISION, rank, 1, MPI_COMM_WORLD, status, ierr)
    call check(got(3)%y == -rank, 'a derived type')
    z = cmplx(rank, 1)
    call MPI_Bcast(z, 4, MPI_COMPLEX, ranks - 1, MPI_COMM_WORLD, ierr)
    call check(real(z(2, 2)) == ranks - 1, 'COMPLEX')
    word = merge('first', 'other', rank == 0)
    call MPI_Bcast(word, 5, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
    call check(word == 'first', 'CHARACTER')
    scalar = rank
    call MPI_Allreduce(MPI_IN_PLACE, scalar, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
    call check(scalar == ranks - 1, 'a scalar, MPI_IN_PLACE')
    cube = rank
    call MPI_Bcast(cube, size(cube), MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call check(all(cube == 0), 'an array of rank 3')
    truth = rank == 0
    call MPI_Allreduce(MPI_IN_PLACE, truth, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
    call check(truth, 'LOGICAL')
    ! A section is copied in and out in a call that blocks.
    matrix = rank
    call MPI_Bcast(matrix(2, :), 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call check(all(matrix(2, :) == 0) .and. all(matrix(3, :) == rank), 'a section')
  end subroutine

  subroutine memory()
    type(c_ptr) :: address
    integer(kind=MPI_ADDRESS_KIND) :: number
    integer, pointer :: values(:)
    call MPI_Alloc_mem(400_MPI_ADDRESS_KIND, MPI_INFO_NULL, address, ierr)
    call c_f_pointer(address, values, [100])
    values = rank
    call MPI_Allreduce(MPI_IN_PLACE, values, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(values(100) == ranks * (ranks - 1) / 2, 'MPI_Alloc_mem')
    call MPI_Free_mem(values, ierr)
    call MPI_Alloc_mem(400_MPI_ADDRESS_KIND, MPI_INFO_NULL, number, ierr)
    call check(number /= 0, 'MPI_Alloc_mem: an integer')
  end subroutine

  subroutine sizes()
    integer :: size
    double precision :: x(7)
    integer(selected_int_kind(3)) :: i
    complex(kind(1d0)) :: z
    integer :: type
    call MPI_Sizeof(x, size, ierr)
    call check(size == 8, 'MPI_Sizeof: DOUBLE PRECISION')
    call MPI_Sizeof(i, size, ierr)
    call check(size == 2, 'MPI_Sizeof: INTEGER(2)')
    call MPI_Sizeof(z, size, ierr)
    call check(size == 16, 'MPI_Sizeof: COMPLEX')
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, type, ierr)
    call MPI_Type_size(type, size, ierr)
    call check(size == 8, 'MPI_Type_match_size')
    call MPI_Type_create_f90_real(15, MPI_UNDEFINED, type, ierr)
    call MPI_Type_size(type, size, ierr)
    call check(size == 8, 'MPI_Type_create_f90_real')
    call check(.not. MPI_SUBARRAYS_SUPPORTED .and. MPI_STATUS_SIZE == 8, 'constants')
  end subroutine

  subroutine profiling_names()
    integer :: number
    call PMPI_Comm_size(MPI_COMM_WORLD, number, ierr)
    call check(number == ranks, 'PMPI_Comm_size')
    call PMPI_Allreduce(1, number, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(number == ranks, 'PMPI_Allreduce')
    call check(PMPI_Wtime() > 0, 'PMPI_Wtime')
  end subroutine
end program
