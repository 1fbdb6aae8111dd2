#include "coll/check/check.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "coll/algorithms/algorithms.h"
#include "core/rank.h"
#include "datatype/fingerprint.h"

namespace clump::coll {

namespace {

template <typename T>
Layout bytes_of(std::vector<T>& values) {
  return bytes_at(values.data(), static_cast<Count>(values.size() * sizeof(T)));
}

Layout one_int(int& value) { return {&value, 1, datatype::predefined(MPI_INT)}; }

Reduction largest() {
  static const auto& op = *new core::Op(MPI_MAX);
  return {&op, MPI_INT};
}

}  // namespace

Check::Check(core::Comm& comm, const Call& call)
    : comm_(comm),
      name_(call.name),
      address_(call.address),
      is_in_place_(call.is_in_place),
      tags_(comm.next_check_tags()),
      are_edges_(call.are_edges),
      arguments_(call.words),
      theirs_(static_cast<std::size_t>(comm.peers().size())),
      findings_(theirs_.size()) {
  write_signatures(call);
  keep_buffers(call);
}

void Check::write_signatures(const Call& call) {
  CallSignature signature;
  signature.set_name(call.name);
  signature.root = call.root;
  if (call.all_in_place)
    signature.in_place = call.is_in_place ? CallSignature::InPlace::kYes : CallSignature::InPlace::kNo;
  signature.combines = call.combines;
  if (call.op != nullptr) name_operation(signature, *call.op);
  signature.counts = call.counts;
  signature.arguments = call.arguments;
  mine_.assign(theirs_.size(), signature);
  for (std::size_t peer = 0; peer < mine_.size(); ++peer) {
    if (call.gives != nullptr) {
      const Layout data = call.gives(static_cast<int>(peer));
      mine_[peer].gives = datatype::Content::of(data);
      gives_.push_back(Portion::of(data));
    }
    if (call.takes != nullptr) {
      const Layout data = call.takes(static_cast<int>(peer));
      mine_[peer].takes = datatype::Content::of(data);
      takes_.push_back(Portion::of(data));
    }
  }
  link(call.to, mine_, &CallSignature::gives, gives_);
  link(call.from, mine_, &CallSignature::takes, takes_);
}

/// All data to one peer, or from it, is one sequence.
void Check::link(const std::vector<Call::Link>& links, std::vector<CallSignature>& signatures,
                 datatype::Content CallSignature::*way, std::vector<Portion>& portions) {
  if (!links.empty()) portions.resize(signatures.size());
  for (const auto& [peer, data] : links) {
    const auto i = static_cast<std::size_t>(peer);
    const datatype::Content content = datatype::Content::of(data);
    datatype::Content& all = signatures[i].*way;
    all = {all.signature.then(content.signature), all.bytes + content.bytes};
    if (portions[i].count == 0)
      portions[i] = Portion::of(data);
    else
      ++portions[i].more;
  }
}

/// A user's operation is compared by its function, if that lies in the program itself. Extensions of Python
/// and the like use one function for several operations.
void Check::name_operation(CallSignature& signature, const core::Op& op) {
  signature.operation = number_of(op);
  const core::World& world = comm_.owner.world;
  if (op.is_predefined() || world.find_in_code == nullptr) return;
  // As if a call returned behind the function's first instruction.
  const CodePlace place = world.find_in_code(static_cast<const char*>(op.function()) + 1);
  if (place.object == nullptr) return;
  std::string_view file = place.object;
  file.remove_prefix(file.rfind('/') + 1);
  if (file.find(".so") != std::string_view::npos) return;
  signature.file_of_operation = std::hash<std::string_view>()(file) | 1;
  signature.place_of_operation = place.address;
  if (world.name_in_code != nullptr) place_of_operation_ = world.name_in_code(place);
}

base::Status Check::run() {
  stage_ = Stage::kSignatures;
  do {
    prepare();
    CLUMP_TRY(schedule_->run());
  } while (go_on());
  return status_;
}

void Check::start(Schedule::Listener& listener) {
  stage_ = Stage::kSignatures;
  status_ = {};
  listener_ = &listener;
  started_ = core::Site::current != nullptr ? *core::Site::current : core::Site{name_, address_};
  for (Buffer& buffer : sends_) buffer.fingerprint = datatype::fingerprint(buffer.data);
  for (Buffer& buffer : receives_) {
    buffer.fingerprint = datatype::fingerprint(buffer.data);
    datatype::copy(stand_in(buffer.data), buffer.data, 0, buffer.data.bytes());
  }
  was_given_ = false;
  prepare();
  schedule_->start(listener);
}

bool Check::advance() {
  while (schedule_->advance()) {
    if (const base::Status done = schedule_->status(); !done.ok()) {
      status_ = done;
      return true;
    }
    if (!go_on()) return true;
    prepare();
    schedule_->start(*listener_);
  }
  return false;
}

/// Writes the schedule of a stage.
void Check::prepare() {
  const Schedule::Aside aside{tags_ + static_cast<int>(stage_)};
  switch (stage_) {
    case Stage::kSignatures:
      schedule_.emplace(comm_, aside);
      alltoall(*schedule_, bytes_of(mine_), bytes_of(theirs_));
      break;
    case Stage::kAgreement:
      schedule_.emplace(comm_, aside, largest());
      allreduce(*schedule_, one_int(differs_), one_int(any_differs_));
      break;
    case Stage::kFindings:
      schedule_.emplace(comm_, aside);
      allgather(*schedule_, bytes_at(&finding_, sizeof finding_), bytes_of(findings_));
  }
}

/// A stage is over. True: there is another one.
bool Check::go_on() {
  switch (stage_) {
    case Stage::kSignatures:
      compare();
      stage_ = Stage::kAgreement;
      return true;
    case Stage::kAgreement:
      // A difference from a rank of the remote group is known there too, so findings of that group suffice.
      if (any_differs_ == 0) return false;
      stage_ = Stage::kFindings;
      return true;
    case Stage::kFindings:
      conclude();
  }
  return false;
}

void Check::compare() {
  finding_ = {};
  for (int peer = 0; peer < static_cast<int>(mine_.size()) && finding_.peer < 0; ++peer) {
    const auto i = static_cast<std::size_t>(peer);
    Difference found = difference({mine_[i], comm_.rank}, {theirs_[i], peer}, comm_.is_inter());
    if (found == Difference::kNone) continue;
    const bool is_about_edges = are_edges_ && (found == Difference::kAmount || found == Difference::kType);
    if (is_about_edges) found = Difference::kEdges;
    finding_.peer = peer;
    finding_.difference = found;
    const std::string words = own_words(peer);
    std::copy_n(words.data(), std::min(words.size(), finding_.words.size() - 1), finding_.words.data());
  }
  differs_ = finding_.peer < 0 ? 0 : 1;
}

/// The lowest rank that has found something speaks for all; of an intercommunicator, that of the remote
/// group. The first one that it differs from has found the same: a lower one would differ from a lower one,
/// too.
void Check::conclude() {
  const auto first =
      std::ranges::find_if(findings_, [](const Finding& finding) { return finding.peer >= 0; });
  if (first == findings_.end()) return;
  status_ = base::fail_with_text(class_of(first->difference),
                                 message(static_cast<int>(first - findings_.begin()), *first));
}

}  // namespace clump::coll
