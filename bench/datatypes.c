/* Derived datatypes: MPI_Pack, MPI_Unpack and half the round trip of a message with the type at both sides,
   each beside the loop that one would write by hand (for the message: pack, send bytes, receive bytes,
   unpack). */
#include <stddef.h>

#include "measure.h"

enum {
  kNumbers = 1 << 15,   /* doubles of which every other one is taken */
  kSide = 96,           /* of a cube of doubles */
  kBlocks = 1 << 13,    /* of 1 to 8 doubles, with gaps of 1 to 8 */
  kParticles = 1 << 13, /* structs of 29 bytes of data */
  kTogether = 8         /* so many particles of every 2 * kTogether */
};

struct particle {
  int id;
  double position[3];
  char charge;
};
enum { kParticleData = 29 };

/* A layout: its type, its memory, and the loops by hand. */
struct layout {
  const char* name;
  MPI_Datatype type;
  int count;
  size_t room;
  void (*pack)(const void* memory, char* packed);
  void (*unpack)(void* memory, const char* packed);
};

static struct layout now;
static void* memory;
static char* packed;
static int lengths[kBlocks], places[kBlocks];
static int box[3]; /* subsizes of a face */

static void pack_vector(const void* from, char* to) {
  const double* in = from;
  double* out = (double*)to;
  for (int i = 0; i < kNumbers; ++i) out[i] = in[2 * i];
}
static void unpack_vector(void* to, const char* from) {
  const double* in = (const double*)from;
  double* out = to;
  for (int i = 0; i < kNumbers; ++i) out[2 * i] = in[i];
}

static void pack_face(const void* from, char* to) {
  const double* in = from;
  double* out = (double*)to;
  const int nx = box[0], ny = box[1], nz = box[2];
  for (int x = 1; x <= nx; ++x)
    for (int y = 1; y <= ny; ++y)
      for (int z = 1; z <= nz; ++z) *out++ = in[(x * kSide + y) * kSide + z];
}
static void unpack_face(void* to, const char* from) {
  const double* in = (const double*)from;
  double* out = to;
  const int nx = box[0], ny = box[1], nz = box[2];
  for (int x = 1; x <= nx; ++x)
    for (int y = 1; y <= ny; ++y)
      for (int z = 1; z <= nz; ++z) out[(x * kSide + y) * kSide + z] = *in++;
}

static void pack_indexed(const void* from, char* to) {
  const double* in = from;
  double* out = (double*)to;
  for (int i = 0; i < kBlocks; ++i)
    for (int k = 0; k < lengths[i]; ++k) *out++ = in[places[i] + k];
}
static void unpack_indexed(void* to, const char* from) {
  const double* in = (const double*)from;
  double* out = to;
  for (int i = 0; i < kBlocks; ++i)
    for (int k = 0; k < lengths[i]; ++k) out[places[i] + k] = *in++;
}

static inline char* pack_particle(const struct particle* particle, char* to) {
  memcpy(to, &particle->id, 4);
  memcpy(to + 4, particle->position, 24);
  memcpy(to + 28, &particle->charge, 1);
  return to + kParticleData;
}
static inline const char* unpack_particle(struct particle* particle, const char* from) {
  memcpy(&particle->id, from, 4);
  memcpy(particle->position, from + 4, 24);
  memcpy(&particle->charge, from + 28, 1);
  return from + kParticleData;
}

static void pack_structs(const void* from, char* to) {
  const struct particle* in = from;
  for (int i = 0; i < kParticles; ++i) to = pack_particle(&in[i], to);
}
static void unpack_structs(void* to, const char* from) {
  struct particle* out = to;
  for (int i = 0; i < kParticles; ++i) from = unpack_particle(&out[i], from);
}

static void pack_nested(const void* from, char* to) {
  const struct particle* in = from;
  for (int i = 0; i < kParticles / kTogether; ++i)
    for (int k = 0; k < kTogether; ++k) to = pack_particle(&in[2 * kTogether * i + k], to);
}
static void unpack_nested(void* to, const char* from) {
  struct particle* out = to;
  for (int i = 0; i < kParticles / kTogether; ++i)
    for (int k = 0; k < kTogether; ++k) from = unpack_particle(&out[2 * kTogether * i + k], from);
}

static struct layout vector_layout(void) {
  struct layout made = {"vector",    MPI_DATATYPE_NULL, 1, 2 * kNumbers * sizeof(double),
                        pack_vector, unpack_vector};
  MPI_Type_vector(kNumbers, 1, 2, MPI_DOUBLE, &made.type);
  return made;
}

static struct layout face_layout(const char* name, int dimension) {
  struct layout made = {name,      MPI_DATATYPE_NULL, 1, sizeof(double) * kSide * kSide * kSide,
                        pack_face, unpack_face};
  const int sizes[] = {kSide, kSide, kSide}, starts[] = {1, 1, 1};
  for (int d = 0; d < 3; ++d) box[d] = d == dimension ? 1 : kSide - 2;
  MPI_Type_create_subarray(3, sizes, box, starts, MPI_ORDER_C, MPI_DOUBLE, &made.type);
  return made;
}

static struct layout indexed_layout(void) {
  struct layout made = {"indexed", MPI_DATATYPE_NULL, 1, 0, pack_indexed, unpack_indexed};
  unsigned random = 1;
  int place = 0;
  for (int i = 0; i < kBlocks; ++i) {
    random = random * 1664525 + 1013904223;
    lengths[i] = 1 + (int)(random >> 29);
    places[i] = place;
    place += lengths[i] + 1 + (int)(random >> 26 & 7);
  }
  made.room = (size_t)place * sizeof(double);
  MPI_Type_indexed(kBlocks, lengths, places, MPI_DOUBLE, &made.type);
  return made;
}

static MPI_Datatype particle_type(void) {
  const int counts[] = {1, 3, 1};
  const MPI_Aint offsets[] = {offsetof(struct particle, id), offsetof(struct particle, position),
                              offsetof(struct particle, charge)};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
  MPI_Datatype type;
  MPI_Type_create_struct(3, counts, offsets, types, &type);
  return type;
}

static struct layout struct_layout(void) {
  struct layout made = {"struct",     particle_type(), kParticles, kParticles * sizeof(struct particle),
                        pack_structs, unpack_structs};
  return made;
}

static struct layout nested_layout(void) {
  struct layout made = {"nested",    MPI_DATATYPE_NULL, 1, 2 * kParticles * sizeof(struct particle),
                        pack_nested, unpack_nested};
  MPI_Datatype particle = particle_type();
  MPI_Type_vector(kParticles / kTogether, kTogether, 2 * kTogether, particle, &made.type);
  MPI_Type_free(&particle);
  return made;
}

static void pack(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    int position = 0;
    MPI_Pack(memory, now.count, now.type, packed, (int)bytes, &position, MPI_COMM_SELF);
  }
}
static void unpack(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    int position = 0;
    MPI_Unpack(packed, (int)bytes, &position, memory, now.count, now.type, MPI_COMM_SELF);
  }
}
static void pack_by_hand(int iterations, size_t bytes) {
  (void)bytes;
  for (int i = 0; i < iterations; ++i) now.pack(memory, packed);
}
static void unpack_by_hand(int iterations, size_t bytes) {
  (void)bytes;
  for (int i = 0; i < iterations; ++i) now.unpack(memory, packed);
}

static void pingpong(int iterations, size_t bytes) {
  (void)bytes;
  for (int i = 0; i < 2 * iterations; ++i) {
    if (i % 2 == rank) {
      MPI_Send(memory, now.count, now.type, 1 - rank, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(memory, now.count, now.type, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}
static void pingpong_by_hand(int iterations, size_t bytes) {
  for (int i = 0; i < 2 * iterations; ++i) {
    if (i % 2 == rank) {
      now.pack(memory, packed);
      MPI_Send(packed, (int)bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(packed, (int)bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      now.unpack(memory, packed);
    }
  }
}

static void idle(int iterations, size_t bytes) {
  (void)iterations;
  (void)bytes;
}

/* Prints WHAT-LAYOUT and WHAT-LAYOUT-by-hand. One iteration is an operation of each of the first `ranks`
 * ranks. */
static void measure_both(const char* what, size_t bytes, int ranks, void (*by_mpi)(int, size_t),
                         void (*by_hand)(int, size_t)) {
  void (*const batches[])(int, size_t) = {by_mpi, by_hand};
  for (int i = 0; i < 2; ++i) {
    char name[64];
    snprintf(name, sizeof name, "%s-%s%s", what, now.name, i == 1 ? "-by-hand" : "");
    measure(name, bytes, ranks, rank < ranks ? batches[i] : idle);
  }
}

static void measure_layout(struct layout made) {
  int bytes;
  now = made;
  MPI_Type_commit(&now.type);
  MPI_Type_size(now.type, &bytes);
  bytes *= now.count;
  memory = new_buffer(now.room);
  packed = new_buffer((size_t)bytes);
  measure_both("pack", (size_t)bytes, 1, pack, pack_by_hand);
  measure_both("unpack", (size_t)bytes, 1, unpack, unpack_by_hand);
  measure_both("pingpong", (size_t)bytes, 2, pingpong, pingpong_by_hand);
  free(memory);
  free(packed);
  MPI_Type_free(&now.type);
}

int main(int argc, char** argv) {
  measure_init(&argc, &argv);
  if (size != 2) MPI_Abort(MPI_COMM_WORLD, 1);
  measure_layout(vector_layout());
  measure_layout(face_layout("face-x", 0));
  measure_layout(face_layout("face-y", 1));
  measure_layout(face_layout("face-z", 2));
  measure_layout(indexed_layout());
  measure_layout(struct_layout());
  measure_layout(nested_layout());
  MPI_Finalize();
  return 0;
}
