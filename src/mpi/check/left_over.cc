#include "mpi/check/left_over.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "coll/algorithms/algorithms.h"
#include "coll/coll.h"
#include "io/file.h"
#include "mpi/check/checked_requests.h"
#include "mpi/check/left_over_text.h"
#include "p2p/buffered.h"
#include "p2p/labelled.h"
#include "p2p/matcher.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Comm;
using core::Rank;
using datatype::Layout;
using left_over::Kind;
using left_over::Told;
using Handles = core::Sites::Kind;

/// All that one rank finds.
class Findings {
 public:
  explicit Findings(Rank& self) : self_(self) {}
  /// What is not complete when the program begins to end.
  void look_at_freed_receives();
  std::vector<Told> look() {
    look_at_receives();
    look_at_buffers();
    for (const core::Remark& remark : self_.sites->remarks())
      add(remark.kind == core::Remark::Kind::kUncommon ? Kind::kUncommon : Kind::kAllowed, {}, remark.text);
    self_.for_each_live([&](Handles kind, std::intptr_t handle) { look_at(kind, handle); });
    for (const core::Site& site : io::File::sites_of_open(self_))
      add(Kind::kFile, site.call + self_.world.at(site));
    look_at_messages();
    return std::move(all_);
  }

 private:
  void add(Kind kind, std::string origin, std::string words = {}, int source = -1) {
    for (Told& told : all_) {
      if (told.head.kind != kind || told.head.source != source || told.origin != origin ||
          told.words != words)
        continue;
      ++told.head.count;
      return;
    }
    all_.push_back({{.kind = kind, .rank = self_.number, .source = source, .count = 1},
                    std::move(origin),
                    std::move(words)});
  }
  std::string origin_of(Handles kind, std::intptr_t handle) const {
    const core::Site site = self_.sites->find(kind, handle);
    if (site.call != nullptr) return site.call + self_.world.at(site);
    // It makes as many as it likes, and is not watched; other types come from calls that are.
    return kind == Handles::kDatatype ? "MPI_Type_get_contents" : "a call before MPI_Init";
  }
  template <typename Visit>
  void for_each_comm(Visit visit) const {
    for (const base::Ref<Comm>& comm : self_.all_comms()) visit(*comm);
  }
  const Comm* comm_of(std::uint32_t context) {
    const Comm* found = nullptr;
    for_each_comm([&](const Comm& comm) {
      if (static_cast<std::uint32_t>(comm.context) == context) found = &comm;
    });
    return found;
  }
  static std::string name_of(const Comm* comm) {
    if (comm == nullptr) return "a communicator that was freed";
    const std::string name = comm->name.get();
    return !name.empty() ? name : fmt::format("a communicator of {} ranks", comm->size());
  }
  void look_at_receives();
  void look_at_buffers();
  void look_at_buffer(const core::SendBufferSlot& slot);
  void look_at(Handles kind, std::intptr_t handle);
  void look_at_request(std::intptr_t handle);
  void look_at_messages();
  bool is_attribute(std::intptr_t handle);
  bool is_in_use(int keyval);

  Rank& self_;
  std::set<const p2p::Receive*> posted_;
  std::vector<Told> all_;
};

bool is_of_program(const p2p::MatchKey& key) { return (key.context & 1u) == 0; }

/// Receives that are posted, and what they want to know is told where their requests are.
void Findings::look_at_receives() {
  struct Posted final : p2p::Matcher::Visitor {
    explicit Posted(std::set<const p2p::Receive*>& all) : all(all) {}
    void posted(const p2p::Receive& receive) override {
      if (is_of_program(receive.key)) all.insert(&receive);
    }
    void unexpected(const p2p::Unexpected&) override {}
    void probed(const p2p::MatchKey&, const fiber::Completion&) override {}
    std::set<const p2p::Receive*>& all;
  } visitor(posted_);
  p2p::matcher_of(self_).visit(visitor);
}

/// The program has freed their requests, so it cannot know when they are complete (MPI-5.0 section 3.7.3).
void Findings::look_at_freed_receives() {
  look_at_receives();
  std::set<const p2p::Receive*> freed = std::exchange(posted_, {});
  for (const core::Request* const request :
       self_.take_from_requests([](const core::Request& request) { return &request; }))
    if (const auto* const receive = dynamic_cast<const p2p::LabelledReceive*>(request)) freed.erase(receive);
  for (const p2p::Receive* const one : freed) {
    if (!one->is_labelled) continue;
    const auto& receive = static_cast<const p2p::LabelledReceive&>(*one);
    add(Kind::kFreedReceive, {}, receive.words(name_of(receive.comm.get())));
  }
}

/// What was attached and never detached. Memory that MPI takes for itself is not the program's.
void Findings::look_at_buffers() {
  look_at_buffer(self_.send_buffer);
  for_each_comm([&](const Comm& comm) { look_at_buffer(comm.send_buffer); });
}

void Findings::look_at_buffer(const core::SendBufferSlot& slot) {
  const base::Ref<core::SendBuffer> found = slot.get();
  if (!found) return;
  auto& buffer = static_cast<p2p::AttachedBuffer&>(*found);
  if (!buffer.is_watched() || buffer.memory() == MPI_BUFFER_AUTOMATIC) return;
  add(Kind::kBuffer, buffer.site().call + self_.world.at(buffer.site()));
  if (!buffer.look(self_.world).ok())
    add(Kind::kRemark, {},
        fmt::format("wrote into the buffer of {}{} while it was MPI's", buffer.site().call,
                    self_.world.at(buffer.site())));
}

/// Its owner can find it: the program keeps it for others, and its delete function frees it.
bool Findings::is_attribute(std::intptr_t handle) {
  bool found = false;
  for_each_comm([&](const Comm& comm) {
    found = found || comm.attributes.holds(reinterpret_cast<const void*>(handle));
  });
  return found;
}

/// An object has an attribute of it, and keeps it.
bool Findings::is_in_use(int keyval) {
  bool found = self_.is_type_attribute(keyval);
  const core::Keyval* const live = self_.keyval(keyval);
  for_each_comm([&](const Comm& comm) { found = found || comm.attributes.find(keyval, live).has_value(); });
  return found;
}

void Findings::look_at_request(std::intptr_t handle) {
  const auto value = core::handle_of<MPI_Request>(handle);
  if (value == core::kCompletedRequest) return;
  const core::Request& request = *self_.request(value);
  const std::string origin = origin_of(Handles::kRequest, handle);
  if (request.state != core::Request::State::kActive) {
    if (request.was_waited_for && !request.was_started)
      add(Kind::kAllowed, {}, checked::never_started(self_, request).text);
    return add(Kind::kPersistent, origin);
  }
  const auto* const receive = dynamic_cast<const p2p::LabelledReceive*>(&request);
  if (receive == nullptr || !posted_.contains(receive)) return add(Kind::kRequest, origin);
  add(Kind::kReceive, origin, receive->words(name_of(request.comm.get())));
}

void Findings::look_at(Handles kind, std::intptr_t handle) {
  switch (kind) {
    case Handles::kRequest:
      return look_at_request(handle);
    case Handles::kKeyval:
      if (is_in_use(static_cast<int>(handle))) return;
      break;
    case Handles::kDatatype:
      // Types by precision and range are as predefined ones.
      if (self_.datatype(core::handle_of<MPI_Datatype>(handle))->is_basic()) return;
      break;
    case Handles::kComm:
      // MPI has made it for the child, which may keep it as it keeps MPI_COMM_WORLD.
      if (handle == core::value_of(self_.parent.handle) &&
          self_.comm(self_.parent.handle)->context == self_.parent.context)
        return;
      break;
    default:
      break;
  }
  if (is_attribute(handle)) return;
  static constexpr Kind kKinds[] = {Kind::kComm,       Kind::kGroup, Kind::kDatatype, Kind::kOp,
                                    Kind::kErrhandler, Kind::kInfo,  Kind::kRequest,  Kind::kProbed,
                                    Kind::kKeyval,     Kind::kWindow};
  add(kKinds[static_cast<std::size_t>(kind)], origin_of(kind, handle));
}

/// Messages that wait here are taken out, to read their labels.
void Findings::look_at_messages() {
  struct Waiting final : p2p::Matcher::Visitor {
    void posted(const p2p::Receive&) override {}
    void unexpected(const p2p::Unexpected& message) override {
      if (is_of_program(message.key)) keys.push_back(message.key);
    }
    void probed(const p2p::MatchKey&, const fiber::Completion&) override {}
    std::vector<p2p::MatchKey> keys;
  } waiting;
  p2p::Matcher& matcher = p2p::matcher_of(self_);
  matcher.visit(waiting);
  for (const p2p::MatchKey& key : waiting.keys) {
    p2p::Unexpected* const message = matcher.withdraw(key);
    if (message == nullptr) continue;
    p2p::Label label;
    core::Operation operation;
    p2p::Receive receive(operation, key, {&label, sizeof label, datatype::predefined(MPI_BYTE)});
    matcher.receive_taken(message, receive);
    operation.completion.wait();
    const Comm* const comm = comm_of(key.context);
    const std::string whom = fmt::format(", tag {}, {}", key.tag, name_of(comm));
    add(Kind::kMessage, label.origin(self_.world), label.words(self_.world, whom),
        comm == nullptr ? -1 : comm->peers().world_rank(key.source));
  }
}

/// Messages that this rank gets were in its matcher before this is over.
Status wait_for_messages(Comm& comm) {
  const auto size = static_cast<std::size_t>(comm.size());
  std::vector<int> out(size), in(size);
  const datatype::Datatype* const type = datatype::predefined(MPI_INT);
  coll::Schedule schedule(comm);
  // From each rank to each other, so none overtakes what it has sent before.
  coll::alltoall_direct(schedule, {out.data(), 1, type}, {in.data(), 1, type});
  CLUMP_TRY(schedule.run());
  p2p::poll(comm.owner);
  return {};
}

/// What all ranks have found, at rank 0.
Status gather(Comm& comm, const std::string& mine, std::string& all) {
  const datatype::Datatype* const number = datatype::predefined(MPI_COUNT);
  const datatype::Datatype* const byte = datatype::predefined(MPI_BYTE);
  auto own = static_cast<Count>(mine.size());
  std::vector<Count> sizes(static_cast<std::size_t>(comm.size())), places(sizes.size());
  CLUMP_TRY(coll::run(comm, coll::Call::gather({&own, 1, number}, {sizes.data(), comm.size(), number}, 0)));
  Count whole = 0;
  for (std::size_t i = 0; comm.rank == 0 && i < sizes.size(); whole += sizes[i++]) places[i] = whole;
  all.resize(static_cast<std::size_t>(whole));
  return coll::run(
      comm,
      coll::Call::gatherv({const_cast<char*>(mine.data()), own, byte},
                          {all.data(), coll::Numbers(sizes.data()), coll::Numbers(places.data()), byte}, 0));
}

/// At once, so that no other rank's output gets in between.
void say(const std::string& text) {
  const std::string shown = base::printable(text);
  static_cast<void>(!::write(STDERR_FILENO, shown.data(), shown.size()));
}

/// Takes the findings of a kind that is no failure out of `all`, and tells them.
void say_apart(std::vector<Told>& all, Kind kind, const char* what) {
  std::vector<Told> found;
  std::erase_if(all, [&](const Told& told) {
    const bool is_one = told.head.kind == kind;
    if (is_one) found.push_back(told);
    return is_one;
  });
  if (!found.empty()) say(fmt::format("check: {}:{}\n", what, left_over::text_of(found)));
}

}  // namespace

Status tell_left_over(Rank& self) {
  if (self.world.checks == core::Checks::kNone) return {};
  Comm& comm = *self.comm_world;
  Findings findings(self);
  findings.look_at_freed_receives();
  CLUMP_TRY(wait_for_messages(comm));
  std::string bytes;
  CLUMP_TRY(gather(comm, left_over::encode(findings.look()), bytes));
  std::vector<Told> all = left_over::decode(bytes);
  say_apart(all, Kind::kAllowed, "this is allowed, but may not be what was meant");
  say_apart(all, Kind::kUncommon,
            "this is taken here, but the standard does not have it, so not every library may");
  left_over::forget_told_twice(all);
  if (all.empty()) return {};
  const std::string text = left_over::text_of(all);
  if (self.world.checks == core::Checks::kFail)
    return base::fail(MPI_ERR_OTHER, "this is left (mpiexec --check=error):{}", text);
  say("check: this is left at MPI_Finalize:" + text + '\n');
  return {};
}

}  // namespace clump::mpi
