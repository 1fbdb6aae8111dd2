// Packing and copying common types, each beside the loop that one would write by hand. Bytes per second are
// data bytes, read once.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "datatype/derive.h"

namespace clump::datatype {
namespace {

constexpr Count kElements = 1 << 16;

const Datatype& kDouble() { return *predefined(MPI_DOUBLE); }

void report(benchmark::State& state, Count bytes) { state.SetBytesProcessed(state.iterations() * bytes); }

void pack_repeatedly(benchmark::State& state, const Layout& from) {
  std::vector<std::byte> out(static_cast<std::size_t>(from.bytes()));
  for (auto _ : state) {
    pack(out, from, 0);
    benchmark::ClobberMemory();
  }
  report(state, from.bytes());
}

void copy_repeatedly(benchmark::State& state, const Layout& to, const Layout& from) {
  for (auto _ : state) {
    copy(to, from, 0, from.bytes());
    benchmark::ClobberMemory();
  }
  report(state, from.bytes());
}

void vector_pack(benchmark::State& state) {
  std::vector<double> from(2 * kElements, 1);
  Made type;
  (void)make_vector({kElements, 1, 2}, kDouble(), type);
  pack_repeatedly(state, {from.data(), 1, type.type.get()});
}
BENCHMARK(vector_pack);

void vector_by_hand(benchmark::State& state) {
  std::vector<double> from(2 * kElements, 1), to(kElements);
  for (auto _ : state) {
    for (Count i = 0; i < kElements; ++i) to[i] = from[2 * i];
    benchmark::ClobberMemory();
  }
  report(state, kElements * 8);
}
BENCHMARK(vector_by_hand);

constexpr Count kSide = 64;

// The faces of a cube that are 1 element thick in one dimension.
void face_pack(benchmark::State& state) {
  std::vector<double> from(kSide * kSide * kSide, 1);
  const Count sizes[] = {kSide, kSide, kSide}, starts[] = {1, 1, 1};
  Count subsizes[] = {kSide - 2, kSide - 2, kSide - 2};
  subsizes[state.range(0)] = 1;
  Made type;
  (void)make_subarray({sizes, subsizes, starts, MPI_ORDER_C}, kDouble(), type);
  pack_repeatedly(state, {from.data(), 1, type.type.get()});
}
BENCHMARK(face_pack)->DenseRange(0, 2);

void face_by_hand(benchmark::State& state) {
  std::vector<double> from(kSide * kSide * kSide, 1), to(kSide * kSide);
  for (auto _ : state) {
    double* out = to.data();
    for (Count x = 1; x < kSide - 1; ++x) {
      for (Count y = 1; y < kSide - 1; ++y) *out++ = from[(x * kSide + y) * kSide + 1];
    }
    benchmark::ClobberMemory();
  }
  report(state, (kSide - 2) * (kSide - 2) * 8);
}
BENCHMARK(face_by_hand);

std::vector<Count> random_places(Count count) {
  std::vector<Count> places(static_cast<std::size_t>(2 * count));
  for (Count i = 0; i < 2 * count; ++i) places[i] = i;
  std::shuffle(places.begin(), places.end(), std::mt19937_64(1));
  places.resize(static_cast<std::size_t>(count));
  std::sort(places.begin(), places.end());
  return places;
}

void indexed_pack(benchmark::State& state) {
  std::vector<double> from(2 * kElements, 1);
  Made type;
  (void)make_indexed_block(1, random_places(kElements), kDouble(), type);
  pack_repeatedly(state, {from.data(), 1, type.type.get()});
}
BENCHMARK(indexed_pack);

void indexed_by_hand(benchmark::State& state) {
  std::vector<double> from(2 * kElements, 1), to(kElements);
  const std::vector<Count> places = random_places(kElements);
  for (auto _ : state) {
    for (Count i = 0; i < kElements; ++i) to[i] = from[places[i]];
    benchmark::ClobberMemory();
  }
  report(state, kElements * 8);
}
BENCHMARK(indexed_by_hand);

struct Particle {
  int id;
  double position[3];
  char charge;
};

Made particle_type() {
  const Count lengths[] = {1, 3, 1},
              places[] = {offsetof(Particle, id), offsetof(Particle, position), offsetof(Particle, charge)};
  const Datatype* types[] = {predefined(MPI_INT), &kDouble(), predefined(MPI_CHAR)};
  Made made;
  (void)make_struct(lengths, places, types, made);
  return made;
}

void struct_pack(benchmark::State& state) {
  std::vector<Particle> from(kElements);
  pack_repeatedly(state, {from.data(), kElements, particle_type().type.get()});
}
BENCHMARK(struct_pack);

void struct_pack_by_hand(benchmark::State& state) {
  std::vector<Particle> from(kElements);
  std::vector<std::byte> to(kElements * 29);
  for (auto _ : state) {
    std::byte* out = to.data();
    for (const Particle& particle : from) {
      std::memcpy(out, &particle.id, 4);
      std::memcpy(out + 4, particle.position, 24);
      std::memcpy(out + 28, &particle.charge, 1);
      out += 29;
    }
    benchmark::ClobberMemory();
  }
  report(state, kElements * 29);
}
BENCHMARK(struct_pack_by_hand);

void struct_copy(benchmark::State& state) {
  std::vector<Particle> from(kElements), to(kElements);
  const Made type = particle_type();
  copy_repeatedly(state, {to.data(), kElements, type.type.get()}, {from.data(), kElements, type.type.get()});
}
BENCHMARK(struct_copy);

void struct_copy_by_hand(benchmark::State& state) {
  std::vector<Particle> from(kElements), to(kElements);
  for (auto _ : state) {
    for (Count i = 0; i < kElements; ++i) {
      to[i].id = from[i].id;
      std::copy_n(from[i].position, 3, to[i].position);
      to[i].charge = from[i].charge;
    }
    benchmark::ClobberMemory();
  }
  report(state, kElements * 29);
}
BENCHMARK(struct_copy_by_hand);

// Matrix transposition: rows to columns, no packed form in between.
void transpose(benchmark::State& state) {
  constexpr Count kRows = 256;
  std::vector<double> from(kRows * kRows, 1), to(kRows * kRows);
  Made column, columns;
  (void)make_vector({kRows, 1, kRows}, kDouble(), column);
  (void)make_resized(*column.type, 0, 8, columns);
  copy_repeatedly(state, {to.data(), kRows, columns.type.get()}, {from.data(), kRows * kRows, &kDouble()});
}
BENCHMARK(transpose);

void transpose_by_hand(benchmark::State& state) {
  constexpr Count kRows = 256;
  std::vector<double> from(kRows * kRows, 1), to(kRows * kRows);
  for (auto _ : state) {
    for (Count i = 0; i < kRows; ++i) {
      for (Count k = 0; k < kRows; ++k) to[k * kRows + i] = from[i * kRows + k];
    }
    benchmark::ClobberMemory();
  }
  report(state, kRows * kRows * 8);
}
BENCHMARK(transpose_by_hand);

// The cost of a call for a message that is hardly there.
void one_int(benchmark::State& state) {
  int from = 1, to = 0;
  copy_repeatedly(state, {&to, 1, predefined(MPI_INT)}, {&from, 1, predefined(MPI_INT)});
}
BENCHMARK(one_int);

void one_particle(benchmark::State& state) {
  Particle from{}, to{};
  const Made type = particle_type();
  copy_repeatedly(state, {&to, 1, type.type.get()}, {&from, 1, type.type.get()});
}
BENCHMARK(one_particle);

}  // namespace
}  // namespace clump::datatype

BENCHMARK_MAIN();
