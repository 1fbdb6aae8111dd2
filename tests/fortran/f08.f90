! `use mpi_f08`: handles have types, ierror may be left out, procedures are handed over with their interfaces.
program f08
  use mpi_f08
  use checks
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: rank, ranks, all_failures
  integer :: copies = 0, deletes = 0, error_class = 0, freed = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call handles()
  call statuses()
  call callbacks()
  call large_counts()
  call memory()
  call strings()
  call predefined()
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(i0,a,i0,a)', ranks, ' ranks, ', all_failures, ' failures'
  call MPI_Finalize()
contains
  subroutine handles()
    type(MPI_Comm) :: comm, same
    type(MPI_Request) :: requests(3)
    type(MPI_Group) :: group
    type(MPI_Datatype) :: type, types(2)
    integer :: size, ierr, result, ranges(3, 1), sum, i, old
    call check(MPI_COMM_WORLD /= MPI_COMM_SELF .and. MPI_COMM_WORLD == MPI_COMM_WORLD, 'comparison')
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'ierror')
    same = comm
    call check(same == comm .and. .not. same /= comm, 'assignment')
    old = comm%MPI_VAL
    same%MPI_VAL = old
    call MPI_Comm_compare(same, MPI_COMM_WORLD, result)
    call check(result == MPI_CONGRUENT, 'MPI_VAL')
    call MPI_Comm_free(comm)
    call check(comm == MPI_COMM_NULL, 'MPI_Comm_free')
    call MPI_Comm_group(MPI_COMM_WORLD, group)
    ranges(:, 1) = [0, ranks - 1, 2]
    block
      type(MPI_Group) :: half
      call MPI_Group_range_incl(group, 1, ranges, half)
      call MPI_Group_size(half, size)
      call check(size == (ranks + 1) / 2, 'MPI_Group_range_incl')
      call MPI_Group_free(half)
    end block
    call MPI_Group_free(group)
    do i = 1, 3
      call MPI_Irecv(sum, 0, MPI_INTEGER, rank, i, MPI_COMM_WORLD, requests(i))
      call MPI_Send(sum, 0, MPI_INTEGER, rank, i, MPI_COMM_WORLD)
    end do
    call check(all(requests /= MPI_REQUEST_NULL), 'requests')
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
    call check(all(requests == MPI_REQUEST_NULL), 'an array of handles')
    types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
    call MPI_Type_create_struct(2, [1, 1], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], types, type)
    call MPI_Type_size(type, size)
    call check(size == 12, 'MPI_Type_create_struct')
    call MPI_Type_free(type)
  end subroutine

  subroutine statuses()
    type(MPI_Status) :: status, again, many(2)
    integer :: old(MPI_STATUS_SIZE), count, data, index, indices(2), out
    type(MPI_Request) :: requests(2)
    logical :: flag
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, rank, 5, data, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, status)
    call check(status%MPI_SOURCE == rank .and. status%MPI_TAG == 5, 'MPI_Status')
    call MPI_Status_f082f(status, old)
    call check(old(MPI_SOURCE) == rank .and. old(MPI_TAG) == 5, 'MPI_Status_f082f')
    again = status
    again%MPI_ERROR = MPI_ERR_TAG
    call MPI_Status_f082f(again, old)
    call check(old(MPI_ERROR) == MPI_ERR_TAG, 'MPI_ERROR')
    call MPI_Status_f2f08(old, again)
    call MPI_Get_count(again, MPI_INTEGER, count)
    call check(count == 1, 'MPI_Status_f2f08')
    call MPI_Test_cancelled(status, flag)
    call check(.not. flag, 'MPI_Test_cancelled')
    requests(1) = MPI_REQUEST_NULL
    call MPI_Irecv(data, 1, MPI_INTEGER, rank, 6, MPI_COMM_WORLD, requests(2))
    call MPI_Send(rank, 1, MPI_INTEGER, rank, 6, MPI_COMM_WORLD)
    call MPI_Waitsome(2, requests, out, indices, many)
    call check(out == 1 .and. indices(1) == 2 .and. many(1)%MPI_TAG == 6, 'MPI_Waitsome')
    call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE)
    call check(index == MPI_UNDEFINED, 'MPI_Waitany')
  end subroutine

  subroutine callbacks()
    type(MPI_Op) :: op
    type(MPI_Comm) :: comm
    type(MPI_Errhandler) :: handler
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: key, result, ierr
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Op_create(add, .true., op)
    call MPI_Allreduce(rank, result, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(result == ranks * (ranks - 1) / 2, 'MPI_Op_create')
    call MPI_Op_free(op)
    call MPI_Op_create_c(add_large, .true., op)
    call MPI_Allreduce(rank, result, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(result == ranks * (ranks - 1) / 2, 'MPI_Op_create_c')
    call MPI_Op_free(op)
    call MPI_Comm_create_keyval(copy, erase, key, 3_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 39_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_get_attr(comm, key, value, flag)
    call check(flag .and. value == 42 .and. copies == 1, 'MPI_Comm_create_keyval')
    call MPI_Comm_create_errhandler(handle_error, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, comm, ierr)
    call check(error_class == MPI_ERR_RANK, 'MPI_Comm_create_errhandler')
    call MPI_Errhandler_free(handler)
    call MPI_Comm_free(comm)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    call MPI_Comm_free_keyval(key)
    call check(deletes == 2, 'delete functions')
    call MPI_Grequest_start(query, free_state, cancel, 7_MPI_ADDRESS_KIND, request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call check(status%MPI_TAG == 7 .and. freed == 1, 'MPI_Grequest_start')
  end subroutine

  subroutine add(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: x(:), y(:)
    call check(datatype == MPI_INTEGER, 'the datatype of an operation')
    call c_f_pointer(invec, x, [len])
    call c_f_pointer(inoutvec, y, [len])
    y = x + y
  end subroutine

  subroutine add_large(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(kind=MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: x(:), y(:)
    call check(datatype == MPI_INTEGER, 'the datatype of an operation')
    call c_f_pointer(invec, x, [len])
    call c_f_pointer(inoutvec, y, [len])
    y = x + y
  end subroutine

  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copies = copies + 1
    attribute_val_out = attribute_val_in + extra_state
    flag = oldcomm == MPI_COMM_WORLD
    ierror = MPI_SUCCESS
  end subroutine

  subroutine erase(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (extra_state == 3 .and. (attribute_val == 42 .or. attribute_val == 39)) deletes = deletes + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine handle_error(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    call MPI_Error_class(error_code, error_class)
    call check(comm /= MPI_COMM_WORLD, 'the handle that an error handler gets')
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    status%MPI_SOURCE = 0
    status%MPI_TAG = int(extra_state)
    call MPI_Status_set_cancelled(status, .false.)
    call MPI_Status_set_elements(status, MPI_BYTE, 0)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine free_state(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    freed = freed + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine

  subroutine large_counts()
    integer :: data(10), got(10), small
    integer(kind=MPI_COUNT_KIND) :: count, counts(ranks), i
    integer(kind=MPI_ADDRESS_KIND) :: places(ranks)
    integer :: gathered(ranks)
    type(MPI_Status) :: status
    type(MPI_Datatype) :: type
    data = rank
    call MPI_Sendrecv(data, 10_MPI_COUNT_KIND, MPI_INTEGER, rank, 1, got, 10_MPI_COUNT_KIND, MPI_INTEGER, rank, 1, &
                      MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(count == 10 .and. all(got == rank), 'large counts')
    call MPI_Get_count(status, MPI_INTEGER, small)
    call check(small == 10, 'small counts')
    counts = 1
    places = [(i, i = ranks - 1, 0, -1)]
    call MPI_Allgatherv(rank, 1_MPI_COUNT_KIND, MPI_INTEGER, gathered, counts, places, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(gathered == [(i, i = ranks - 1, 0, -1)]), 'arrays of large counts')
    call MPI_Type_contiguous(3000000000_MPI_COUNT_KIND, MPI_INTEGER, type)
    call MPI_Type_size(type, count)
    call check(count == 12000000000_MPI_COUNT_KIND, 'a large datatype')
    call MPI_Type_size(type, small)
    call check(small == MPI_UNDEFINED, 'a size that does not fit')
    call MPI_Type_free(type)
  end subroutine

  subroutine memory()
    type(c_ptr) :: address
    integer, pointer :: values(:)
    integer, target, save :: buffer(1000)
    integer :: size, got
    integer(kind=MPI_ADDRESS_KIND) :: first, second
    type(MPI_Datatype) :: type
    call MPI_Alloc_mem(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, address)
    call c_f_pointer(address, values, [10])
    values = rank
    call check(values(10) == rank, 'MPI_Alloc_mem')
    call MPI_Free_mem(values)
    call MPI_Buffer_attach(buffer, 4000)
    call MPI_Bsend(rank, 1, MPI_INTEGER, rank, 9, MPI_COMM_WORLD)
    call MPI_Recv(got, 1, MPI_INTEGER, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(got == rank, 'MPI_Bsend')
    call MPI_Buffer_detach(address, size)
    call check(size == 4000 .and. c_associated(address, c_loc(buffer)), 'MPI_Buffer_detach')
    call MPI_Get_address(buffer(1), first)
    call MPI_Get_address(buffer(3), second)
    call check(MPI_Aint_diff(second, first) == 8 .and. MPI_Aint_add(first, 8_MPI_ADDRESS_KIND) == second, 'MPI_Get_address')
    buffer(1:4) = rank
    call MPI_Type_create_hindexed(1, [2], [first + 4], MPI_INTEGER, type)
    call MPI_Type_commit(type)
    call MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD)
    call MPI_F_sync_reg(buffer)
    call check(all(buffer(1:4) == [rank, 0, 0, rank]), 'MPI_BOTTOM')
    call MPI_Type_free(type)
  end subroutine

  subroutine strings()
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    character(len=MPI_MAX_PROCESSOR_NAME) :: host
    character(len=10) :: value
    character(len=4), dimension(2) :: words
    type(MPI_Info) :: info
    integer :: length
    logical :: flag
    call MPI_Get_library_version(version, length)
    call check(length > 0 .and. version(length + 1:) == ' ', 'MPI_Get_library_version')
    call MPI_Get_processor_name(host, length)
    call check(len_trim(host) == length, 'MPI_Get_processor_name')
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'key ', ' value ')
    call MPI_Info_get(info, 'key', 10, value, flag)
    call check(flag .and. value == 'value', 'MPI_Info_get')
    length = 10
    call MPI_Info_get_string(info, 'key', length, value, flag)
    call check(flag .and. value == 'value' .and. length == 5, 'MPI_Info_get_string')
    call MPI_Info_free(info)
    words = merge('abcd', 'efgh', rank == 0)
    call MPI_Bcast(words, 8, MPI_CHARACTER, 0, MPI_COMM_WORLD)
    call check(words(2) == 'abcd', 'an array of strings')
  end subroutine

  ! C has the address of what Fortran has set, and Fortran the pointer of what C has set (MPI-5.0 section 19.3.7).
  subroutine attribute_in_c(comm, key)
    use, intrinsic :: iso_c_binding
    integer, intent(in) :: comm, key
    interface
      function c_comm(handle) bind(c, name='PMPI_Comm_fromint')
        import :: c_int, c_intptr_t
        integer(c_int), value :: handle
        integer(c_intptr_t) :: c_comm
      end function
      function c_get(comm, key, attribute, flag) bind(c, name='PMPI_Comm_get_attr')
        import :: c_int, c_intptr_t, c_ptr
        integer(c_intptr_t), value :: comm
        integer(c_int), value :: key
        type(c_ptr) :: attribute
        integer(c_int) :: flag, c_get
      end function
      function c_set(comm, key, attribute) bind(c, name='PMPI_Comm_set_attr')
        import :: c_int, c_intptr_t, c_ptr
        integer(c_intptr_t), value :: comm
        integer(c_int), value :: key
        type(c_ptr), value :: attribute
        integer(c_int) :: c_set
      end function
    end interface
    type(c_ptr) :: attribute
    integer(kind=MPI_ADDRESS_KIND), pointer :: seen
    integer(kind=MPI_ADDRESS_KIND), target :: own
    integer(kind=MPI_ADDRESS_KIND) :: value
    integer(c_int) :: there, code
    logical :: flag
    code = c_get(c_comm(comm), key, attribute, there)
    call c_f_pointer(attribute, seen)
    call check(there /= 0 .and. seen == 11, 'an attribute of Fortran in C')
    code = c_set(c_comm(comm), key, c_loc(own))
    call MPI_Comm_get_attr(MPI_Comm(comm), key, value, flag)
    call check(flag .and. value == transfer(c_loc(own), value), 'an attribute of C in Fortran')
    call MPI_Comm_set_attr(MPI_Comm(comm), key, 11_MPI_ADDRESS_KIND)
  end subroutine

  ! What the library knows by its address, in each rank's copy.
  subroutine predefined()
    integer :: key, sum, right, left
    type(MPI_Comm) :: comm
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 11_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_get_attr(comm, key, value, flag)
    call check(flag .and. value == 11, 'MPI_COMM_DUP_FN')
    call attribute_in_c(comm%MPI_VAL, key)
    call MPI_Comm_free(comm)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    sum = 1
    call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(sum == ranks, 'MPI_IN_PLACE')
    right = mod(rank + 1, ranks)
    left = mod(rank + ranks - 1, ranks)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, MPI_INFO_NULL, &
                                        .false., comm)
    call MPI_Dist_graph_neighbors_count(comm, left, right, flag)
    call check(.not. flag, 'MPI_UNWEIGHTED')
    call MPI_Comm_free(comm)
    call check(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 'constants')
  end subroutine
end program
