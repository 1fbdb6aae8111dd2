// What a running job hears: from its host processes, from the user by signals, from mpiexec on other hosts.
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "diag/rank_names.h"
#include "job/run_state.h"

namespace clump::mpiexec {

void Run::read_packets() {
  while (control_ >= 0 && read_packet()) {
  }
}

ssize_t Run::receive(std::string& packet, int& socket) const {
  packet.resize(64 << 10);
  iovec part{packet.data(), packet.size()};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof socket)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  const ssize_t got = ::recvmsg(control_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return got;
  packet.resize(static_cast<std::size_t>(got));
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr && header->cmsg_type == SCM_RIGHTS)
    std::memcpy(&socket, CMSG_DATA(header), sizeof socket);
  return got;
}

void Run::settle_successors() {
  const base::Status settled = successors_.settle(life_, records_.are_wanted() ? records_.descriptor() : -1);
  if (!settled.ok()) return successors_.refuse_all(base::message_of(settled.code()));
  probe_ = {};
  probe_.begin(job(), memory(), [](int) { return pmi::Standing::State::kMute; });
  link_.begin(job());
}

void Run::successor_ended(const pmi::SuccessorNote& note) {
  if (exit_code_ != 0) return;
  const pmi::HostProcess alone{job().rank_mapping.slot_of(note.rank), 1, true};
  if (!successors_.has_settled()) {
    if (note.status == 0) successors_.note_end(note.rank);
    return judge_end(alone, note.status);
  }
  const int number = job().process_of(note.rank);
  probe_.note_end(number);
  if (note.status == 0) look_at_state(number);
  judge_end(alone, note.status);
}

bool Run::read_packet() {
  std::string packet;
  int socket = -1;
  const ssize_t got = receive(packet, socket);
  if (got == 0) ::close(std::exchange(control_, -1));
  if (got <= 0) return false;
  pmi::Failure failure;
  if (pmi::JoinNote join; socket >= 0 && pmi::decode(packet, join)) {
    if (successors_.take(join, socket)) settle_successors();
  } else if (pmi::SpawnNote spawn; socket >= 0 && pmi::decode(packet, spawn)) {
    spawns_.add(socket);
  } else if (pmi::SuccessorNote end; pmi::decode(packet, end)) {
    successor_ended(end);
  } else if (pmi::AddressNote address; pmi::decode(packet, address)) {
    others_.note_address(address.process);
  } else if (pmi::DoneNote done; pmi::decode(packet, done)) {
    others_.note_done(done.process);
    probe_.note_done();
  } else if (pmi::AccountNote note; pmi::decode(packet, note)) {
    probe_.take(note);
  } else if (pmi::RestNote rest; pmi::decode(packet, rest)) {
    probe_.take(rest);
  } else if (pmi::LaunchNote launch; pmi::decode(packet, launch)) {
    diag::name_launch(launch);
  } else if (pmi::OutputNote note; pmi::decode(packet, note)) {
    tell_of_lost_output(diag::rank_of(note.rank, job().ranks()), note.error);
  } else if (pmi::StartedJobNote started; pmi::decode(packet, started)) {
    if (code_of_started_job_ == 0) code_of_started_job_ = started.code;
  } else if (!failure_ && !is_stuck_ && pmi::decode(packet, failure)) {
    if (is_as_wanted(failure)) {
      end_as_wanted(failure);
    } else if (failure.reason == pmi::Reason::kDeadlock) {  // all ranks are in this process
      pass_on_news();
      tell(ControlReply::Kind::kDeadlock, 0);
      end_stuck();
    } else {
      failure_ = std::move(failure);
      limit_grace();  // the process ends by itself, unless its heap is broken and it hangs
    }
  }
  return true;
}

void Run::read_signals() {
  siginfo_t info;
  while (signals_.next(info)) {
    const int number = info.si_signo;
    const bool from_terminal = info.si_code > 0;  // then the job's processes got it as well
    if (from_terminal && gdb_.is_running() && number != SIGHUP) continue;  // it is gdb's
    take_signal(number, from_terminal, kGrace);
    if (number == SIGTSTP) ::raise(SIGSTOP);
  }
}

void Run::take_signal(int number, bool from_terminal, std::chrono::milliseconds grace) {
  const bool ends = EndRequests::ends_job(number);
  if (ends) {
    const EndRequests::Kind kind = requests_.take(number, from_terminal, Clock::now());
    if (kind == EndRequests::Kind::kSame) return;
    if (kind == EndRequests::Kind::kAgain || exit_code_ != 0) {
      if (exit_code_ == 0) exit_code_ = 128 + number;
      return supervisor_.signal(SIGKILL);
    }
  }
  if (number == SIGTERM)
    tell_before_end(number);
  else if (!from_terminal || number == SIGQUIT)
    pass_on(number);
  if (!ends) return;
  taken_by_ = Clock::now() + kGraceToEnd;  // ranks that handle it may come to a good end
  if (command_.proxy) limit_grace(grace);  // the others are ended, too
}

pmi::Standing::State Run::state_of_silent(int process) const {
  using State = pmi::Standing::State;
  switch (supervisor_.life_of(process - job().this_node().first)) {
    case Supervisor::Life::kStopped:
      return State::kStopped;
    case Supervisor::Life::kEnds:
      return State::kEnds;
    case Supervisor::Life::kRuns:
      break;
  }
  return State::kMute;
}

void Run::look_who_blocks() {
  taken_by_.reset();
  if (exit_code_ != 0) return;
  const int number = requests_.signal();
  if (!supervisor_.has_pending(number)) {
    if (number == SIGHUP) requests_.forget();  // programs that read their settings anew at SIGHUP go on
    return;
  }
  say(fmt::format(
      "a rank{} has not taken SIG{} for {} s, because all of its threads block it: killing the job",
      on_host(), ::sigabbrev_np(number), kGraceToEnd.count()));
  exit_code_ = 128 + number;
  supervisor_.signal(SIGKILL);
}

void Run::pass_on(int signal) {
  if (signal != SIGQUIT) return supervisor_.signal(signal);
  link_.ask();
}

void Run::look_who_waits() {
  pass_on_news();
  std::string text;
  const HangDetector::Finding found = link_.poll(text);
  pass_on_news();
  if (ends_by_ != 0 && found == HangDetector::Finding::kAsked) return end_from_outside(text);
  if (ends_by_ != 0 && Clock::now() >= *ends_at_latest_) {
    probe_.hurry();
    pass_on_news();
    return end_from_outside(link_.text());
  }
  if (found == HangDetector::Finding::kAsked) return say("where the ranks are:\n" + text, Word::kAnswer);
  if (found == HangDetector::Finding::kNothing || failure_ || (exit_code_ != 0 && !is_stuck_)) return;
  failure_ = stuck(found, command_.hang_after_seconds, text);
  if (is_stuck_) return;
  end_stuck();
  probe_.end_all();
}

void Run::pass_on_news() {
  if ((failure_ || own_code() != 0) && !is_stuck_ && !std::exchange(has_told_failure_, true))
    tell_code(ControlReply::Kind::kFails, {});
  const bool was_there = link_.is_there();
  ControlReply reply;
  ControlMessage message;
  for (bool any = true; std::exchange(any, false);) {
    for (; link_.next(message); any = true) handle(message);
    for (; probe_.next(reply) || spawns_.next(reply); any = true) link_.send(std::move(reply));
  }
  if (!was_there || link_.is_there()) return;
  if (exit_code_ == 0) exit_code_ = 128 + SIGKILL;  // mpiexec has gone: no one learns of it
  running_ = 0;
  gdb_.end();
}

void Run::handle(const ControlMessage& message) {
  const int number = static_cast<int>(message.number);
  switch (message.kind) {
    case ControlMessage::Kind::kSignal:
      return take_signal(number, false, kGraceToEnd);
    case ControlMessage::Kind::kStop:
      return take_signal(SIGTERM, false, kGrace);
    case ControlMessage::Kind::kAddress:
      return others_.take_address(message);
    case ControlMessage::Kind::kAbsent:
      return miss(message.number < job().processes.size() ? number : -1);
    case ControlMessage::Kind::kSpawned:
      return spawns_.answer(message);
    case ControlMessage::Kind::kAllDone:
      return others_.end_addresses();
    case ControlMessage::Kind::kEnd:
      if (exit_code_ == 0 && !failure_) end_stuck();
      [[fallthrough]];
    default:
      probe_.handle(message);
  }
}

}  // namespace clump::mpiexec
