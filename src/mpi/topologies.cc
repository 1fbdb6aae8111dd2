// Cartesian topologies (MPI-5.0 sections 8.3 to 8.6).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/new_comm.h"
#include "topo/cartesian.h"

namespace clump::mpi {

namespace {

using core::Comm;
using core::Group;
using topo::Cartesian;

base::Status find_grid(const Comm& comm, const Cartesian*& grid) {
  grid = dynamic_cast<const Cartesian*>(comm.topology.get());
  return grid == nullptr
             ? base::fail(MPI_ERR_TOPOLOGY, "comm has no Cartesian topology; MPI_Cart_create makes one")
             : base::Status();
}

/// The arguments of MPI_Cart_create as a grid; it must fit into `available` ranks.
base::Status read_grid(std::span<const int> sizes, const int periods[], int available,
                       std::vector<Cartesian::Dimension>& grid) {
  std::int64_t places = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1) return base::fail(MPI_ERR_DIMS, "dims[{}] is {}; it must be at least 1", i, sizes[i]);
    places *= sizes[i];
    if (places > available)
      return base::fail(MPI_ERR_DIMS,
                        "the grid has more places than comm has ranks ({}), already with dims[0] to dims[{}]",
                        available, i);
    grid.push_back({sizes[i], periods[i] != 0});
  }
  return {};
}

/// Ranks 0 to n - 1 of a communicator.
base::Ref<const Group> first_ranks(const Comm& comm, int n) {
  if (n == comm.size()) return comm.group;
  std::vector<int> world_ranks(n);
  for (int rank = 0; rank < n; ++rank) world_ranks[rank] = comm.group->world_rank(rank);
  return Group::of(std::move(world_ranks));
}

base::Status check_room(const char* name, int room, std::size_t needed) {
  if (room >= static_cast<int>(needed)) return {};
  return base::fail(MPI_ERR_ARG, "{} is {}, but the grid has {} dimensions", name, room, needed);
}

}  // namespace

base::Status cart_create(core::Rank& self, Comm& comm_old, int ndims, const int dims[], const int periods[],
                         int, MPI_Comm* comm_cart) {
  if (comm_old.is_inter()) return base::fail(MPI_ERR_COMM, "comm_old is an intercommunicator");
  std::vector<Cartesian::Dimension> dimensions;
  CLUMP_TRY(read_grid({dims, static_cast<std::size_t>(ndims)}, periods, comm_old.size(), dimensions));
  // Ranks are never reordered: on one node, no numbering brings neighbours closer together than another.
  Contexts contexts;
  CLUMP_TRY(agree_contexts(coll::Members(comm_old), false, contexts));
  auto grid = std::make_unique<Cartesian>(std::move(dimensions));
  *comm_cart = MPI_COMM_NULL;
  if (comm_old.rank >= grid->places()) return {};
  auto comm = make_comm(comm_old, contexts, first_ranks(comm_old, grid->places()));
  comm->topology = std::move(grid);
  *comm_cart = self.add(std::move(comm));
  return {};
}

base::Status cart_map(core::Rank&, Comm& comm, int ndims, const int dims[], const int periods[],
                      int* newrank) {
  std::vector<Cartesian::Dimension> dimensions;
  CLUMP_TRY(read_grid({dims, static_cast<std::size_t>(ndims)}, periods, comm.size(), dimensions));
  *newrank = comm.rank < Cartesian(std::move(dimensions)).places() ? comm.rank : MPI_UNDEFINED;
  return {};
}

base::Status cartdim_get(core::Rank&, Comm& comm, int* ndims) {
  const Cartesian* grid = nullptr;
  CLUMP_TRY(find_grid(comm, grid));
  *ndims = static_cast<int>(grid->dimensions().size());
  return {};
}

base::Status cart_get(core::Rank&, Comm& comm, int maxdims, int dims[], int periods[], int coords[]) {
  const Cartesian* grid = nullptr;
  CLUMP_TRY(find_grid(comm, grid));
  CLUMP_TRY(check_room("maxdims", maxdims, grid->dimensions().size()));
  const std::vector<int> own = grid->coordinates_of(comm.rank);
  for (std::size_t i = 0; i < own.size(); ++i) {
    dims[i] = grid->dimensions()[i].size;
    periods[i] = grid->dimensions()[i].periodic ? 1 : 0;
    coords[i] = own[i];
  }
  return {};
}

base::Status cart_rank(core::Rank&, Comm& comm, const int coords[], int* rank) {
  const Cartesian* grid = nullptr;
  CLUMP_TRY(find_grid(comm, grid));
  const auto& dimensions = grid->dimensions();
  if (coords == nullptr && !dimensions.empty()) return base::fail(MPI_ERR_ARG, "coords is a null pointer");
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    if (!dimensions[i].periodic && (coords[i] < 0 || coords[i] >= dimensions[i].size))
      return base::fail(MPI_ERR_ARG,
                        "coords[{}] is {}, but the dimension is not periodic and has the size {}", i,
                        coords[i], dimensions[i].size);
  *rank = grid->rank_at({coords, dimensions.size()});
  return {};
}

base::Status cart_coords(core::Rank&, Comm& comm, int rank, int maxdims, int coords[]) {
  const Cartesian* grid = nullptr;
  CLUMP_TRY(find_grid(comm, grid));
  if (rank < 0 || rank >= comm.size())
    return base::fail(MPI_ERR_RANK, "rank is {}, but comm has {} ranks", rank, comm.size());
  CLUMP_TRY(check_room("maxdims", maxdims, grid->dimensions().size()));
  const std::vector<int> found = grid->coordinates_of(rank);
  std::copy(found.begin(), found.end(), coords);
  return {};
}

base::Status cart_shift(core::Rank&, Comm& comm, int direction, int disp, int* rank_source, int* rank_dest) {
  const Cartesian* grid = nullptr;
  CLUMP_TRY(find_grid(comm, grid));
  if (direction < 0 || direction >= static_cast<int>(grid->dimensions().size()))
    return base::fail(MPI_ERR_DIMS, "direction is {}, but the grid has {} dimensions", direction,
                      grid->dimensions().size());
  *rank_source = grid->neighbour(comm.rank, direction, -std::int64_t{disp});
  *rank_dest = grid->neighbour(comm.rank, direction, disp);
  return {};
}

base::Status cart_sub(core::Rank& self, Comm& comm, const int remain_dims[], MPI_Comm* newcomm) {
  const Cartesian* grid = nullptr;
  CLUMP_TRY(find_grid(comm, grid));
  // The coordinates that go away tell the subgrids apart; those that stay order the ranks of one.
  const std::vector<int> own = grid->coordinates_of(comm.rank);
  std::vector<Cartesian::Dimension> kept, dropped;
  std::vector<int> place, subgrid;
  for (std::size_t i = 0; i < own.size(); ++i) {
    (remain_dims[i] != 0 ? kept : dropped).push_back(grid->dimensions()[i]);
    (remain_dims[i] != 0 ? place : subgrid).push_back(own[i]);
  }
  auto part = std::make_unique<Cartesian>(std::move(kept));
  CLUMP_TRY(
      comm_split(self, comm, Cartesian(std::move(dropped)).rank_at(subgrid), part->rank_at(place), newcomm));
  self.comm(*newcomm)->topology = std::move(part);
  return {};
}

base::Status dims_create(core::Rank&, int nnodes, int ndims, int dims[]) {
  if (nnodes < 1) return base::fail(MPI_ERR_ARG, "nnodes is {}; it must be at least 1", nnodes);
  std::int64_t fixed = 1;
  std::vector<int*> open;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] < 0)
      return base::fail(MPI_ERR_DIMS, "dims[{}] is {}; it must be a size, or 0 for one to be chosen", i,
                        dims[i]);
    if (dims[i] == 0)
      open.push_back(&dims[i]);
    else if ((fixed *= dims[i]) > nnodes)
      break;  // fails below, and must not overflow before
  }
  if (nnodes % fixed != 0)
    return base::fail(MPI_ERR_DIMS, "nnodes is {}, which the given dims do not divide without rest", nnodes);
  std::vector<int> sizes(open.size());
  topo::balance(static_cast<int>(nnodes / fixed), sizes);
  for (std::size_t i = 0; i < open.size(); ++i) *open[i] = sizes[i];
  return {};
}

base::Status topo_test(core::Rank&, Comm& comm, int* status) {
  *status = dynamic_cast<const Cartesian*>(comm.topology.get()) != nullptr ? MPI_CART : MPI_UNDEFINED;
  return {};
}

}  // namespace clump::mpi
