// Exit codes of mpiexec itself, as shells have them.
#pragma once

namespace clump::mpiexec {

inline constexpr int kExitOutput = 1;  ///< what ranks have written, or what they did, is lost
inline constexpr int kExitUsage = 2;
/// MPI_Abort() with code 0: a failure for mpiexec, of which the shell gets the low byte.
inline constexpr int kExitAbortedWithZero = 256;
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNotFound = 127;

/// For --help and the manual.
inline constexpr const char* kExitCodes =
    "The exit code is 0, or that of the first rank that failed (128 + signal for signals); 1 after a "
    "deadlock or "
    "where output is lost, 2 if the command line is wrong, 124 after --timeout, 126 if the program cannot "
    "run, "
    "127 if it is not found.";

}  // namespace clump::mpiexec
