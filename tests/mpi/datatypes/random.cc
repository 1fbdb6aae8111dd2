// Random datatypes in messages: what arrives is compared, byte by byte, with what the type maps say
// (type_map.h). All ranks make the same cases from the same seed, so each knows what the others send.
//
//   random [SEED [CASES]]     a failure prints the seed of its case; `random THAT_SEED 1` runs it alone
#include <cstring>
#include <string>

#include "check.h"
#include "random_types.h"

#include "../../seed_of_ranks.h"

namespace {

using random_types::Entry;
using random_types::Generator;
using random_types::Type;
using random_types::TypeMap;

using Bytes = std::vector<unsigned char>;

int rank, ranks;

/// Where the packed bytes of `count` elements lie, and memory that holds them.
class Buffer {
 public:
  Buffer(MPI_Datatype type, const TypeMap& map, int count) : type_(type), count_(count) {
    for (int i = 0; i < count; ++i) {
      for (const Entry& entry : map.items)
        for (const auto& part : entry.basic->parts)
          for (MPI_Count byte = 0; byte < part.bytes; ++byte)
            places_.push_back(i * map.extent() + entry.place + part.offset + byte);
    }
    memory_.assign(1, 0xee);  // nothing has an address, too
    if (places_.empty()) return;
    const auto [low, high] = std::minmax_element(places_.begin(), places_.end());
    origin_ = -*low;
    memory_.assign(static_cast<std::size_t>(*high - *low + 1), 0xee);
  }

  void* base() { return memory_.data() + origin_; }
  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }
  std::size_t bytes() const { return places_.size(); }

  void fill(unsigned long long seed) {
    std::mt19937_64 random(seed);
    for (unsigned char& byte : memory_) byte = static_cast<unsigned char>(random());
  }
  Bytes packed() const {
    Bytes all;
    all.reserve(places_.size());
    for (const MPI_Count place : places_) all.push_back(memory_[static_cast<std::size_t>(place + origin_)]);
    return all;
  }
  void clear() { std::fill(memory_.begin(), memory_.end(), 0xee); }
  /// The first bytes are these, and everything else is untouched.
  bool holds(const Bytes& expected) const {
    Bytes wanted(memory_.size(), 0xee);
    for (std::size_t i = 0; i < expected.size(); ++i)
      wanted[static_cast<std::size_t>(places_[i] + origin_)] = expected[i];
    return wanted == memory_;
  }
  bool overlaps() const {
    std::vector<MPI_Count> sorted = places_;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  }

 private:
  MPI_Datatype type_;
  int count_;
  std::vector<MPI_Count> places_;
  MPI_Count origin_ = 0;
  Bytes memory_;
};

/// What is sent and how it is received: two types, mostly different ones, of the same signature.
struct Case {
  unsigned long long seed;
  Generator& random;
  Buffer& out;
  Buffer& in;

  /// What rank r sends.
  Bytes sent_by(int r) const {
    out.fill(seed + static_cast<unsigned>(r));
    return out.packed();
  }
  void check(const Bytes& expected, const char* how) const {
    if (!in.holds(expected)) {
      CHECK_FAILED("%s: seed %llu, %zu bytes: wrong bytes", how, seed, expected.size());
    }
  }
};

int next() { return (rank + 1) % ranks; }
int previous() { return (rank + ranks - 1) % ranks; }

void pack_and_unpack(Case& the) {
  const Bytes expected = the.sent_by(rank);
  Bytes packed(expected.size() + 9, 0);
  int position = 9, size = -1;
  const int room = static_cast<int>(packed.size());
  CHECK_OK(MPI_Pack_size(the.out.count(), the.out.type(), MPI_COMM_WORLD, &size));
  CHECK(size >= static_cast<int>(expected.size()));
  CHECK_OK(MPI_Pack(the.out.base(), the.out.count(), the.out.type(), packed.data(), room, &position,
                    MPI_COMM_WORLD));
  CHECK_EQ(position, room);
  if (!std::equal(expected.begin(), expected.end(), packed.begin() + 9))
    CHECK_FAILED("pack: seed %llu, %zu bytes", the.seed, expected.size());
  position = 9;
  CHECK_OK(MPI_Unpack(packed.data(), room, &position, the.in.base(), the.in.count(), the.in.type(),
                      MPI_COMM_WORLD));
  the.check(expected, "unpack");
}

void external32_and_back(Case& the) {
  const Bytes expected = the.sent_by(rank);
  MPI_Aint size = 0, position = 0;
  CHECK_OK(MPI_Pack_external_size("external32", the.out.count(), the.out.type(), &size));
  CHECK_EQ(size, expected.size());
  Bytes packed(static_cast<std::size_t>(size) + 1);
  CHECK_OK(MPI_Pack_external("external32", the.out.base(), the.out.count(), the.out.type(), packed.data(),
                             size, &position));
  position = 0;
  CHECK_OK(MPI_Unpack_external("external32", packed.data(), size, &position, the.in.base(), the.in.count(),
                               the.in.type()));
  the.check(expected, "external32");
}

void to_myself(Case& the) {
  const Bytes expected = the.sent_by(rank);
  CHECK_OK(MPI_Sendrecv(the.out.base(), the.out.count(), the.out.type(), 0, 1, the.in.base(), the.in.count(),
                        the.in.type(), 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  the.check(expected, "sendrecv with myself");
}

void around_the_ring(Case& the) {
  const Bytes expected = the.sent_by(previous());
  the.sent_by(rank);
  MPI_Status status;
  CHECK_OK(MPI_Sendrecv(the.out.base(), the.out.count(), the.out.type(), next(), 2, the.in.base(),
                        the.in.count(), the.in.type(), previous(), 2, MPI_COMM_WORLD, &status));
  the.check(expected, "sendrecv");
  MPI_Count elements = -1, wanted = -1;
  CHECK_OK(MPI_Get_elements_c(&status, the.in.type(), &elements));
  CHECK_OK(MPI_Get_elements_c(&status, the.out.type(), &wanted));
  CHECK_EQ(elements, wanted);
}

void nonblocking(Case& the) {
  const Bytes expected = the.sent_by(previous());
  the.sent_by(rank);
  const bool synchronous = the.random.maybe(2);
  MPI_Request requests[2];
  CHECK_OK(
      MPI_Irecv(the.in.base(), the.in.count(), the.in.type(), previous(), 3, MPI_COMM_WORLD, &requests[0]));
  const auto send = synchronous ? MPI_Issend : MPI_Isend;
  CHECK_OK(send(the.out.base(), the.out.count(), the.out.type(), next(), 3, MPI_COMM_WORLD, &requests[1]));
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  the.check(expected, "isend");
}

void persistent(Case& the) {
  const Bytes expected = the.sent_by(previous());
  the.sent_by(rank);
  MPI_Request requests[2];
  CHECK_OK(MPI_Recv_init(the.in.base(), the.in.count(), the.in.type(), previous(), 4, MPI_COMM_WORLD,
                         &requests[0]));
  CHECK_OK(MPI_Send_init(the.out.base(), the.out.count(), the.out.type(), next(), 4, MPI_COMM_WORLD,
                         &requests[1]));
  for (int i = 0; i < 2; ++i) {
    the.in.clear();
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    the.check(expected, "persistent");
  }
  for (MPI_Request& request : requests) CHECK_OK(MPI_Request_free(&request));
}

void packed_on_the_way(Case& the) {
  const Bytes expected = the.sent_by(previous());
  the.sent_by(rank);
  const auto bytes = static_cast<int>(expected.size());
  Bytes packed(expected.size() + 1);
  int position = 0;
  CHECK_OK(MPI_Pack(the.out.base(), the.out.count(), the.out.type(), packed.data(), bytes, &position,
                    MPI_COMM_WORLD));
  CHECK_OK(MPI_Sendrecv(packed.data(), bytes, MPI_PACKED, next(), 5, the.in.base(), the.in.count(),
                        the.in.type(), previous(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  the.check(expected, "packed, received as a type");
}

void broadcast(Case& the) {
  const int root = the.random.number(0, ranks - 1);
  const Bytes expected = the.sent_by(root);
  Buffer& mine = rank == root ? the.out : the.in;
  CHECK_OK(MPI_Bcast(mine.base(), mine.count(), mine.type(), root, MPI_COMM_WORLD));
  if (rank != root) the.check(expected, "bcast");
}

// The root's type stands once for each rank behind the other.
void gather(Case& the, const TypeMap& in_map) {
  const int root = the.random.number(0, ranks - 1), count = the.in.count();
  Buffer all(the.in.type(), in_map, count * ranks);
  Bytes expected;
  for (int r = 0; r < ranks; ++r) {
    const Bytes part = the.sent_by(r);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  the.sent_by(rank);
  CHECK_OK(MPI_Gather(the.out.base(), the.out.count(), the.out.type(), all.base(), count, the.in.type(), root,
                      MPI_COMM_WORLD));
  if (rank == root && !all.holds(expected)) CHECK_FAILED("gather: seed %llu", the.seed);
  all.clear();
  CHECK_OK(MPI_Allgather(the.out.base(), the.out.count(), the.out.type(), all.base(), count, the.in.type(),
                         MPI_COMM_WORLD));
  if (!all.holds(expected)) CHECK_FAILED("allgather: seed %llu", the.seed);
}

void check_bounds(MPI_Datatype type, const TypeMap& map, unsigned long long seed) {
  MPI_Count lb, extent, size, bytes = 0;
  CHECK_OK(MPI_Type_get_extent_c(type, &lb, &extent));
  CHECK_OK(MPI_Type_size_c(type, &size));
  for (const Entry& entry : map.items)
    for (const auto& part : entry.basic->parts) bytes += part.bytes;
  if (lb != map.lb || extent != map.extent() || size != bytes) {
    CHECK_FAILED("seed %llu: lb %lld, extent %lld, size %lld; expected %lld, %lld, %lld", seed,
                 static_cast<long long>(lb), static_cast<long long>(extent), static_cast<long long>(size),
                 static_cast<long long>(map.lb), static_cast<long long>(map.extent()),
                 static_cast<long long>(bytes));
  }
}

// Mostly little, for the short ways of messages; now and then what goes by rendezvous.
int elements(Generator& random, std::size_t bytes_of_one) {
  const int most = random.maybe(12) ? 60000 : random.maybe(4) ? 5000 : 200;
  if (bytes_of_one == 0) return random.number(0, 3);
  return random.number(random.maybe(10) ? 0 : 1, 1 + most / static_cast<int>(bytes_of_one));
}

void run(unsigned long long seed) {
  Generator random(seed);
  const Type type = random.make(random.number(1, 4));
  const TypeMap map = random_types::map_of(type.get());
  check_bounds(type.get(), map, seed);
  if (map.items.size() > 400) return;
  MPI_Datatype out_type = type.get();
  MPI_Type_commit(&out_type);
  const std::size_t bytes = Buffer(out_type, map, 1).bytes();
  const int count = elements(random, bytes);
  Buffer out(out_type, map, count);

  // To the same type, where that can be received, or to a relocated one; of both, several may be one element.
  const Type other = map.items.empty() ? Type() : random.relocate(map);
  const bool same = map.items.empty() || (random.maybe(3) && !out.overlaps());
  const MPI_Datatype old = same ? out_type : other.get();
  const int together = count > 0 && count % 3 == 0 && random.maybe(2) ? 3 : 1;
  MPI_Datatype in_type;
  MPI_Type_contiguous(together, old, &in_type);
  const Type owner(in_type);
  MPI_Type_commit(&in_type);
  const TypeMap in_map = random_types::map_of(in_type);
  check_bounds(in_type, in_map, seed);
  Buffer in(in_type, in_map, count / together);

  Case the{seed, random, out, in};
  switch (random.number(0, 9)) {
    case 0:
      return pack_and_unpack(the);
    case 1:
      return external32_and_back(the);
    case 2:
      return to_myself(the);
    case 3:
    case 4:
      return around_the_ring(the);
    case 5:
      return nonblocking(the);
    case 6:
      return persistent(the);
    case 7:
      return packed_on_the_way(the);
    case 8:
      return broadcast(the);
    default:
      if (!same && bytes * static_cast<std::size_t>(count) < 5000) return gather(the, in_map);
      return around_the_ring(the);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // Other cases for each number of ranks, and fewer for many, because each rank makes them all.
  const auto many = static_cast<unsigned>(ranks);
  const unsigned long long first = argc > 1 ? std::stoull(argv[1]) : seed_of_ranks(1000000 * many);
  const unsigned long long cases = argc > 2 ? std::stoull(argv[2]) : 1600 / many + 60;
  for (unsigned long long seed = first; seed < first + cases; ++seed) run(seed);
  MPI_Finalize();
  return check_result();
}
