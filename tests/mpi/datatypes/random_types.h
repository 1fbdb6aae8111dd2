// Random nested types, made by all constructors, with small and with large counts; and for a type another one
// that has the same signature but lies otherwise in memory.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "type_map.h"

namespace random_types {

/// A handle that is freed with its owner, unless it is a predefined one.
class Type {
 public:
  Type() = default;
  explicit Type(MPI_Datatype handle) : handle_(handle) {}
  Type(Type&& other) noexcept : handle_(std::exchange(other.handle_, MPI_DATATYPE_NULL)) {}
  Type& operator=(Type&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Type() {
    if (handle_ != MPI_DATATYPE_NULL && combiner_of(handle_) != MPI_COMBINER_NAMED) MPI_Type_free(&handle_);
  }
  MPI_Datatype get() const { return handle_; }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
};

class Generator {
 public:
  explicit Generator(unsigned long long seed) : random_(seed) {}

  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool maybe(int one_in) { return number(1, one_in) == 1; }
  std::mt19937_64& engine() { return random_; }

  /// Nested so deep; not committed.
  Type make(int depth) {
    if (depth == 0)
      return Type(
          basics()[static_cast<std::size_t>(number(0, static_cast<int>(basics().size()) - 1))].handle);
    if (maybe(5)) return record(depth);
    const Type old = make(depth - 1);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    switch (number(0, 9)) {
      case 0:
        MPI_Type_dup(old.get(), &made);
        break;
      case 1:
        contiguous(old.get(), &made);
        break;
      case 2:
      case 3:
        vector(old.get(), &made);
        break;
      case 4:
      case 5:
        indexed(old.get(), &made);
        break;
      case 6:
        indexed_block(old.get(), &made);
        break;
      case 7:
        resized(old.get(), &made);
        break;
      case 8:
        subarray(old.get(), &made);
        break;
      default:
        darray(old.get(), &made);
        break;
    }
    return Type(made);
  }

  /// The same basic elements, in rows of random length at places in random order that do not overlap; as many
  /// of these types as one likes may stand behind each other.
  Type relocate(const TypeMap& map) {
    std::vector<int> lengths;
    std::vector<MPI_Datatype> types;
    std::vector<MPI_Count> sizes;
    for (std::size_t i = 0; i < map.items.size();) {
      const Basic& basic = *map.items[i].basic;
      int length = 0;
      for (const int most = number(1, 6);
           length < most && i < map.items.size() && map.items[i].basic == &basic; ++i)
        ++length;
      lengths.push_back(length);
      types.push_back(basic.handle);
      sizes.push_back(length * basic.extent);
    }
    std::vector<std::size_t> order(lengths.size());
    std::iota(order.begin(), order.end(), 0);
    if (maybe(2)) std::shuffle(order.begin(), order.end(), random_);
    std::vector<MPI_Aint> places(lengths.size());
    MPI_Aint next = number(-40, 40);
    const MPI_Aint first = next;
    const int gap = number(0, 12);
    for (const std::size_t i : order) {
      places[i] = next;
      next += sizes[i] + number(0, gap);
    }
    MPI_Datatype plain, made;
    MPI_Type_create_struct(static_cast<int>(lengths.size()), lengths.data(), places.data(), types.data(),
                           &plain);
    MPI_Type_create_resized(plain, number(-8, 8), next - first + number(0, gap), &made);
    MPI_Type_free(&plain);
    return Type(made);
  }

 private:
  // `count` numbers from low to high, as both kinds of procedures take them.
  struct Numbers {
    std::vector<int> small;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Count> large;
  };
  Numbers numbers(int count, int low, int high) {
    Numbers made;
    for (int i = 0; i < count; ++i) made.small.push_back(number(low, high));
    made.addresses.assign(made.small.begin(), made.small.end());
    made.large.assign(made.small.begin(), made.small.end());
    return made;
  }

  void contiguous(MPI_Datatype old, MPI_Datatype* made) {
    const int count = number(0, 4);
    maybe(2) ? MPI_Type_contiguous(count, old, made) : MPI_Type_contiguous_c(count, old, made);
  }

  void vector(MPI_Datatype old, MPI_Datatype* made) {
    const int count = number(0, 5), length = number(0, 3), stride = number(-4, 6), bytes = number(-4, 60);
    switch (number(0, 3)) {
      case 0:
        MPI_Type_vector(count, length, stride, old, made);
        break;
      case 1:
        MPI_Type_vector_c(count, length, stride, old, made);
        break;
      case 2:
        MPI_Type_create_hvector(count, length, bytes, old, made);
        break;
      default:
        MPI_Type_create_hvector_c(count, length, bytes, old, made);
        break;
    }
  }

  void indexed(MPI_Datatype old, MPI_Datatype* made) {
    const int count = maybe(10) ? number(20, 40) : number(0, 5);
    const Numbers lengths = numbers(count, 0, 3), places = numbers(count, -5, 20),
                  bytes = numbers(count, -5, 90);
    switch (number(0, 3)) {
      case 0:
        MPI_Type_indexed(count, lengths.small.data(), places.small.data(), old, made);
        break;
      case 1:
        MPI_Type_indexed_c(count, lengths.large.data(), places.large.data(), old, made);
        break;
      case 2:
        MPI_Type_create_hindexed(count, lengths.small.data(), bytes.addresses.data(), old, made);
        break;
      default:
        MPI_Type_create_hindexed_c(count, lengths.large.data(), bytes.large.data(), old, made);
        break;
    }
  }

  void indexed_block(MPI_Datatype old, MPI_Datatype* made) {
    const int count = maybe(10) ? number(20, 40) : number(0, 5), length = number(0, 3);
    const Numbers places = numbers(count, -5, 20), bytes = numbers(count, -5, 90);
    switch (number(0, 3)) {
      case 0:
        MPI_Type_create_indexed_block(count, length, places.small.data(), old, made);
        break;
      case 1:
        MPI_Type_create_indexed_block_c(count, length, places.large.data(), old, made);
        break;
      case 2:
        MPI_Type_create_hindexed_block(count, length, bytes.addresses.data(), old, made);
        break;
      default:
        MPI_Type_create_hindexed_block_c(count, length, bytes.large.data(), old, made);
        break;
    }
  }

  Type record(int depth) {
    const int count = number(0, 4);
    std::vector<Type> fields;
    std::vector<MPI_Datatype> types;
    for (int i = 0; i < count; ++i) {
      fields.push_back(make(number(0, depth - 1)));
      types.push_back(fields.back().get());
    }
    const Numbers lengths = numbers(count, 0, 2), places = numbers(count, -20, 80);
    MPI_Datatype made;
    if (maybe(2)) {
      MPI_Type_create_struct(count, lengths.small.data(), places.addresses.data(), types.data(), &made);
    } else {
      MPI_Type_create_struct_c(count, lengths.large.data(), places.large.data(), types.data(), &made);
    }
    return Type(made);
  }

  void resized(MPI_Datatype old, MPI_Datatype* made) {
    const int lb = number(-10, 10), extent = number(-5, 60);
    maybe(2) ? MPI_Type_create_resized(old, lb, extent, made)
             : MPI_Type_create_resized_c(old, lb, extent, made);
  }

  void subarray(MPI_Datatype old, MPI_Datatype* made) {
    const int dimensions = number(1, 3), order = maybe(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    const Numbers sizes = numbers(dimensions, 1, 5);
    Numbers subsizes, starts;
    for (const int size : sizes.small) {
      subsizes.small.push_back(number(1, size));
      starts.small.push_back(number(0, size - subsizes.small.back()));
      subsizes.large.push_back(subsizes.small.back());
      starts.large.push_back(starts.small.back());
    }
    if (maybe(2)) {
      MPI_Type_create_subarray(dimensions, sizes.small.data(), subsizes.small.data(), starts.small.data(),
                               order, old, made);
    } else {
      MPI_Type_create_subarray_c(dimensions, sizes.large.data(), subsizes.large.data(), starts.large.data(),
                                 order, old, made);
    }
  }

  void darray(MPI_Datatype old, MPI_Datatype* made) {
    const int dimensions = number(1, 3), order = maybe(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    const Numbers sizes = numbers(dimensions, 1, 7);
    std::vector<int> kinds, arguments, processes;
    int grid = 1;
    for (const int size : sizes.small) {
      const int kind = number(0, 4);
      processes.push_back(kind == 0 ? 1 : number(1, 3));
      grid *= processes.back();
      kinds.push_back(kind == 0   ? MPI_DISTRIBUTE_NONE
                      : kind <= 2 ? MPI_DISTRIBUTE_BLOCK
                                  : MPI_DISTRIBUTE_CYCLIC);
      // A block length for blocks must be enough for the whole dimension.
      const int least = kind == 2 ? (size + processes.back() - 1) / processes.back() : 1;
      arguments.push_back(kind == 2 || kind == 4 ? number(least, least + 2) : MPI_DISTRIBUTE_DFLT_DARG);
    }
    const int rank = number(0, grid - 1);
    if (maybe(2)) {
      MPI_Type_create_darray(grid, rank, dimensions, sizes.small.data(), kinds.data(), arguments.data(),
                             processes.data(), order, old, made);
    } else {
      MPI_Type_create_darray_c(grid, rank, dimensions, sizes.large.data(), kinds.data(), arguments.data(),
                               processes.data(), order, old, made);
    }
  }

  std::mt19937_64 random_;
};

}  // namespace random_types
