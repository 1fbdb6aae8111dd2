! What the programs of this folder share: they note what does not hold, and say at the end how much it was.
module checks
  implicit none
  integer :: failures = 0
contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    print '(2a)', 'does not hold: ', what
  end subroutine
end module

! For files in fixed form, without an interface.
subroutine check_that(holds, what)
  use checks
  logical :: holds
  character(*) :: what
  call check(holds, what)
end subroutine

integer function failures_so_far()
  use checks
  failures_so_far = failures
end function
