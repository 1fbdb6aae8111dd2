// Memory for buffered sends (MPI-5.0 section 3.6), attached to a rank, a session or a communicator.
#include "mpi/buffers.h"

#include <utility>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "p2p/buffered.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Comm;
using core::Rank;
using core::SendBufferSlot;
using core::Session;
using p2p::AttachedBuffer;

base::Ref<AttachedBuffer> attached(base::Ref<core::SendBuffer> buffer) {
  return base::Ref<AttachedBuffer>::adopt(static_cast<AttachedBuffer*>(buffer.release_to_owner()));
}

/// `detach_call` is what takes such a buffer away.
Status attach(SendBufferSlot& slot, void* buffer, Count size, const char* detach_call) {
  if (buffer == nullptr && size > 0)
    return base::fail(MPI_ERR_BUFFER,
                      "(buffer = NULL): the address of {} bytes is needed, or MPI_BUFFER_AUTOMATIC", size);
  auto made = base::make_ref<AttachedBuffer>(buffer, size);
  if (const core::Site* const site = core::Site::current) made->watch(*site);
  if (!slot.attach(std::move(made)))
    return base::fail(MPI_ERR_BUFFER, "a buffer is attached already: detach it first ({})", detach_call);
  return {};
}

void flush(const base::Ref<AttachedBuffer>& buffer) {
  p2p::Flush all;
  all.begin(buffer);
  const core::Waiting told(all);
  all.wait();
}

/// The program waits for its messages to leave; under --check it learns whether it has written over them.
Status flush(const Rank& self, const SendBufferSlot& slot) {
  const base::Ref<AttachedBuffer> buffer = attached(slot.get());
  flush(buffer);
  return buffer ? buffer->look(self.world) : Status();
}

Status detach(const Rank& self, SendBufferSlot& slot, void* buffer_addr, Count* size) {
  const base::Ref<AttachedBuffer> buffer = attached(slot.detach());
  if (!buffer) return base::fail(MPI_ERR_BUFFER, "no buffer is attached");
  buffer->close();
  flush(buffer);
  *static_cast<void**>(buffer_addr) = buffer->memory();
  *size = buffer->size();
  return buffer->look(self.world);
}

MPI_Request iflush(Rank& self, const SendBufferSlot& slot) {
  auto all = std::make_unique<p2p::Flush>();
  p2p::Flush& operation = *all;
  const MPI_Request handle = self.add(std::move(all));
  operation.begin(attached(slot.get()));
  return handle;
}

}  // namespace

Status buffer_attach(Rank& self, void* buffer, Count size) {
  return attach(self.send_buffer, buffer, size, "MPI_Buffer_detach");
}

Status buffer_detach(Rank& self, void* buffer_addr, Count* size) {
  return detach(self, self.send_buffer, buffer_addr, size);
}

Status buffer_flush(Rank& self) { return flush(self, self.send_buffer); }

Status buffer_iflush(Rank& self, MPI_Request* request) {
  *request = iflush(self, self.send_buffer);
  return {};
}

Status comm_attach_buffer(Rank&, Comm& comm, void* buffer, Count size) {
  return attach(comm.send_buffer, buffer, size, "MPI_Comm_detach_buffer");
}

Status comm_detach_buffer(Rank& self, Comm& comm, void* buffer_addr, Count* size) {
  return detach(self, comm.send_buffer, buffer_addr, size);
}

Status comm_flush_buffer(Rank& self, Comm& comm) { return flush(self, comm.send_buffer); }

Status comm_iflush_buffer(Rank& self, Comm& comm, MPI_Request* request) {
  *request = iflush(self, comm.send_buffer);
  return {};
}

Status session_attach_buffer(Rank&, Session& session, void* buffer, Count size) {
  return attach(session.send_buffer, buffer, size, "MPI_Session_detach_buffer");
}

Status session_detach_buffer(Rank& self, Session& session, void* buffer_addr, Count* size) {
  return detach(self, session.send_buffer, buffer_addr, size);
}

Status session_flush_buffer(Rank& self, Session& session) { return flush(self, session.send_buffer); }

Status session_iflush_buffer(Rank& self, Session& session, MPI_Request* request) {
  *request = iflush(self, session.send_buffer);
  return {};
}

void end_buffer(SendBufferSlot& slot) { flush(attached(slot.detach())); }

}  // namespace clump::mpi
