// The supervisor: a small process between mpiexec and the processes that it starts. No process of a job
// outlives mpiexec.
//
//   mpiexec --- supervisor --- host process (or N plain processes) --- whatever the ranks start
//
// The supervisor adopts all orphans below it (PR_SET_CHILD_SUBREAPER). When mpiexec ends, by whatever means,
// the supervisor's socket closes, and it kills all processes that are left, after a grace where one is given.
// It also sends the processes their signals, as it alone knows which of them it has not reaped.
// When the supervisor is killed, its children get SIGKILL from the kernel (PR_SET_PDEATHSIG), and mpiexec
// adopts and kills their orphans.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

/// Files that are not to be left behind.
struct Folder {
  std::string path;  ///< empty: none
  pid_t owner = 0;   ///< it removes them itself, unless it is killed; 0: it does not
};

/// What a terminal, timeout(1) or a batch system sends to mpiexec and to what it has started.
inline constexpr int kOfTheJob[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP};

/// One process to start. Descriptors of -1 are inherited.
struct Process {
  std::string program;  ///< absolute path
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string working_directory;
  int in = -1;
  int out = -1;
  int err = -1;
  std::vector<std::int32_t> cores;  ///< it may run on these only; empty: where mpiexec may
  bool own_group = false;           ///< a terminal's Ctrl-C is not for it
  bool ignores_signals = false;     ///< nor are kOfTheJob, but it may read the terminal
  bool same_addresses = false;      ///< as when it is started the next time
  std::vector<int> kept;            ///< close-on-exec descriptors that shall stay open in it
  Folder folder;                    ///< removed when the process and all that it has started have ended
  /// So long after SIGTERM may it, and what it has started, take to end; not 0: what has made a session of
  /// its own stays.
  std::chrono::milliseconds grace{0};
  std::vector<int> of_mpiexec;  ///< other ends of what it gets, which are for mpiexec alone
};

/// What the supervisor reports of one process. kCannotEnter: the process cannot enter its working directory.
struct Event {
  enum class Kind { kStarted, kCannotStart, kCannotEnter, kEnded } kind = Kind::kStarted;
  int index = 0;  ///< in the vector given to start()
  int value = 0;  ///< process id, errno, or wait status
};

/// Owned by mpiexec's only thread.
class Supervisor {
 public:
  Supervisor() = default;
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor() { stop(); }

  /// Starts all of `processes`, and closes their in, out and err here. What goes wrong later arrives as an
  /// Event.
  base::Status start(const std::vector<Process>& processes);
  /// Readable when next() has something to tell.
  int descriptor() const { return socket_; }
  /// Does not block. False if there is nothing now; `gone` is set when the supervisor has died.
  bool next(Event& event, bool& gone);
  /// Has the supervisor send a signal to all processes that have not ended. It reaps them, and so knows whose
  /// numbers are still theirs.
  void signal(int number) const;
  /// How the process with this index is. kEnds: the system takes it away, which may last: it has memory to
  /// free, or a core file to write.
  enum class Life : std::uint8_t { kRuns, kStopped, kEnds };
  Life life_of(int index) const;
  /// Whether one of the processes has not taken this signal, because all of its threads block it. One that is
  /// stopped would take it later, and one that ends never.
  bool has_pending(int number) const;
  /// Whether the system writes a core file of one of the processes now; killed, that process would leave half
  /// a file.
  bool is_dumping_core() const;
  /// A process has ended, and next() has not told of it.
  bool is_late() const;
  /// Kills all that is left. has_stopped() tells when it is gone; end_descriptor() is readable then, or is -1
  /// where the system has no such descriptor: ask every kLookForEnd.
  void begin_stop();
  bool has_stopped();
  int end_descriptor() const { return ended_; }
  static constexpr std::chrono::milliseconds kLookForEnd{5};
  /// The supervisor goes on killing alone.
  void abandon() { supervisor_ = -1; }
  /// Kills all that is left and returns when it is gone. Harmless if called again.
  void stop();

 private:
  int socket_ = -1;
  pid_t supervisor_ = -1;
  std::vector<Folder> folders_;
  std::chrono::milliseconds grace_{0};
  int ended_ = -1;              ///< pidfd of the supervisor
  std::vector<pid_t> running_;  ///< by index; -1: not started, or ended
};

}  // namespace clump::mpiexec
