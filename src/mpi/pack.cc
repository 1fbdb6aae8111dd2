// Packing into the user's own buffers, and addresses (MPI-5.0 sections 5.1.5 and 5.2). The packed form is the
// data bytes without gaps and without a header, so pieces may be packed, joined and unpacked in other pieces.
#include <cstddef>
#include <cstring>
#include <span>

#include "core/rank.h"
#include "datatype/external32.h"
#include "mpi/bodies.h"
#include "mpi/entry/entry_checks.h"
#include "net/joint_work.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;
using datatype::Datatype;
using datatype::Layout;

/// Whether `bytes` more bytes behind `position` lie inside a buffer.
Status check_room(Count position, Count bytes, const char* name, Count size) {
  if (position < 0) return base::fail(MPI_ERR_ARG, "position is {}, but must not be negative", position);
  if (bytes > size - position) {
    return base::fail(MPI_ERR_ARG, "{} is {}, but {} bytes at position {} need {}", name, size, bytes,
                      position, position + bytes);
  }
  return {};
}

/// The packed form. Null is no MPI_BOTTOM here: the bytes begin at the address itself.
Status check_packed(Named<const void*> buffer, Count bytes) {
  if (buffer.value != nullptr || bytes == 0) return {};
  return base::fail(MPI_ERR_BUFFER, "({} = NULL): a buffer for {} packed bytes is needed here", buffer.name,
                    bytes);
}

Status check_representation(const char* datarep) {
  if (std::strcmp(datarep, "external32") == 0) return {};
  return base::fail(MPI_ERR_ARG, "datarep is \"{}\", but the only portable representation is \"external32\"",
                    datarep);
}

}  // namespace

Status get_address(Rank&, const void* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return {};
}

MPI_Aint aint_add(MPI_Aint base, MPI_Aint disp) { return base + disp; }

MPI_Aint aint_diff(MPI_Aint addr1, MPI_Aint addr2) { return addr1 - addr2; }

Status pack(Rank&, const void* inbuf, Count incount, const Datatype& datatype, void* outbuf, Count outsize,
            Count* position, core::Comm&) {
  const Layout from{const_cast<void*>(inbuf), incount, &datatype};
  CLUMP_TRY(check_room(*position, from.bytes(), "outsize", outsize));
  CLUMP_TRY(check_packed({"outbuf", outbuf}, from.bytes()));
  net::joint_pack({static_cast<std::byte*>(outbuf) + *position, static_cast<std::size_t>(from.bytes())}, from,
                  0);
  *position += from.bytes();
  return {};
}

Status unpack(Rank&, const void* inbuf, Count insize, Count* position, void* outbuf, Count outcount,
              const Datatype& datatype, core::Comm&) {
  const Layout to{outbuf, outcount, &datatype};
  CLUMP_TRY(check_room(*position, to.bytes(), "insize", insize));
  CLUMP_TRY(check_packed({"inbuf", inbuf}, to.bytes()));
  net::joint_unpack(to, 0,
                    {static_cast<const std::byte*>(inbuf) + *position, static_cast<std::size_t>(to.bytes())});
  *position += to.bytes();
  return {};
}

Status pack_external(Rank&, const char datarep[], const void* inbuf, Count incount, const Datatype& datatype,
                     void* outbuf, Count outsize, Count* position) {
  CLUMP_TRY(check_representation(datarep));
  const Count bytes = datatype::external32_bytes(datatype, incount);
  CLUMP_TRY(check_room(*position, bytes, "outsize", outsize));
  CLUMP_TRY(check_packed({"outbuf", outbuf}, bytes));
  datatype::pack_external32(static_cast<std::byte*>(outbuf) + *position,
                            {const_cast<void*>(inbuf), incount, &datatype});
  *position += bytes;
  return {};
}

Status unpack_external(Rank&, const char datarep[], const void* inbuf, Count insize, Count* position,
                       void* outbuf, Count outcount, const Datatype& datatype) {
  CLUMP_TRY(check_representation(datarep));
  const Count bytes = datatype::external32_bytes(datatype, outcount);
  CLUMP_TRY(check_room(*position, bytes, "insize", insize));
  CLUMP_TRY(check_packed({"inbuf", inbuf}, bytes));
  datatype::unpack_external32({outbuf, outcount, &datatype},
                              static_cast<const std::byte*>(inbuf) + *position);
  *position += bytes;
  return {};
}

Status pack_external_size(Rank&, const char datarep[], Count incount, const Datatype& datatype, Count* size) {
  CLUMP_TRY(check_representation(datarep));
  *size = datatype::external32_bytes(datatype, incount);
  return {};
}

Status pack_size(Rank&, Count incount, const Datatype& datatype, core::Comm&, Count* size) {
  if (__builtin_mul_overflow(incount, datatype.size(), size)) *size = MPI_UNDEFINED;
  return {};
}

}  // namespace clump::mpi
