// What the constructors of datatypes mean, by the definitions of MPI-5.0 sections 5.1.2 to 5.1.13 and nothing
// else: the reference of the random tests of types.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace naive {

/// A type map. An item is what it consists of, a byte or a basic element at some place; item + displacement
/// is the same elsewhere.
template <typename Item>
struct Map {
  std::vector<Item> items;  ///< in the order in which they are packed
  MPI_Count lb = 0, ub = 0, alignment = 1;
  bool marked = false;  ///< bounds were set by hand
  bool empty = true;    ///< nothing in it, not even bounds

  MPI_Count extent() const { return ub - lb; }

  void add(const Map& old, MPI_Count displacement) {
    for (const Item& item : old.items) items.push_back(item + displacement);
    alignment = std::max(alignment, old.alignment);
    if (empty || (old.marked && !marked)) {
      lb = displacement + old.lb;
      ub = displacement + old.ub;
      marked = old.marked;
    } else if (old.marked == marked) {
      lb = std::min(lb, displacement + old.lb);
      ub = std::max(ub, displacement + old.ub);
    }
    empty = false;
  }
  void add_row(const Map& old, MPI_Count length, MPI_Count displacement) {
    for (MPI_Count i = 0; i < length; ++i) add(old, displacement + i * old.extent());
  }
  /// Those elements of an array that `is_inside` names by their indices; the bounds are the whole array's.
  template <typename Inside>
  void add_array(const Map& old, const std::vector<MPI_Count>& sizes, int order, Inside is_inside) {
    std::vector<MPI_Count> index(sizes.size());
    MPI_Count total = 1;
    for (const MPI_Count size : sizes) total *= size;
    for (MPI_Count element = 0; element < total; ++element) {
      MPI_Count rest = element;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::size_t d = order == MPI_ORDER_C ? sizes.size() - 1 - i : i;
        index[d] = rest % sizes[d];
        rest /= sizes[d];
      }
      if (is_inside(index)) add(old, element * old.extent());
    }
    set_bounds(0, total * old.extent());
  }
  void set_bounds(MPI_Count low, MPI_Count size) {
    lb = low;
    ub = low + size;
    marked = true;
    empty = false;
  }
  void pad() {
    if (!marked && !empty && extent() % alignment != 0) ub += alignment - extent() % alignment;
  }
};

}  // namespace naive
