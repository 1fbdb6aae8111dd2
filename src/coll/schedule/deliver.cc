// The "crystal router" of Fox et al., "Solving Problems on Concurrent Processors" (1988), for any number of
// ranks: in round k a record travels 2^k ranks up if bit k of its distance is set.
#include "coll/schedule/deliver.h"

#include <algorithm>

#include "coll/algorithms/pieces.h"

namespace clump::coll {

namespace {

/// Sends bytes up, and receives as many as expected from below.
base::Status pass_on(core::Comm& comm, int distance, const Layout& out, const Layout& in) {
  Schedule s(comm);
  s.receive(in, wrap(s.rank() - distance, s.size()));
  s.send(out, wrap(s.rank() + distance, s.size()));
  return s.run();
}

Layout bytes_of_records(std::vector<SparseRecord>& records, std::size_t first) {
  return bytes_at(records.data() + first,
                  static_cast<Count>((records.size() - first) * sizeof(SparseRecord)));
}

}  // namespace

base::Status deliver(core::Comm& comm, std::vector<SparseRecord>& records) {
  const int size = comm.size();
  std::vector<SparseRecord> leaving;
  for (int distance = 1; distance < size; distance *= 2) {
    const auto first_leaving = std::partition(
        records.begin(), records.end(),
        [&](const SparseRecord& record) { return (wrap(record.to - comm.rank, size) & distance) == 0; });
    leaving.assign(first_leaving, records.end());
    records.erase(first_leaving, records.end());

    const std::size_t staying = records.size();
    std::size_t leave = leaving.size(), arrive = 0;
    CLUMP_TRY(pass_on(comm, distance, bytes_at(&leave, sizeof leave), bytes_at(&arrive, sizeof arrive)));
    records.resize(staying + arrive);
    CLUMP_TRY(pass_on(comm, distance, bytes_of_records(leaving, 0), bytes_of_records(records, staying)));
  }
  return {};
}

}  // namespace clump::coll
