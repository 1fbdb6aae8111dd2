// Cartesian topologies, and what all kinds have in common (MPI-5.0 sections 8.3 to 8.5); graphs are in
// graphs.cc.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/entry/entry_checks.h"
#include "mpi/new_comm.h"
#include "mpi/placements.h"
#include "mpi/topologies.h"
#include "topo/placement.h"
#include "topo/topologies.h"

namespace clump::mpi {

namespace {

using core::Comm;
using topo::Cartesian;
using topo::Grid;

base::Status find_grid(const Comm& comm, const Grid*& grid) {
  const Cartesian* found = nullptr;
  CLUMP_TRY(find_topology(comm, "Cartesian", "MPI_Cart_create", found));
  grid = &found->grid();
  return {};
}

/// The arguments of MPI_Cart_create as a grid; it must fit into `available` ranks.
base::Status read_grid(std::span<const int> sizes, const int periods[], int available,
                       std::vector<Grid::Dimension>& grid) {
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

/// The ranks of the job that have the places around one, where `group` has all places.
std::vector<Reach> around(const Grid& grid, int place, const core::Group& group) {
  const Cartesian there(grid, place);
  std::vector<Reach> reached;
  for (const core::Neighbour& one : there.destinations().in_order)
    reached.push_back({group.world_rank(one.rank)});
  return reached;
}

base::Status tell_placement(const Comm& comm_old, Comm& made, const Grid& grid) {
  std::string sizes;
  for (const Grid::Dimension& dimension : grid.dimensions())
    sizes += fmt::format("{}{}", sizes.empty() ? "" : " x ", dimension.size);
  return tell(made, comm_old,
              {.what = "grid " + sizes,
               .links = "links",
               .ends = 2,
               .without = around(grid, comm_old.rank, *comm_old.group),
               .reached = around(grid, made.rank, *made.group)});
}

}  // namespace

base::Status check_room(const char* name, int room, std::size_t needed, const char* things) {
  if (room >= 0 && static_cast<std::size_t>(room) >= needed) return {};
  return base::fail(MPI_ERR_ARG, "{} is {}, but there are {} {}", name, room, needed, things);
}

base::Status make_places(Comm& comm_old, coll::Caller caller, base::Ref<const core::Group> group,
                         base::Ref<Comm>& made) {
  Contexts contexts;
  CLUMP_TRY(agree_contexts(coll::Members(comm_old, caller), false, contexts));
  if (group->rank_of(comm_old.owner.number) != MPI_UNDEFINED)
    made = make_comm(comm_old, contexts, std::move(group));
  return {};
}

base::Status cart_create(core::Rank& self, Comm& comm_old, int ndims, const int dims[], const int periods[],
                         int reorder, MPI_Comm* comm_cart) {
  std::vector<Grid::Dimension> dimensions;
  CLUMP_TRY(read_grid({dims, static_cast<std::size_t>(ndims)}, periods, comm_old.size(), dimensions));
  Grid grid(std::move(dimensions));
  base::Ref<Comm> made;
  CLUMP_TRY(
      make_places(comm_old, coll::Caller::kCartCreate, topo::place(comm_old, grid, reorder != 0), made));
  *comm_cart = MPI_COMM_NULL;
  if (!made) return {};
  if (reorder != 0 && is_told(comm_old)) CLUMP_TRY(tell_placement(comm_old, *made, grid));
  made->topology = base::make_ref<const Cartesian>(std::move(grid), made->rank);
  *comm_cart = self.add(std::move(made));
  return {};
}

base::Status cart_map(core::Rank&, Comm& comm, int ndims, const int dims[], const int periods[],
                      int* newrank) {
  std::vector<Grid::Dimension> dimensions;
  CLUMP_TRY(read_grid({dims, static_cast<std::size_t>(ndims)}, periods, comm.size(), dimensions));
  *newrank = topo::place(comm, Grid(std::move(dimensions)), true)->rank_of(comm.owner.number);
  return {};
}

base::Status cartdim_get(core::Rank&, Comm& comm, int* ndims) {
  const Grid* grid = nullptr;
  CLUMP_TRY(find_grid(comm, grid));
  *ndims = static_cast<int>(grid->dimensions().size());
  return {};
}

base::Status cart_get(core::Rank&, Comm& comm, int maxdims, int dims[], int periods[], int coords[]) {
  const Grid* grid = nullptr;
  CLUMP_TRY(find_grid(comm, grid));
  CLUMP_TRY(check_room("maxdims", maxdims, grid->dimensions().size(), "dimensions"));
  const std::vector<int> own = grid->coordinates_of(comm.rank);
  for (std::size_t i = 0; i < own.size(); ++i) {
    dims[i] = grid->dimensions()[i].size;
    periods[i] = grid->dimensions()[i].periodic ? 1 : 0;
    coords[i] = own[i];
  }
  return {};
}

base::Status cart_rank(core::Rank&, Comm& comm, const int coords[], int* rank) {
  const Grid* grid = nullptr;
  CLUMP_TRY(find_grid(comm, grid));
  const auto& dimensions = grid->dimensions();
  CLUMP_TRY(check::array({"coords", coords}, static_cast<Count>(dimensions.size())));
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    if (!dimensions[i].periodic && (coords[i] < 0 || coords[i] >= dimensions[i].size))
      return base::fail(MPI_ERR_ARG,
                        "coords[{}] is {}, but the dimension is not periodic and has the size {}", i,
                        coords[i], dimensions[i].size);
  *rank = grid->rank_at({coords, dimensions.size()});
  return {};
}

base::Status cart_coords(core::Rank&, Comm& comm, int rank, int maxdims, int coords[]) {
  const Grid* grid = nullptr;
  CLUMP_TRY(find_grid(comm, grid));
  if (rank < 0 || rank >= comm.size())
    return base::fail(MPI_ERR_RANK, "rank is {}, but comm has {} ranks", rank, comm.size());
  CLUMP_TRY(check_room("maxdims", maxdims, grid->dimensions().size(), "dimensions"));
  const std::vector<int> found = grid->coordinates_of(rank);
  std::copy(found.begin(), found.end(), coords);
  return {};
}

base::Status cart_shift(core::Rank&, Comm& comm, int direction, int disp, int* rank_source, int* rank_dest) {
  const Grid* grid = nullptr;
  CLUMP_TRY(find_grid(comm, grid));
  if (direction < 0 || direction >= static_cast<int>(grid->dimensions().size()))
    return base::fail(MPI_ERR_DIMS, "direction is {}, but the grid has {} dimensions", direction,
                      grid->dimensions().size());
  *rank_source = grid->neighbour(comm.rank, direction, -std::int64_t{disp});
  *rank_dest = grid->neighbour(comm.rank, direction, disp);
  return {};
}

base::Status cart_sub(core::Rank& self, Comm& comm, const int remain_dims[], MPI_Comm* newcomm) {
  const Grid* grid = nullptr;
  CLUMP_TRY(find_grid(comm, grid));
  CLUMP_TRY(check::array({"remain_dims", remain_dims}, static_cast<Count>(grid->dimensions().size())));
  // The coordinates that go away tell the subgrids apart; those that stay order the ranks of one.
  const std::vector<int> own = grid->coordinates_of(comm.rank);
  std::vector<Grid::Dimension> kept, dropped;
  std::vector<int> place, subgrid;
  for (std::size_t i = 0; i < own.size(); ++i) {
    (remain_dims[i] != 0 ? kept : dropped).push_back(grid->dimensions()[i]);
    (remain_dims[i] != 0 ? place : subgrid).push_back(own[i]);
  }
  Grid part(std::move(kept));
  CLUMP_TRY(comm_split(self, comm, Grid(std::move(dropped)).rank_at(subgrid), part.rank_at(place), newcomm));
  Comm& made = *self.comm(*newcomm);
  made.topology = base::make_ref<const Cartesian>(std::move(part), made.rank);
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
  *status = comm.topology ? comm.topology->kind() : MPI_UNDEFINED;
  return {};
}

}  // namespace clump::mpi
