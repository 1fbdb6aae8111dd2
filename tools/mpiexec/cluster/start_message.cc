#include "cluster/start_message.h"

#include "pmi/wire.h"

namespace clump::mpiexec {

std::string encode(const StartMessage& message, const std::string& job) {
  pmi::Writer out;
  out.number(message.host);
  out.texts(message.words);
  out.text(message.places.start);
  out.texts(message.places.addresses);
  out.text(message.places.interface.from);
  out.text(message.places.interface.value);
  out.text(job);
  return out.take();
}

base::Status decode(const std::string& bytes, StartMessage& message) {
  pmi::Reader in(bytes);
  message.host = in.number<int>();
  message.words = in.texts();
  message.places.start = in.text();
  message.places.addresses = in.texts();
  message.places.interface.from = in.text();
  message.places.interface.value = in.text();
  const std::string job = in.text();
  if (!in.finished()) return base::fail(MPI_ERR_SPAWN, "what mpiexec has sent to start with is damaged");
  CLUMP_TRY(pmi::decode(job, message.job));
  if (message.host < 0 || message.host >= static_cast<int>(message.job.nodes.size()))
    return base::fail(MPI_ERR_SPAWN, "mpiexec has started host {} of {}", message.host,
                      message.job.nodes.size());
  return {};
}

}  // namespace clump::mpiexec
