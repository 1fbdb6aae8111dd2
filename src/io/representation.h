// Representations of data in a file (MPI-5.0 section 14.5): "native", "internal", "external32", and those
// that the program registers.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/ref.h"
#include "base/status.h"
#include "datatype/datatype.h"

namespace clump::core {
class Rank;
}

namespace clump::io {

class Representation final : public base::RefCounted {
 public:
  enum class Kind : std::uint8_t { kNative, kExternal32, kUsers };
  /// Functions of the program. Of the two forms of a conversion function one is null; both, where data is not
  /// to be converted in this direction.
  struct Functions {
    MPI_Datarep_conversion_function* read = nullptr;
    MPI_Datarep_conversion_function_c* read_c = nullptr;
    MPI_Datarep_conversion_function* write = nullptr;
    MPI_Datarep_conversion_function_c* write_c = nullptr;
    MPI_Datarep_extent_function* extent = nullptr;
    void* extra_state = nullptr;
  };

  Representation(std::string name, Kind kind) : name(std::move(name)), kind(kind), functions() {}
  Representation(std::string name, const Functions& functions)
      : name(std::move(name)), kind(Kind::kUsers), functions(functions) {}

  const std::string name;
  const Kind kind;
  const Functions functions;

  bool converts() const { return kind != Kind::kNative; }
  /// The functions of the program run on threads of its rank alone.
  bool is_users() const { return kind == Kind::kUsers; }

  /// `type` as data of it lies in a file: basic elements have the representation's sizes.
  base::Status in_file(const datatype::Datatype& type, datatype::Ref& result) const;
  /// Bytes of `count` elements of `type` in a file, one after the other.
  base::Status bytes_in_file(const datatype::Datatype& type, Count count, Count& bytes) const;
  /// Elements of a type as they lie in a file, one after the other.
  struct InFile {
    std::byte* bytes;
    Count size;
    Count element_bytes;  ///< bytes_in_file() of one
  };
  /// Converts all of `from`, to as many elements in the file.
  base::Status write(const InFile& out, const datatype::Layout& from, core::Rank& rank) const;
  /// Converts what there is of `to`, up to the last basic element that is complete. `native`: its packed
  /// bytes.
  base::Status read(const datatype::Layout& to, const InFile& in, core::Rank& rank, Count& native) const;

 private:
  /// A function of the program in one of its two forms; null: there is none.
  struct Conversion {
    const char* what;  ///< for messages
    MPI_Datarep_conversion_function* small;
    MPI_Datarep_conversion_function_c* large;
    bool is_there() const { return small != nullptr || large != nullptr; }
  };
  base::Status convert(const Conversion& conversion, const datatype::Layout& users, const InFile& file,
                       Count basics, core::Rank& rank) const;
  base::Status check_equal(const datatype::Datatype& type, Count element_bytes) const;
  base::Status basic_bytes(const datatype::Datatype& basic, Count& bytes) const;
  base::Status rebuild(const datatype::Datatype& type, datatype::Ref& result) const;
};

/// The representations that a program has registered since its rank has begun to use MPI; the predefined ones
/// are always found. Any thread of a rank.
class Representations {
 public:
  /// Null if there is none of this name.
  base::Ref<const Representation> find(const std::string& name) const;
  /// MPI_ERR_DUP_DATAREP if there is one of this name.
  base::Status add(base::Ref<const Representation> representation);

  /// Ends those that the program has registered, when its rank no longer uses MPI. Open files keep theirs.
  void forget();

  /// Those of a rank. The list lives as long as the process.
  static Representations& of(const core::Rank& rank);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, base::Ref<const Representation>> registered_;
};

}  // namespace clump::io
