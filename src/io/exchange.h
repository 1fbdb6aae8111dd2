// Collective access by ranks of several processes: in two stages (MPI-5.0 section 14.4.2).
//
//   ranks of a process --> Round, without messages --> leaders of the processes --> aggregators --> file
//
// The file is cut into file domains, and each belongs to an aggregator: a leader that collects its data from
// all leaders, and writes it, or reads it and hands it out.
#pragma once

#include "base/status.h"
#include "core/comm.h"
#include "io/round.h"

namespace clump::io {

/// Carries out a round of all processes; the caller leads its own. `aggregators`: how many there shall be; 0:
/// as suits. All leaders get the same error. Collective over `leaders`; blocks.
base::Status exchange(OpenedFile& file, core::Comm& leaders, Round& round, const Manner& manner,
                      int aggregators);

}  // namespace clump::io
