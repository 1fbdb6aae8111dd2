#include "inquiry.h"

#include <utility>

namespace clump::mpiexec {

void Inquiry::take(const pmi::AccountNote& note) {
  if (note.question != question_ && note.question != 0) return;
  answers_[note.process] += note.bytes;
  complete_ += static_cast<int>(note.is_last);
}

pmi::Account Inquiry::account() const {
  pmi::Account all;
  for (const auto& [process, bytes] : answers_)
    if (pmi::Account one; pmi::decode(bytes, one)) all.add(std::move(one));
  return all;
}

}  // namespace clump::mpiexec
