#include "datatype/datatype.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace clump::datatype {
namespace {

constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15;  // odd, so no power of it is zero

std::uint64_t power(std::uint64_t base, Count exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

// Names change so rarely that all types share one lock.
std::mutex& name_mutex() {
  static std::mutex mutex;
  return mutex;
}

const char* combiner_word(int combiner) {
  switch (combiner) {
    case MPI_COMBINER_DUP:
      return "duplicate";
    case MPI_COMBINER_CONTIGUOUS:
      return "contiguous type";
    case MPI_COMBINER_VECTOR:
      return "vector";
    case MPI_COMBINER_HVECTOR:
      return "hvector";
    case MPI_COMBINER_INDEXED:
      return "indexed type";
    case MPI_COMBINER_HINDEXED:
      return "hindexed type";
    case MPI_COMBINER_INDEXED_BLOCK:
      return "indexed block type";
    case MPI_COMBINER_HINDEXED_BLOCK:
      return "hindexed block type";
    case MPI_COMBINER_STRUCT:
      return "struct";
    case MPI_COMBINER_SUBARRAY:
      return "subarray";
    case MPI_COMBINER_DARRAY:
      return "distributed array";
    case MPI_COMBINER_F90_REAL:
      return "Fortran real";
    case MPI_COMBINER_F90_COMPLEX:
      return "Fortran complex";
    case MPI_COMBINER_F90_INTEGER:
      return "Fortran integer";
    case MPI_COMBINER_RESIZED:
      return "resized type";
    case MPI_COMBINER_VALUE_INDEX:
      return "value-index pair";
    default:
      return "datatype";
  }
}

// What the type map of `type` repeats; null for structs, whose type map has different parts.
const Datatype* only_component(const Datatype& type) {
  return type.recipe().combiner == MPI_COMBINER_STRUCT ? nullptr : type.recipe().components.front().get();
}

}  // namespace

Signature Signature::then(const Signature& next) const {
  return {elements + next.elements, hash * power(kBase, next.elements) + next.hash, packed || next.packed};
}

// By doubling: what has been put in front so far, and the next power-of-two repetition.
Signature Signature::times(Count count) const {
  Signature result, doubled = *this;
  for (; count > 0; count >>= 1) {
    if (count & 1) result = doubled.then(result);
    doubled = doubled.then(doubled);
  }
  return result;
}

Datatype::Datatype(Parts parts)
    : parts_(std::move(parts)), committed_(parts_.handle != 0), name_(parts_.name) {
  if (is_basic() && parts_.element == nullptr) parts_.element = this;
  const Node& data = root();
  dense_ = data.kind == Node::Kind::kBlock && data.bytes == extent() && lb() == 0 &&
           (data.offset == 0 || data.bytes == 0);
}

Datatype::~Datatype() = default;

Ref make_unnamed(const Datatype& like, Recipe recipe) {
  Datatype::Parts parts;
  parts.program = Program(like.root());
  parts.bounds = like.bounds();
  parts.alignment = like.alignment();
  parts.signature = like.signature();
  parts.recipe = std::move(recipe);
  parts.kind = like.kind();
  parts.element = &like;
  Ref made(new Datatype(std::move(parts)));
  made->commit();
  return made;
}

Count Datatype::elements_in(Count bytes) const {
  if (size() == 0) return 0;
  const Count whole = bytes / size();
  const Count done = whole * parts_.signature.elements;
  Count rest = bytes % size();
  if (rest == 0) return done;
  if (is_basic()) {
    // Of the basic types only pairs have parts.
    return kind() == Class::kPair && rest == value()->size() ? done + 1 : -1;
  }
  if (const Datatype* component = only_component(*this)) {
    const Count inside = component->elements_in(rest);
    return inside < 0 ? -1 : done + inside;
  }
  Count counted = done;
  for (std::size_t i = 0; i < parts_.recipe.components.size(); ++i) {
    const Datatype& field = *parts_.recipe.components[i];
    const Count length = parts_.recipe.arguments[1 + i];
    if (rest <= length * field.size()) {
      const Count inside = field.elements_in(rest);
      return inside < 0 ? -1 : counted + inside;
    }
    rest -= length * field.size();
    counted += length * field.signature().elements;
  }
  return counted;
}

Count Datatype::bytes_of_elements(Count elements) const {
  const Count own = parts_.signature.elements;
  if (own == 0) return 0;
  const Count done = elements / own * size();
  Count rest = elements % own;
  if (rest == 0) return done;
  if (is_basic()) return done + value()->size();  // only pairs have more than one
  if (const Datatype* component = only_component(*this)) return done + component->bytes_of_elements(rest);
  Count counted = done;
  for (std::size_t i = 0; i < parts_.recipe.components.size(); ++i) {
    const Datatype& field = *parts_.recipe.components[i];
    const Count length = parts_.recipe.arguments[1 + i];
    const Count inside = length * field.signature().elements;
    if (rest <= inside) return counted + field.bytes_of_elements(rest);
    rest -= inside;
    counted += length * field.size();
  }
  return counted;
}

Signature Datatype::signature_of(Count elements) const {
  const Count own = parts_.signature.elements;
  if (own == 0) return {};
  const Signature done = parts_.signature.times(elements / own);
  Count rest = elements % own;
  if (rest == 0) return done;
  if (is_basic()) return done.then(value()->signature());  // only pairs have more than one
  if (const Datatype* component = only_component(*this)) return done.then(component->signature_of(rest));
  Signature counted = done;
  for (std::size_t i = 0; i < parts_.recipe.components.size() && rest > 0; ++i) {
    const Datatype& field = *parts_.recipe.components[i];
    const Count inside = std::min(rest, parts_.recipe.arguments[1 + i] * field.signature().elements);
    counted = counted.then(field.signature_of(inside));
    rest -= inside;
  }
  return counted;
}

std::string Datatype::name() const {
  const std::lock_guard lock(name_mutex());
  return name_;
}

void Datatype::set_name(std::string name) const {
  const std::lock_guard lock(name_mutex());
  name_ = std::move(name);
}

std::string Datatype::description() const {
  if (is_predefined()) return parts_.name;
  if (std::string given = name(); !given.empty()) return given;
  std::string text = std::string("a ") + combiner_word(parts_.recipe.combiner);
  if (parts_.element != nullptr && parts_.element != this) text += " of " + parts_.element->description();
  return text;
}

}  // namespace clump::datatype
