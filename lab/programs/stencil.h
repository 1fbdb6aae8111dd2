/* The field of stencil.c, and its messages. A rank has height * width points with a frame of halos around
 * them; rows and columns count from 1. */
#ifndef LAB_STENCIL_H
#define LAB_STENCIL_H

#include "lab.h"

enum { kNorth, kSouth, kWest, kEast, kSides };

struct Field {
  int height, width, first_row, first_column, n; /* first_row: the global number of row 1, minus 1 */
  double *now, *next;
  double* columns[4]; /* west and east, sent and received: packed */
  int neighbour[kSides];
  MPI_Comm grid;
};

static inline double* at(const struct Field* field, double* points, int row, int column) {
  return points + (size_t)row * (size_t)(field->width + 2) + (size_t)column;
}

static inline void part(int n, int parts, int mine, int* first, int* size) {
  *first = (int)((long)n * mine / parts);
  *size = (int)((long)n * (mine + 1) / parts) - *first;
}

/* The same numbers everywhere, however the square is divided. */
static inline double value_at(int row, int column) { return (double)((row * 31 + column * 17) % 101) / 7.0; }

static inline struct Field new_field(int n, int threads) {
  struct Field field = {.n = n};
  int sizes[2] = {0, 0}, periods[2] = {0, 0}, place[2];
  MPI_Dims_create(lab_size, 2, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &field.grid);
  MPI_Cart_coords(field.grid, lab_rank, 2, place);
  MPI_Cart_shift(field.grid, 0, 1, &field.neighbour[kNorth], &field.neighbour[kSouth]);
  MPI_Cart_shift(field.grid, 1, 1, &field.neighbour[kWest], &field.neighbour[kEast]);
  part(n, sizes[0], place[0], &field.first_row, &field.height);
  part(n, sizes[1], place[1], &field.first_column, &field.width);
  if (field.height < 2 * threads || field.width < 2)
    lab_fail("--n is too small for so many ranks and threads");
  const size_t bytes = (size_t)(field.height + 2) * (size_t)(field.width + 2) * sizeof(double);
  field.now = lab_buffer(bytes);
  field.next = lab_buffer(bytes);
  for (int i = 0; i < 4; ++i) field.columns[i] = lab_buffer((size_t)(field.height + 2) * sizeof(double));
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int row = 0; row < field.height + 2; ++row)
    for (int column = 0; column < field.width + 2; ++column) {
      *at(&field, field.now, row, column) = value_at(field.first_row + row, field.first_column + column);
      *at(&field, field.next, row, column) = *at(&field, field.now, row, column);
    }
  return field;
}

static inline void free_field(struct Field* field) {
  free(field->now);
  free(field->next);
  for (int i = 0; i < 4; ++i) free(field->columns[i]);
  MPI_Comm_free(&field->grid);
}

static inline void swap(struct Field* field) {
  double* const old = field->now;
  field->now = field->next;
  field->next = old;
}

/* Columns first .. last of a row, both included. */
static inline void sweep_row(struct Field* field, int row, int first, int last) {
  double* restrict to = at(field, field->next, row, 0);
  const double *restrict own = at(field, field->now, row, 0), *restrict above = at(field, field->now, row - 1, 0),
               *restrict below = at(field, field->now, row + 1, 0);
  for (int column = first; column <= last; ++column)
    to[column] = 0.25 * ((above[column] + below[column]) + (own[column - 1] + own[column + 1]));
}

static inline void sweep_edges(struct Field* field) {
  sweep_row(field, 1, 1, field->width);
  if (field->height > 1) sweep_row(field, field->height, 1, field->width);
  for (int row = 2; row < field->height; ++row) {
    sweep_row(field, row, 1, 1);
    sweep_row(field, row, field->width, field->width);
  }
}

/* Rows first .. last of a column, both included, to the packed column or back. */
static inline void pack(struct Field* field, int side, int first, int last) {
  double* to = field->columns[side == kWest ? 0 : 1];
  for (int row = first; row <= last; ++row)
    to[row] = *at(field, field->now, row, side == kWest ? 1 : field->width);
}

static inline void unpack(struct Field* field, int side, int first, int last) {
  const double* from = field->columns[side == kWest ? 2 : 3];
  for (int row = first; row <= last; ++row)
    *at(field, field->now, row, side == kWest ? 0 : field->width + 1) = from[row];
}

/* Tags say which way a message goes, and which part of the side it is. */
static inline int tag_of(int side, int piece) { return side + kSides * piece; }
static inline int opposite(int side) { return side ^ 1; }

/* Receive and send of one side: of a row all columns, of a column rows first .. last. Returns how many
 * requests. */
static inline int begin_side(struct Field* field, int side, int first, int last, int piece,
                             MPI_Request* requests) {
  const int other = field->neighbour[side];
  if (other == MPI_PROC_NULL) return 0;
  if (side == kNorth || side == kSouth) {
    const int edge = side == kNorth ? 1 : field->height;
    MPI_Irecv(at(field, field->now, side == kNorth ? 0 : field->height + 1, 1), field->width, MPI_DOUBLE,
              other, tag_of(opposite(side), 0), field->grid, &requests[0]);
    MPI_Isend(at(field, field->now, edge, 1), field->width, MPI_DOUBLE, other, tag_of(side, 0), field->grid,
              &requests[1]);
  } else {
    pack(field, side, first, last);
    MPI_Irecv(field->columns[side == kWest ? 2 : 3] + first, last - first + 1, MPI_DOUBLE, other,
              tag_of(opposite(side), piece), field->grid, &requests[0]);
    MPI_Isend(field->columns[side == kWest ? 0 : 1] + first, last - first + 1, MPI_DOUBLE, other,
              tag_of(side, piece), field->grid, &requests[1]);
  }
  return 2;
}

static inline int begin_exchange(struct Field* field, MPI_Request* requests) {
  int number = 0;
  for (int side = 0; side < kSides; ++side)
    number += begin_side(field, side, 1, field->height, 0, requests + number);
  return number;
}

static inline void finish_exchange(struct Field* field, MPI_Request* requests, int number) {
  MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
  for (int side = kWest; side <= kEast; ++side)
    if (field->neighbour[side] != MPI_PROC_NULL) unpack(field, side, 1, field->height);
}

/* The sides that thread `mine` of `of` communicating threads has: every of-th. */
static inline void exchange_sides(struct Field* field, int mine, int of) {
  MPI_Request requests[8];
  int number = 0;
  for (int side = mine; side < kSides; side += of)
    number += begin_side(field, side, 1, field->height, 0, requests + number);
  MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
  for (int side = mine; side < kSides; side += of)
    if (side >= kWest && field->neighbour[side] != MPI_PROC_NULL) unpack(field, side, 1, field->height);
}

/* What rows from .. to - 1 of thread `piece` need: their part of the columns, and the row above or below all.
 * Ranks that are beside each other have as many rows and threads, so their pieces are the same. */
static inline void exchange_rows(struct Field* field, int piece, int from, int to) {
  MPI_Request requests[8];
  int number = 0;
  if (from == 1) number += begin_side(field, kNorth, 0, 0, 0, requests + number);
  if (to == field->height + 1) number += begin_side(field, kSouth, 0, 0, 0, requests + number);
  for (int side = kWest; side <= kEast; ++side)
    number += begin_side(field, side, from, to - 1, piece, requests + number);
  MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
  for (int side = kWest; side <= kEast; ++side)
    if (field->neighbour[side] != MPI_PROC_NULL) unpack(field, side, from, to - 1);
}

/* A sum of all points as whole numbers, each turned by its place: the same for the same bits, in any
 * division. All ranks get it. */
static inline unsigned long bits_of(struct Field* field) {
  unsigned long sum = 0, all = 0;
  for (int row = 1; row <= field->height; ++row)
    for (int column = 1; column <= field->width; ++column) {
      unsigned long word;
      memcpy(&word, at(field, field->now, row, column), sizeof word);
      sum += word * (2 * (unsigned long)(field->first_row + row) * (unsigned long)field->n +
                     2 * (unsigned long)(field->first_column + column) + 1);
    }
  MPI_Allreduce(&sum, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

#endif
