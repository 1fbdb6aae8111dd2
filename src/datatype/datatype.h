// Datatypes: which bytes of a buffer a message consists of (MPI-5.0 chapter 5).
//
// A Datatype is immutable once made (but for its name and the committed flag), and reference counted: the
// handle that the user holds and the types built from it each hold a Ref, and so does every operation that
// outlives the call which started it. So MPI_Type_free never pulls a type from under a pending message.
// Everything here may be called from any thread, never blocks, and reads a Datatype without locks.
//
// Three words: the *packed bytes* of a layout are its data bytes in the order of the type map, numbered from
// 0; the *program* of a type (program.h) finds them in memory; its *basic elements* are the predefined types
// in its type map.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ref.h"
#include "base/status.h"
#include "base/types.h"
#include "datatype/program.h"

namespace clump::datatype {

class Datatype;

/// A shared, reference-counted datatype. Predefined types are never freed.
using Ref = base::Ref<const Datatype>;

/// `count` elements of `type` at `base`: the bytes of a message, where they lie. Does not own anything.
struct Layout {
  void* base = nullptr;
  Count count = 0;
  const Datatype* type = nullptr;

  inline Count bytes() const;  ///< packed size: count * type->size()
};

/// Copies the packed bytes [offset, offset + bytes) of `from` to the same places of `to`, without packing in
/// between. Both layouts must hold that many bytes and must not overlap. Different parts of one pair may be
/// copied by different threads at the same time. Allocates only if a type has more than a dozen nested levels
/// that cannot be merged.
void copy(const Layout& to, const Layout& from, Count offset, Count bytes);
/// The packed bytes [offset, offset + out.size()) of `from`.
void pack(std::span<std::byte> out, const Layout& from, Count offset);
/// The reverse.
void unpack(const Layout& to, Count offset, std::span<const std::byte> in);

/// What a basic type is, for operations (MPI-5.0 section 6.9.2) and for comparing signatures.
enum class Class : std::uint8_t {
  kDerived,
  kInteger,
  kUnsigned,
  kFortranInteger,
  kFloating,
  kComplex,
  kLogical,
  kByte,
  kMultiLanguage,  ///< MPI_AINT, MPI_OFFSET, MPI_COUNT
  kPair,           ///< value and index, for MPI_MINLOC and MPI_MAXLOC
  kCharacter,
  kPacked,
};

/// The sequence of basic elements of a type map, condensed. Two types with different signatures never match
/// (MPI-5.0 section 3.3.1); equal signatures mean, but for a collision of 64-bit hashes, the same sequence of
/// kinds and sizes.
struct Signature {
  Count elements = 0;      ///< basic elements; a value-index pair counts as two
  std::uint64_t hash = 0;  ///< a polynomial over the sequence, so it can be joined and repeated
  bool packed = false;     ///< there is MPI_PACKED in it, which matches whatever was packed

  friend bool operator==(const Signature&, const Signature&) = default;
  Signature then(const Signature& next) const;
  Signature times(Count count) const;
};

/// How a type was made, for MPI_Type_get_envelope and MPI_Type_get_contents (MPI-5.0 section 5.1.13).
struct Recipe {
  int combiner = MPI_COMBINER_NAMED;
  bool large = false;            ///< made by a procedure with large counts (_c)
  std::vector<Count> arguments;  ///< the numbers of the call in its order, arrays in full
  Count addresses = 0;  ///< so many at the end of `arguments` are MPI_Aint in the procedure with int counts
  std::vector<Ref> components;
};

/// The lower and upper ends of a type, in bytes from the buffer's address (MPI-5.0 sections 5.1.6 to 5.1.8).
struct Bounds {
  Count lb = 0, ub = 0;
  Count true_lb = 0, true_ub = 0;
  bool marked = false;  ///< lb and ub were set by hand (resized, subarray), so nothing is added for alignment
};

class Datatype final : public base::RefCounted {
 public:
  /// All that a type consists of. The constructors of derived types (derive.h) and the table of predefined
  /// ones fill it in.
  struct Parts {
    Program program;
    Bounds bounds;
    Count alignment = 1;
    Signature signature;
    Recipe recipe;
    Class kind = Class::kDerived;
    const Datatype* element =
        nullptr;  ///< the only basic type in it; null for a mixture (and for predefined types: itself)
    std::intptr_t handle = 0;         ///< the ABI's value, predefined types only
    const Datatype* value = nullptr;  ///< the parts of a value-index pair
    const Datatype* index = nullptr;
    std::string name;  ///< the standard's, predefined types only
  };
  explicit Datatype(Parts parts);
  ~Datatype() override;

  Count size() const { return parts_.program.root().bytes; }
  Count lb() const { return parts_.bounds.lb; }
  Count extent() const { return parts_.bounds.ub - parts_.bounds.lb; }
  Count true_lb() const { return parts_.bounds.true_lb; }
  Count true_extent() const { return parts_.bounds.true_ub - parts_.bounds.true_lb; }
  const Bounds& bounds() const { return parts_.bounds; }
  Count alignment() const { return parts_.alignment; }
  /// n elements are one solid block of n * size() bytes at the buffer's address: copying is memcpy.
  bool is_dense() const { return dense_; }

  const Signature& signature() const { return parts_.signature; }
  /// Complete basic elements in the first `bytes` packed bytes of any number of elements (MPI_Get_elements);
  /// -1 if `bytes` ends inside one.
  Count elements_in(Count bytes) const;
  /// The reverse: packed bytes of the first `elements` basic elements (MPI_Status_set_elements); 0 if the
  /// type has none.
  Count bytes_of_elements(Count elements) const;

  /// The signature of the first `elements` basic elements of any number of elements.
  Signature signature_of(Count elements) const;

  bool is_predefined() const { return parts_.handle != 0; }
  /// One element is one value: predefined types, and the unnamed ones of MPI_Type_create_f90_real and its
  /// kin.
  bool is_basic() const { return parts_.kind != Class::kDerived; }
  /// The ABI's handle value of a predefined type; 0 for others.
  std::intptr_t handle_value() const { return parts_.handle; }
  Class kind() const { return parts_.kind; }
  /// The basic type when there is only one kind in the type map (a predefined type's is itself); null
  /// otherwise.
  const Datatype* element() const { return parts_.element; }

  /// The predefined types in a value-index pair; null for others.
  const Datatype* value() const { return parts_.value; }
  const Datatype* index() const { return parts_.index; }

  const Recipe& recipe() const { return parts_.recipe; }
  const Node& root() const { return parts_.program.root(); }

  bool committed() const { return committed_.load(std::memory_order_relaxed); }
  /// The program exists from the start, so this only allows communication.
  void commit() const { committed_.store(true, std::memory_order_relaxed); }

  /// The name set last, or the standard's for a predefined type; empty otherwise.
  std::string name() const;
  void set_name(std::string name) const;
  /// For messages: the name, or what it was made of, e.g. "a vector of MPI_DOUBLE".
  std::string description() const;

 private:
  Parts parts_;
  bool dense_;
  mutable std::atomic<bool> committed_;
  mutable std::string name_;  ///< guarded by a lock in datatype.cc
};

Count Layout::bytes() const { return type == nullptr ? 0 : count * type->size(); }

/// `count` elements of a layout from element `first` on.
inline Layout part(const Layout& whole, Count first, Count count) {
  return {reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(whole.base) + first * whole.type->extent()),
          count, whole.type};
}

namespace detail {
inline constexpr std::uintptr_t kFirstHandle = 0x200, kEndHandle = 0x300;  // of the ABI's datatypes
/// Filled while the library is loaded, and never emptied: ranks may communicate while the process ends.
extern constinit std::array<const Datatype*, kEndHandle - kFirstHandle> predefined_types;
}  // namespace detail

/// The predefined type of a handle of the ABI; null if it is MPI_DATATYPE_NULL or no such handle.
inline const Datatype* predefined(MPI_Datatype handle) {
  const std::uintptr_t index = reinterpret_cast<std::uintptr_t>(handle) - detail::kFirstHandle;
  return index < detail::predefined_types.size() ? detail::predefined_types[index] : nullptr;
}

/// A type that behaves as the predefined type `like`, but tells another origin (MPI-5.0 section 19.1.9: types
/// chosen by precision and range). It is committed.
Ref make_unnamed(const Datatype& like, Recipe recipe);

/// The C struct of two predefined types, for MPI_MINLOC and MPI_MAXLOC (MPI-5.0 section 6.9.4). It is
/// committed.
Ref make_pair(const Datatype& value, const Datatype& index);

}  // namespace clump::datatype
