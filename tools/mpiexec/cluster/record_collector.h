// How records of other hosts come to mpiexec: over a channel of each host's stream (channels.h). mpiexec
// asks, and the proxy answers: what time it is, before its ranks begin and when they have ended, so that
// clocks can be compared, and then what the ranks have written down.
#pragma once

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "profile/read.h"

namespace clump::mpiexec {

/// mpiexec's side.
class RecordCollector {
 public:
  RecordCollector() = default;
  ~RecordCollector();
  RecordCollector(const RecordCollector&) = delete;
  RecordCollector& operator=(const RecordCollector&) = delete;

  /// The channel of a host: a thread serves it, and closes `socket`. For mpiexec's main thread.
  void admit(std::size_t host, int socket);
  /// The channels of all hosts are closed: what came, by hosts; with times of this host's clock.
  std::vector<tools::profile::Source> finish();

 private:
  static bool fetch(int socket, tools::profile::Source& source);

  std::vector<std::thread> servers_;
  std::mutex mutex_;  ///< of sources_
  std::vector<tools::profile::Source> sources_;
};

/// A proxy's side, of its main thread. It waits for mpiexec's words; if the stream to mpiexec ends, so does
/// the socket.
class RecordSender {
 public:
  RecordSender() = default;
  ~RecordSender();
  RecordSender(const RecordSender&) = delete;
  RecordSender& operator=(const RecordSender&) = delete;

  /// The ranks of this host are about to begin, and write to the memory behind `descriptor`. mpiexec is at
  /// the other end of `socket`.
  void begin(int socket, int descriptor, const tools::profile::Moment& start);
  /// They have ended. True when mpiexec has all that it wants.
  bool report() const;

 private:
  bool answer() const;
  bool send_records() const;

  int socket_ = -1;
  int descriptor_ = -1;
  tools::profile::Moment start_;
};

}  // namespace clump::mpiexec
