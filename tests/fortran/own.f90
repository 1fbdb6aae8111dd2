! What each rank has to itself: COMMON blocks, variables with SAVE, a unit of a fixed number; and each of its threads a threadprivate COMMON
! block, which begins as BLOCK DATA says and is kept from one parallel region to the next.
block data initial
  implicit none
  integer :: of_thread
  common /work/ of_thread(1000)
  !$omp threadprivate(/work/)
  data of_thread /1000*11/
end block data

! In a procedure of its own, so that the block is found by its name.
logical function is_work(value)
  implicit none
  integer :: value, of_thread
  common /work/ of_thread(1000)
  !$omp threadprivate(/work/)
  is_work = all(of_thread == value)
end function

integer function count_calls()
  implicit none
  integer, save :: calls = 0
  calls = calls + 1
  count_calls = calls
end function

program own
  use mpi_f08
  use omp_lib
  use checks
  implicit none
  integer, parameter :: threads = 2
  integer :: provided, rank, ranks, all_failures, i, me, number, iostat, wrong
  integer :: of_rank, of_thread
  character(len=32) :: name
  common /field/ of_rank(1000)
  common /work/ of_thread(1000)
  !$omp threadprivate(/work/)
  logical, external :: is_work
  integer, external :: count_calls

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call omp_set_dynamic(.false.)
  write (name, '(a,i0)') 'fortran_own_', rank
  open (10, file=trim(name), status='replace', action='readwrite')
  call MPI_Barrier(MPI_COMM_WORLD)

  wrong = 0
  !$omp parallel num_threads(threads) private(me) reduction(+ : wrong)
  me = omp_get_thread_num()
  if (omp_get_num_threads() /= threads .or. .not. is_work(11)) wrong = wrong + 1
  of_thread = threads * rank + me + 100
  of_rank(me * 500 + 1:(me + 1) * 500) = rank
  !$omp end parallel
  call check(wrong == 0, 'two threads, whose COMMON block begins as BLOCK DATA says')

  do i = 1, 10
    write (10, *) 10 * rank + count_calls()
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  !$omp parallel num_threads(threads) reduction(+ : wrong)
  if (.not. is_work(threads * rank + omp_get_thread_num() + 100)) wrong = wrong + 1
  !$omp end parallel
  call check(wrong == 0, 'the COMMON block of a thread, kept')
  call check(all(of_rank == rank), 'the COMMON block of a rank, which its threads share')
  call check(count_calls() == 11, 'SAVE')
  rewind (10)
  do i = 1, 10
    read (10, *, iostat=iostat) number
    call check(iostat == 0 .and. number == 10 * rank + i, 'what unit 10 of a rank has')
  end do
  close (10, status='delete')

  call MPI_Reduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(i0,a,i0,a)', ranks, ' ranks, ', all_failures, ' failures'
  call MPI_Finalize()
end program
