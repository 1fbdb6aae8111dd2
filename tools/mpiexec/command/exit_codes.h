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

}  // namespace clump::mpiexec
