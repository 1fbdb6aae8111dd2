// The environment of this process, as far as Clump obeys it. All of src/ asks here: the test
// layering.environment looks for other ways.
//
// A process whose program has more rights than its caller (set-user-ID, set-group-ID, file capabilities)
// obeys no variable: who has started it chooses them, and would choose by them which libraries it loads,
// which files it makes and whom it trusts. It is then a job of one rank with defaults, as without mpiexec.
//
// The C library's functions that Clump has for ranks (process/libc) are the program's: execvp() reads PATH
// in such a process, too.
#pragma once

namespace clump::base {

/// Whether this process has the rights of its program's file, which its caller may not have: AT_SECURE of
/// getauxval(3), by which ld.so ignores LD_PRELOAD and its like. Any thread, also in the first constructor.
bool has_rights_of_file();

/// The value of a variable, as getenv() returns it; null where has_rights_of_file().
const char* variable(const char* name);

/// `environment`, which is that of this process, or one without variables where has_rights_of_file().
char** obeyed(char** environment);

/// `environ`, in the same way.
char** environment();

}  // namespace clump::base
