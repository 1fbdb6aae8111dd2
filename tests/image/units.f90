! Every rank writes unit 10 to a file of its own; the table of units is in libgfortran, so that library must be private.
subroutine write_unit(rank) bind(c)
  use iso_c_binding
  implicit none
  integer(c_int), value :: rank
  character(40) :: name
  write(name, '(a,i0,a)') 'image_unit_', rank, '.txt'
  open(unit=10, file=name)
  write(10, *) 1000 + rank
end subroutine

integer(c_int) function read_unit() bind(c)
  use iso_c_binding
  implicit none
  integer :: number
  rewind(10)
  read(10, *) number
  close(10, status='delete')
  print '(a)', 'from Fortran'
  read_unit = number
end function
