module unit_data
  use iso_c_binding
  implicit none
  integer(c_int), save :: number = 7
  integer(c_int), save :: per_thread = 7
  !$omp threadprivate(per_thread)
  integer(c_int), bind(c, name='imported') :: imported
end module

integer(c_int) function probe_global(add) bind(c)
  use unit_data
  integer(c_int), value :: add
  number = number + add
  probe_global = number
end function

integer(c_int) function probe_function_static(add) bind(c)
  use iso_c_binding
  integer(c_int), value :: add
  integer(c_int), save :: kept = 7
  kept = kept + add
  probe_function_static = kept
end function

integer(c_int) function probe_thread_local(add) bind(c)
  use unit_data
  integer(c_int), value :: add
  per_thread = per_thread + add
  probe_thread_local = per_thread
end function

integer(c_int) function probe_imported(add) bind(c)
  use unit_data
  integer(c_int), value :: add
  interface
    function imported_in_its_library() bind(c)
      use iso_c_binding
      integer(c_int) :: imported_in_its_library
    end function
  end interface
  imported = imported + add
  probe_imported = imported
  if (imported_in_its_library() /= imported) probe_imported = -1
end function
