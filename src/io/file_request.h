// Requests of non-blocking access to files.
#pragma once

#include "core/request.h"
#include "io/file.h"

namespace clump::io {

/// Owned by its handle. Its access is carried out in the background, alone or as a part of a round.
class FileRequest final : public core::Request, public Part {
 public:
  FileRequest(base::Ref<File> file, core::Rank& rank, const datatype::Datatype& type)
      : file_(std::move(file)), rank_(rank) {
    if (!type.is_predefined()) this->type.fill(&type);
  }

  core::File* file() const override { return file_.get(); }
  /// What a file waits for is no rank.
  void tell(std::vector<core::Awaited>& /*all*/) const override {}
  /// An access cannot be taken back.
  base::Status cancel() override { return {}; }
  /// Completes the request. Any thread; the last access.
  void end() override {
    if (kind != Kind::kFile) finish();
    complete();
  }
  /// Functions of the program run here.
  void ask(bool /*keep*/) override {
    if (!finished_) finish();
  }

  Transaction transaction;

 private:
  void finish() {
    finished_ = true;
    base::Status outcome = Part::status;
    const base::Status converted = transaction.finish(rank_, done, result);
    if (outcome.ok()) outcome = converted;
    result.error = outcome.code();
  }

  bool finished_ = false;
  const base::Ref<File> file_;
  core::Rank& rank_;
};

}  // namespace clump::io
