// The blocking forms of the collectives that teams have.
#include "coll/coll.h"
#include "coll/select.h"
#include "coll/team.h"

namespace clump::coll {

namespace {

bool same_place(const Layout& a, const Layout& b) { return a.base == b.base && a.type == b.type; }

Algorithm choose(const Team& team, Collective collective, Count bytes) {
  return select(collective, {team.size(), bytes, Operations::kPredefined, true});
}

/// Teams combine operands where they lie, and keep their order as far as they themselves are in order.
/// Whatever depends on the type here is the same on all ranks: operands of a reduction are alike.
Algorithm choose(const Team& team, Collective collective, const Reduction& reduction, const Layout& in) {
  const Operations operations = operations_of(reduction);
  const bool suits = (operations == Operations::kPredefined || in.type->is_dense()) &&
                     (operations != Operations::kAny || team.ordered());
  return select(collective, {team.size(), in.bytes(), operations, suits});
}

/// Count of one of the blocks that a buffer has for each rank.
Count block_bytes(const Layout& all, int ranks) { return all.count / ranks * all.type->size(); }

}  // namespace

base::Status barrier(core::Comm& comm) {
  if (Team* const team = Team::of(comm)) return team->barrier(comm.rank);
  Schedule s(comm);
  barrier(s);
  return s.run();
}

base::Status broadcast(core::Comm& comm, const Layout& buffer, int root) {
  if (Team* const team = Team::of(comm)) {
    const Count bytes = buffer.bytes();
    return team->run(comm.rank, {.collective = Collective::kBroadcast,
                                 .algorithm = choose(*team, Collective::kBroadcast, bytes),
                                 .root = root,
                                 .bytes = bytes,
                                 .from = buffer,
                                 .to = buffer});
  }
  Schedule s(comm);
  broadcast(s, buffer, root);
  return s.run();
}

base::Status gather(core::Comm& comm, const Layout& mine, const Layout& all, int root) {
  if (Team* const team = Team::of(comm)) {
    const Count bytes = mine.bytes();
    return team->run(comm.rank, {.collective = Collective::kGather,
                                 .algorithm = choose(*team, Collective::kGather, bytes),
                                 .root = root,
                                 .bytes = bytes,
                                 .from = mine,
                                 .to = all,
                                 .odd = comm.rank == root && block_bytes(all, team->size()) != bytes});
  }
  Schedule s(comm);
  gather(s, mine, all, root);
  return s.run();
}

base::Status scatter(core::Comm& comm, const Layout& all, const Layout& mine, int root) {
  if (Team* const team = Team::of(comm)) {
    const Count bytes = mine.bytes();
    return team->run(comm.rank, {.collective = Collective::kScatter,
                                 .algorithm = choose(*team, Collective::kScatter, bytes),
                                 .root = root,
                                 .bytes = bytes,
                                 .from = all,
                                 .to = mine,
                                 .odd = comm.rank == root && block_bytes(all, team->size()) != bytes});
  }
  Schedule s(comm);
  scatter(s, all, mine, root);
  return s.run();
}

base::Status allgather(core::Comm& comm, const Layout& mine, const Layout& all) {
  if (Team* const team = Team::of(comm)) {
    const Count bytes = mine.bytes();
    return team->run(comm.rank, {.collective = Collective::kAllgather,
                                 .algorithm = choose(*team, Collective::kAllgather, bytes),
                                 .bytes = bytes,
                                 .from = mine,
                                 .to = all,
                                 .odd = block_bytes(all, team->size()) != bytes});
  }
  Schedule s(comm);
  allgather(s, mine, all);
  return s.run();
}

base::Status alltoall(core::Comm& comm, const Layout& out, const Layout& in) {
  const bool in_place = same_place(out, in) && in.bytes() > 0;
  if (Team* const team = Team::of(comm)) {
    const Count bytes = block_bytes(out, team->size());
    return team->run(comm.rank, {.collective = Collective::kAlltoall,
                                 .algorithm = choose(*team, Collective::kAlltoall, bytes),
                                 .bytes = bytes,
                                 .from = out,
                                 .to = in,
                                 .in_place = in_place,
                                 .odd = block_bytes(in, team->size()) != bytes});
  }
  Schedule s(comm);
  const auto blocks = [&](const Layout& all) {
    const int peers = comm.peers().size();
    return Blocks(all.base, peers == 0 ? 0 : all.count / peers, all.type);
  };
  if (in_place && !comm.is_inter())
    alltoall_in_place(s, blocks(in));
  else
    alltoall(s, blocks(out), blocks(in));
  return s.run();
}

base::Status reduce(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out,
                    int root) {
  if (Team* const team = Team::of(comm)) {
    const Algorithm algorithm = choose(*team, Collective::kReduce, reduction, in);
    const base::Status met = team->run(comm.rank, {.collective = Collective::kReduce,
                                                   .algorithm = algorithm,
                                                   .root = root,
                                                   .bytes = in.bytes(),
                                                   .from = in,
                                                   .to = out,
                                                   .reduction = &reduction});
    if (!met.ok() || is_for_teams(algorithm)) return met;
  }
  Schedule s(comm, reduction);
  reduce(s, in, out, root);
  return s.run();
}

base::Status allreduce(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out) {
  if (Team* const team = Team::of(comm)) {
    const Algorithm algorithm = choose(*team, Collective::kAllreduce, reduction, in);
    const base::Status met = team->run(comm.rank, {.collective = Collective::kAllreduce,
                                                   .algorithm = algorithm,
                                                   .bytes = in.bytes(),
                                                   .from = in,
                                                   .to = out,
                                                   .reduction = &reduction});
    if (!met.ok() || is_for_teams(algorithm)) return met;
  }
  Schedule s(comm, reduction);
  allreduce(s, in, out);
  return s.run();
}

base::Status exchange_with_neighbours(core::Comm& comm, const Blocks& out, const Blocks& in) {
  if (Team* const team = Team::of(comm)) return team->exchange_with_neighbours(comm, out, in);
  Schedule s(comm);
  exchange_with_neighbours(s, *comm.topology, out, in);
  return s.run();
}

}  // namespace clump::coll
