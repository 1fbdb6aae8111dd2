// How records of other hosts come to mpiexec: over a channel of each host's stream (channels.h). mpiexec
// asks, and a thread of the proxy answers: what time it is, before the job and after it, so that clocks can
// be compared, and what the ranks have written down until now. If the ranks of one host have failed, all
// hosts are asked at once: mpiexec is about to end them.
#pragma once

#include <atomic>
#include <condition_variable>
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

  /// Before the first admit(), which is for mpiexec's only thread.
  base::Status open();
  /// The channel of a host: a thread serves it, and closes `socket`.
  void admit(std::size_t host, int socket);
  /// The proxies have ended: what came, by hosts; with times of this host's clock.
  std::vector<tools::profile::Source> finish();

 private:
  class Line;
  void serve(std::size_t host, int socket);
  bool fetch(Line& line, tools::profile::Source& source);
  void wait_for_others();

  int news_ = -1;  ///< an event: one of the next two has changed
  /// A proxy that has not told by now that its part of the job has ended will not, or need not.
  std::atomic<bool> is_over_{false}, has_failed_{false};
  std::mutex mutex_;
  std::condition_variable served_one_;
  int unserved_ = 0;
  std::vector<std::thread> servers_;
  std::vector<tools::profile::Source> sources_;
};

/// A proxy's side.
class RecordSender {
 public:
  RecordSender() = default;
  ~RecordSender();
  RecordSender(const RecordSender&) = delete;
  RecordSender& operator=(const RecordSender&) = delete;

  /// From here on mpiexec, at the other end of `socket`, can ask for the memory behind `descriptor`.
  void begin(int socket, int descriptor, const tools::profile::Moment& start);
  /// The ranks of this host have ended: waits until mpiexec has all that it wants.
  bool report(bool failed);

 private:
  void answer_all();
  bool answer(char ask);
  bool send_records();

  int socket_ = -1;
  int descriptor_ = -1;
  tools::profile::Moment start_;
  std::thread thread_;
  std::mutex sending_, mutex_;
  std::condition_variable changed_;
  bool dismissed_ = false, ended_ = false;
};

}  // namespace clump::mpiexec
