// The first control message, from mpiexec to each proxy: what it is to run, and where.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cluster/places_here.h"
#include "pmi/job.h"

namespace clump::mpiexec {

struct StartMessage {
  int host = 0;                    ///< the proxy's: a node of the job
  std::vector<std::string> words;  ///< of mpiexec's command line, as far as proxies have to know them
  Places places;
  pmi::Job job;
};

/// Of all hosts alike, but for the host; `job` is pmi::encode()'s.
std::string encode(const StartMessage& message, const std::string& job);
base::Status decode(const std::string& bytes, StartMessage& message);

}  // namespace clump::mpiexec
