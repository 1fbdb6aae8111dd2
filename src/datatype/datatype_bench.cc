// Packing, unpacking and copying common layouts, each beside the loop that one would write by hand, and
// reductions. Bytes per second are data bytes, read once.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "datatype/derive.h"
#include "datatype/reduce.h"

namespace clump::datatype {
namespace {

enum class Direction { kPack, kUnpack };

// One element between memory and its packed form.
template <Direction kDirection, typename T>
void exchange(T& memory, T& packed) {
  if constexpr (kDirection == Direction::kPack) {
    packed = memory;
  } else {
    memory = packed;
  }
}

const Datatype& number() { return *predefined(MPI_DOUBLE); }

// Every layout: a type for the engine, how much memory `count` elements need, and the loop by hand over it,
// which returns the packed bytes.

struct EveryOther {
  using Element = double;
  explicit EveryOther(Count n) : count(n) { (void)make_vector({n, 1, 2}, number(), type); }
  std::size_t room() const { return static_cast<std::size_t>(2 * count); }
  Count elements() const { return 1; }

  template <Direction kDirection>
  void by_hand(double* memory, std::byte* packed_bytes) const {
    auto* packed = reinterpret_cast<double*>(packed_bytes);
    for (Count i = 0; i < count; ++i) exchange<kDirection>(memory[2 * i], packed[i]);
  }

  Count count;
  Made type;
};

// A face of a cube: one element thick in dimension kDimension.
template <int kDimension>
struct Face {
  using Element = double;
  explicit Face(Count n) : side(n) {
    const Count sizes[] = {n, n, n}, starts[] = {1, 1, 1};
    for (int d = 0; d < 3; ++d) subsizes[d] = d == kDimension ? 1 : n - 2;
    (void)make_subarray({sizes, subsizes, starts, MPI_ORDER_C}, number(), type);
  }
  std::size_t room() const { return static_cast<std::size_t>(side * side * side); }
  Count elements() const { return 1; }

  template <Direction kDirection>
  void by_hand(double* memory, std::byte* packed_bytes) const {
    auto* packed = reinterpret_cast<double*>(packed_bytes);
    for (Count x = 1; x <= subsizes[0]; ++x)
      for (Count y = 1; y <= subsizes[1]; ++y)
        for (Count z = 1; z <= subsizes[2]; ++z)
          exchange<kDirection>(memory[(x * side + y) * side + z], *packed++);
  }

  Count side;
  Count subsizes[3];
  Made type;
};

// Blocks of 1 to 8 doubles, with gaps of 1 to 8.
struct Scattered {
  using Element = double;
  explicit Scattered(Count n) {
    std::mt19937_64 random(1);
    std::uniform_int_distribution<Count> length(1, 8);
    for (Count i = 0, place = 0; i < n; ++i) {
      lengths.push_back(length(random));
      places.push_back(place);
      place += lengths.back() + length(random);
    }
    (void)make_indexed(lengths, places, number(), type);
  }
  std::size_t room() const { return static_cast<std::size_t>(places.back() + lengths.back()); }
  Count elements() const { return 1; }

  template <Direction kDirection>
  void by_hand(double* memory, std::byte* packed_bytes) const {
    auto* packed = reinterpret_cast<double*>(packed_bytes);
    for (std::size_t i = 0; i < lengths.size(); ++i)
      for (Count k = 0; k < lengths[i]; ++k) exchange<kDirection>(memory[places[i] + k], *packed++);
  }

  std::vector<Count> lengths, places;
  Made type;
};

// Single doubles at random places.
struct Points {
  using Element = double;
  explicit Points(Count n) : places(static_cast<std::size_t>(2 * n)) {
    std::iota(places.begin(), places.end(), 0);
    std::shuffle(places.begin(), places.end(), std::mt19937_64(1));
    places.resize(static_cast<std::size_t>(n));
    std::sort(places.begin(), places.end());
    (void)make_indexed_block(1, places, number(), type);
  }
  std::size_t room() const { return 2 * places.size(); }
  Count elements() const { return 1; }

  template <Direction kDirection>
  void by_hand(double* memory, std::byte* packed_bytes) const {
    auto* packed = reinterpret_cast<double*>(packed_bytes);
    for (std::size_t i = 0; i < places.size(); ++i) exchange<kDirection>(memory[places[i]], packed[i]);
  }

  std::vector<Count> places;
  Made type;
};

struct Particle {
  int id;
  double position[3];
  char charge;
};

Made particle_type() {
  const Count lengths[] = {1, 3, 1},
              places[] = {offsetof(Particle, id), offsetof(Particle, position), offsetof(Particle, charge)};
  const Datatype* types[] = {predefined(MPI_INT), &number(), predefined(MPI_CHAR)};
  Made made;
  (void)make_struct(lengths, places, types, made);
  return made;
}

template <Direction kDirection>
std::byte* by_hand(Particle& particle, std::byte* packed) {
  if constexpr (kDirection == Direction::kPack) {
    std::memcpy(packed, &particle.id, 4);
    std::memcpy(packed + 4, particle.position, 24);
    std::memcpy(packed + 28, &particle.charge, 1);
  } else {
    std::memcpy(&particle.id, packed, 4);
    std::memcpy(particle.position, packed + 4, 24);
    std::memcpy(&particle.charge, packed + 28, 1);
  }
  return packed + 29;
}

struct Particles {
  using Element = Particle;
  explicit Particles(Count n) : count(n), type(particle_type()) {}
  std::size_t room() const { return static_cast<std::size_t>(count); }
  Count elements() const { return count; }

  template <Direction kDirection>
  void by_hand(Particle* memory, std::byte* packed) const {
    for (Count i = 0; i < count; ++i) packed = datatype::by_hand<kDirection>(memory[i], packed);
  }

  Count count;
  Made type;
};

// kTogether particles of every 2 * kTogether.
template <Count kTogether>
struct ParticleBlocks {
  using Element = Particle;
  explicit ParticleBlocks(Count n) : blocks(n) {
    (void)make_vector({n, kTogether, 2 * kTogether}, *particle_type().type, type);
  }
  std::size_t room() const { return static_cast<std::size_t>(2 * kTogether * blocks); }
  Count elements() const { return 1; }

  template <Direction kDirection>
  void by_hand(Particle* memory, std::byte* packed) const {
    for (Count i = 0; i < blocks; ++i)
      for (Count k = 0; k < kTogether; ++k)
        packed = datatype::by_hand<kDirection>(memory[2 * kTogether * i + k], packed);
  }

  Count blocks;
  Made type;
};

template <typename Sample>
struct Buffers {
  explicit Buffers(Count size)
      : sample(size),
        memory(sample.room()),
        layout{memory.data(), sample.elements(), sample.type.type.get()} {
    packed.resize(static_cast<std::size_t>(layout.bytes()));
  }
  Sample sample;
  std::vector<typename Sample::Element> memory;
  std::vector<std::byte> packed;
  Layout layout;
};

template <typename Work>
void measure(benchmark::State& state, Count bytes, const Work& work) {
  for (auto _ : state) {
    work();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

template <typename Sample, Direction kDirection>
void engine(benchmark::State& state) {
  Buffers<Sample> buffers(state.range(0));
  measure(state, buffers.layout.bytes(), [&] {
    if constexpr (kDirection == Direction::kPack) {
      pack(buffers.packed, buffers.layout, 0);
    } else {
      unpack(buffers.layout, 0, buffers.packed);
    }
  });
}

template <typename Sample, Direction kDirection>
void hand(benchmark::State& state) {
  Buffers<Sample> buffers(state.range(0));
  measure(state, buffers.layout.bytes(),
          [&] { buffers.sample.template by_hand<kDirection>(buffers.memory.data(), buffers.packed.data()); });
}

template <typename Sample>
void copy_alike(benchmark::State& state) {
  Buffers<Sample> from(state.range(0)), to(state.range(0));
  measure(state, from.layout.bytes(), [&] { copy(to.layout, from.layout, 0, from.layout.bytes()); });
}

// A short one, and one that no cache near the core holds.
template <typename Sample>
void add(const char* name, Count few, Count many) {
  const auto add_one = [&](const char* what, auto function) {
    benchmark::RegisterBenchmark((std::string(name) + what).c_str(), function)->Arg(few)->Arg(many);
  };
  add_one("/pack", engine<Sample, Direction::kPack>);
  add_one("/pack_by_hand", hand<Sample, Direction::kPack>);
  add_one("/unpack", engine<Sample, Direction::kUnpack>);
  add_one("/unpack_by_hand", hand<Sample, Direction::kUnpack>);
  add_one("/copy", copy_alike<Sample>);
}

// Matrix transposition: rows to columns, no packed form in between.
void transpose(benchmark::State& state) {
  constexpr Count kRows = 256;
  std::vector<double> from(kRows * kRows, 1), to(kRows * kRows);
  Made column, columns;
  (void)make_vector({kRows, 1, kRows}, number(), column);
  (void)make_resized(*column.type, 0, 8, columns);
  const Layout target{to.data(), kRows, columns.type.get()}, source{from.data(), kRows * kRows, &number()};
  measure(state, source.bytes(), [&] { copy(target, source, 0, source.bytes()); });
}
BENCHMARK(transpose);

void transpose_by_hand(benchmark::State& state) {
  constexpr Count kRows = 256;
  std::vector<double> from(kRows * kRows, 1), to(kRows * kRows);
  measure(state, kRows * kRows * 8, [&] {
    for (Count i = 0; i < kRows; ++i) {
      for (Count k = 0; k < kRows; ++k) to[k * kRows + i] = from[i * kRows + k];
    }
  });
}
BENCHMARK(transpose_by_hand);

// From blocks of 3 doubles to blocks of 2: no block of one side is one of the other.
void different_blocks(benchmark::State& state) {
  constexpr Count kBlocks = 1 << 12;
  std::vector<double> from(kBlocks * 8), to(kBlocks * 8);
  Made threes, twos;
  (void)make_vector({2 * kBlocks, 3, 4}, number(), threes);
  (void)make_vector({2 * kBlocks, 2, 4}, number(), twos);
  const Layout source{from.data(), 1, threes.type.get()}, target{to.data(), 1, twos.type.get()};
  measure(state, target.bytes(), [&] { copy(target, source, 0, target.bytes()); });
}
BENCHMARK(different_blocks);

// The cost of a call for a message that is hardly there.
void one_int(benchmark::State& state) {
  int from = 1, to = 0;
  const Layout target{&to, 1, predefined(MPI_INT)}, source{&from, 1, predefined(MPI_INT)};
  measure(state, source.bytes(), [&] { copy(target, source, 0, source.bytes()); });
}
BENCHMARK(one_int);

void one_particle(benchmark::State& state) {
  Particle from{}, to{};
  const Made type = particle_type();
  const Layout target{&to, 1, type.type.get()}, source{&from, 1, type.type.get()};
  measure(state, source.bytes(), [&] { copy(target, source, 0, source.bytes()); });
}
BENCHMARK(one_particle);

// Bytes of the result, for each version that this machine has.
void add_reduction(const char* name, PredefinedOp op, MPI_Datatype handle) {
  constexpr const char* kVersions[] = {"/plain", "/avx2", "/avx512"};
  const Datatype& type = *predefined(handle);
  for (int version = 0; version <= static_cast<int>(widest_vectors()); ++version) {
    const auto reduce = [function = kernel(op, type, static_cast<Vectors>(version)),
                         size = type.size()](benchmark::State& state) {
      const std::vector<std::byte> in(static_cast<std::size_t>(state.range(0)));
      std::vector<std::byte> inout(in.size());
      measure(state, state.range(0),
              [&] { function(in.data(), inout.data(), inout.data(), state.range(0) / size); });
    };
    benchmark::RegisterBenchmark((std::string(name) + kVersions[version]).c_str(), reduce)
        ->Arg(8 << 10)
        ->Arg(1 << 20);
  }
}

}  // namespace

void add_all() {
  add<EveryOther>("vector", 1 << 10, 1 << 18);
  add<Face<0>>("face_x", 16, 128);
  add<Face<1>>("face_y", 16, 128);
  add<Face<2>>("face_z", 16, 128);
  add<Scattered>("indexed", 256, 1 << 16);
  add<Points>("points", 1 << 10, 1 << 18);
  add<Particles>("struct", 256, 1 << 16);
  add<ParticleBlocks<4>>("vector_of_struct", 64, 1 << 14);
  add<ParticleBlocks<20>>("vector_of_structs", 16, 1 << 12);
  add_reduction("sum_double", PredefinedOp::kSum, MPI_DOUBLE);
  add_reduction("sum_float", PredefinedOp::kSum, MPI_FLOAT);
  add_reduction("sum_int32", PredefinedOp::kSum, MPI_INT32_T);
  add_reduction("sum_half", PredefinedOp::kSum, MPI_REAL2);
  add_reduction("max_int64", PredefinedOp::kMax, MPI_INT64_T);
}

}  // namespace clump::datatype

int main(int argc, char** argv) {
  clump::datatype::add_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
