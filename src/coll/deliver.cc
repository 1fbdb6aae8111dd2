// The "crystal router" of Fox et al., "Solving Problems on Concurrent Processors" (1988), for any number of
// ranks: in round k a parcel travels 2^k ranks up if bit k of its distance is set.
#include "coll/deliver.h"

#include <algorithm>

#include "coll/pieces.h"

namespace clump::coll {

namespace {

/// Sends bytes up, and receives as many as expected from below.
base::Status pass_on(core::Comm& comm, int distance, const Layout& out, const Layout& in) {
  Schedule s(comm);
  s.receive(in, wrap(s.rank() - distance, s.size()));
  s.send(out, wrap(s.rank() + distance, s.size()));
  return s.run();
}

Layout bytes_of(std::vector<Parcel>& parcels, std::size_t first) {
  return bytes_at(parcels.data() + first, static_cast<Count>((parcels.size() - first) * sizeof(Parcel)));
}

}  // namespace

base::Status deliver(core::Comm& comm, std::vector<Parcel>& parcels) {
  const int size = comm.size();
  std::vector<Parcel> leaving;
  for (int distance = 1; distance < size; distance *= 2) {
    const auto first_leaving = std::partition(parcels.begin(), parcels.end(), [&](const Parcel& parcel) {
      return (wrap(parcel.to - comm.rank, size) & distance) == 0;
    });
    leaving.assign(first_leaving, parcels.end());
    parcels.erase(first_leaving, parcels.end());

    const std::size_t staying = parcels.size();
    std::size_t leave = leaving.size(), arrive = 0;
    CLUMP_TRY(pass_on(comm, distance, bytes_at(&leave, sizeof leave), bytes_at(&arrive, sizeof arrive)));
    parcels.resize(staying + arrive);
    CLUMP_TRY(pass_on(comm, distance, bytes_of(leaving, 0), bytes_of(parcels, staying)));
  }
  return {};
}

}  // namespace clump::coll
