// A type's map, read from its envelope and contents alone: the naive reference of the random tests. Every
// basic element is written down with its place, by the definitions of MPI-5.0 sections 5.1.2 to 5.1.13.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "naive_map.h"

namespace random_types {

/// A predefined type: its extent, its alignment, and the bytes of it that are data.
struct Basic {
  struct Part {
    MPI_Count offset, bytes;
  };
  MPI_Datatype handle;
  MPI_Count extent, alignment;
  std::vector<Part> parts;
};

template <typename T>
Basic number(MPI_Datatype handle) {
  return {handle, sizeof(T), alignof(T), {{0, sizeof(T)}}};
}

template <typename Value>
Basic pair(MPI_Datatype handle) {
  struct Pair {
    Value value;
    int index;
  };
  return {handle, sizeof(Pair), alignof(Pair), {{0, sizeof(Value)}, {offsetof(Pair, index), sizeof(int)}}};
}

inline const std::vector<Basic>& basics() {
  static const std::vector<Basic> list = {number<char>(MPI_CHAR),     number<short>(MPI_SHORT),
                                          number<int>(MPI_INT),       number<double>(MPI_DOUBLE),
                                          number<float>(MPI_FLOAT),   number<long long>(MPI_LONG_LONG),
                                          pair<short>(MPI_SHORT_INT), pair<double>(MPI_DOUBLE_INT)};
  return list;
}

struct Entry {
  const Basic* basic;
  MPI_Count place;
};
inline Entry operator+(const Entry& entry, MPI_Count displacement) {
  return {entry.basic, entry.place + displacement};
}

using TypeMap = naive::Map<Entry>;

inline int combiner_of(MPI_Datatype type) {
  MPI_Count ni, na, nl, nd;
  int combiner;
  MPI_Type_get_envelope_c(type, &ni, &na, &nl, &nd, &combiner);
  return combiner;
}

/// What a type was made of: the numbers in the order of the call, and the types.
struct Contents {
  explicit Contents(MPI_Datatype type) {
    MPI_Count ni, na, nl, nd;
    MPI_Type_get_envelope_c(type, &ni, &na, &nl, &nd, &combiner);
    if (combiner == MPI_COMBINER_NAMED) return;
    std::vector<int> integers(static_cast<std::size_t>(ni));
    std::vector<MPI_Aint> addresses(static_cast<std::size_t>(na));
    std::vector<MPI_Count> large(static_cast<std::size_t>(nl));
    types.resize(static_cast<std::size_t>(nd));
    MPI_Type_get_contents_c(type, ni, na, nl, nd, integers.data(), addresses.data(), large.data(),
                            types.data());
    // The procedures for arrays with large counts have int arguments on both sides of the large ones.
    const std::size_t in_front = combiner == MPI_COMBINER_DARRAY     ? 3
                                 : combiner == MPI_COMBINER_SUBARRAY ? 1
                                                                     : ni;
    numbers.assign(integers.begin(), integers.begin() + static_cast<long>(in_front));
    numbers.insert(numbers.end(), large.begin(), large.end());
    numbers.insert(numbers.end(), integers.begin() + static_cast<long>(in_front), integers.end());
    numbers.insert(numbers.end(), addresses.begin(), addresses.end());
  }
  Contents(const Contents&) = delete;
  ~Contents() {
    for (MPI_Datatype& type : types)
      if (combiner_of(type) != MPI_COMBINER_NAMED) MPI_Type_free(&type);
  }

  int combiner = MPI_COMBINER_NAMED;
  std::vector<MPI_Count> numbers;
  std::vector<MPI_Datatype> types;
};

inline void add_subarray(TypeMap& map, const TypeMap& old, const std::vector<MPI_Count>& numbers) {
  const auto n = static_cast<std::size_t>(numbers[0]);
  const MPI_Count* subsizes = &numbers[1 + n];
  const MPI_Count* starts = subsizes + n;
  map.add_array(old, {numbers.begin() + 1, numbers.begin() + 1 + numbers[0]},
                static_cast<int>(numbers.back()), [&](const std::vector<MPI_Count>& index) {
                  for (std::size_t d = 0; d < n; ++d)
                    if (index[d] < starts[d] || index[d] >= starts[d] + subsizes[d]) return false;
                  return true;
                });
}

inline void add_darray(TypeMap& map, const TypeMap& old, const std::vector<MPI_Count>& numbers) {
  const auto n = static_cast<std::size_t>(numbers[2]);
  const MPI_Count* sizes = &numbers[3];
  const MPI_Count* kinds = sizes + n;
  const MPI_Count* arguments = kinds + n;
  const MPI_Count* processes = arguments + n;
  // The last dimension of the grid of processes varies fastest, whatever the order of the array is.
  std::vector<MPI_Count> place(n);
  MPI_Count rest = numbers[1];
  for (std::size_t d = n; d-- > 0; rest /= processes[d]) place[d] = rest % processes[d];
  map.add_array(
      old, {sizes, sizes + n}, static_cast<int>(numbers.back()), [&](const std::vector<MPI_Count>& index) {
        for (std::size_t d = 0; d < n; ++d) {
          MPI_Count block = arguments[d];
          if (kinds[d] == MPI_DISTRIBUTE_NONE) {
            block = sizes[d];
          } else if (block == MPI_DISTRIBUTE_DFLT_DARG) {
            block = kinds[d] == MPI_DISTRIBUTE_BLOCK ? (sizes[d] + processes[d] - 1) / processes[d] : 1;
          }
          if (index[d] / block % processes[d] != place[d]) return false;
        }
        return true;
      });
}

/// Blocks at displacements that are numbers times `unit`; one length for all where there is only one.
inline void add_blocks(TypeMap& map, const TypeMap& old, const std::vector<MPI_Count>& numbers,
                       bool one_length, MPI_Count unit) {
  const MPI_Count count = numbers[0];
  const MPI_Count* lengths = &numbers[1];
  const MPI_Count* places = lengths + (one_length ? 1 : count);
  for (MPI_Count i = 0; i < count; ++i) map.add_row(old, lengths[one_length ? 0 : i], places[i] * unit);
}

inline TypeMap map_of_named(MPI_Datatype type) {
  TypeMap map;
  for (const Basic& basic : basics()) {
    if (basic.handle != type) continue;
    map.items.push_back({&basic, 0});
    map.ub = basic.extent;
    map.alignment = basic.alignment;
    map.empty = false;
  }
  return map;
}

inline TypeMap map_of(MPI_Datatype type) {
  const Contents contents(type);
  if (contents.combiner == MPI_COMBINER_NAMED) return map_of_named(type);
  TypeMap map;
  const std::vector<MPI_Count>& n = contents.numbers;
  std::vector<TypeMap> old;
  for (const MPI_Datatype component : contents.types) old.push_back(map_of(component));
  switch (contents.combiner) {
    case MPI_COMBINER_DUP:
      map.add(old[0], 0);
      break;
    case MPI_COMBINER_CONTIGUOUS:
      map.add_row(old[0], n[0], 0);
      break;
    case MPI_COMBINER_VECTOR:
      for (MPI_Count i = 0; i < n[0]; ++i) map.add_row(old[0], n[1], i * n[2] * old[0].extent());
      break;
    case MPI_COMBINER_HVECTOR:
      for (MPI_Count i = 0; i < n[0]; ++i) map.add_row(old[0], n[1], i * n[2]);
      break;
    case MPI_COMBINER_INDEXED:
      add_blocks(map, old[0], n, false, old[0].extent());
      break;
    case MPI_COMBINER_HINDEXED:
      add_blocks(map, old[0], n, false, 1);
      break;
    case MPI_COMBINER_INDEXED_BLOCK:
      add_blocks(map, old[0], n, true, old[0].extent());
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      add_blocks(map, old[0], n, true, 1);
      break;
    case MPI_COMBINER_STRUCT:
      for (std::size_t i = 0; i < old.size(); ++i) map.add_row(old[i], n[1 + i], n[1 + old.size() + i]);
      break;
    case MPI_COMBINER_RESIZED:
      map.add(old[0], 0);
      map.set_bounds(n[0], n[1]);
      break;
    case MPI_COMBINER_SUBARRAY:
      add_subarray(map, old[0], n);
      break;
    case MPI_COMBINER_DARRAY:
      add_darray(map, old[0], n);
      break;
    default:
      MPI_Abort(MPI_COMM_WORLD, 1);
  }
  map.pad();
  return map;
}

}  // namespace random_types
