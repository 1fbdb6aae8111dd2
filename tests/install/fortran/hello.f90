program hello
  use mpi_f08
  implicit none
  integer :: rank, ranks
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (rank == 0) print '(i0,a)', ranks, ' ranks'
  call MPI_Finalize()
end program
