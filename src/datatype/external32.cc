#include "datatype/external32.h"
#include "datatype/scalars.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cstring>

namespace clump::datatype {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are turned around here");

// Of a long double of the x87; the rest is padding, which has no value.
constexpr std::size_t kExtendedBytes = 10;

// How a number looks inside and outside. Complex numbers are two of these.
struct Format {
  enum class Kind { kSameSize, kSignedCut, kUnsignedCut, kExtended };
  Kind kind = Kind::kSameSize;
  Count native = 1;
  Count external = 1;
  Count numbers = 1;  // in one element
};

Format format_of(const Datatype& basic) {
  const auto is = [&](MPI_Datatype handle) { return &basic == predefined(handle); };
  const Count numbers = basic.kind() == Class::kComplex ? 2 : 1;
  const Count size = basic.size() / numbers;
  if (is(MPI_LONG)) return {Format::Kind::kSignedCut, size, 4, 1};
  if (is(MPI_UNSIGNED_LONG)) return {Format::Kind::kUnsignedCut, size, 4, 1};
  if (is(MPI_WCHAR)) return {Format::Kind::kUnsignedCut, size, 2, 1};
  const bool extended =
      is(MPI_LONG_DOUBLE) || is(MPI_C_LONG_DOUBLE_COMPLEX) || is(MPI_CXX_LONG_DOUBLE_COMPLEX);
  if (extended && LDBL_MANT_DIG == 64) return {Format::Kind::kExtended, size, 16, numbers};
  return {Format::Kind::kSameSize, size, size, numbers};
}

// Calls visit(format, n) for the basic elements of `count` elements of `type`, in the order of the type map,
// rows of equal ones at once.
template <typename Visit>
void walk(const Datatype& type, Count count, Visit& visit) {
  if (count == 0 || type.size() == 0) return;
  const Datatype* element = type.element();
  if (element != nullptr && element->kind() != Class::kPair) {
    visit(format_of(*element), count * type.signature().elements);
  } else if (type.kind() == Class::kPair) {
    for (Count i = 0; i < count; ++i) {
      visit(format_of(*type.value()), 1);
      visit(format_of(*type.index()), 1);
    }
  } else if (type.recipe().combiner == MPI_COMBINER_STRUCT) {
    for (Count i = 0; i < count; ++i) {
      for (std::size_t field = 0; field < type.recipe().components.size(); ++field) {
        walk(*type.recipe().components[field], type.recipe().arguments[1 + field], visit);
      }
    }
  } else {
    const Datatype& component = *type.recipe().components.front();
    walk(component, count * (type.size() / component.size()), visit);
  }
}

void to_external(const Format& format, const std::byte* in, std::byte* out) {
  if (format.kind == Format::Kind::kExtended) {
    long double value;
    std::memcpy(&value, in, sizeof value);
    const auto wide = static_cast<Quad>(value);
    std::memcpy(out, &wide, sizeof wide);
  } else {
    std::copy_n(in, format.external, out);
  }
  std::reverse(out, out + format.external);
}

void to_native(const Format& format, const std::byte* in, std::byte* out) {
  std::array<std::byte, 16> number;
  std::reverse_copy(in, in + format.external, number.begin());
  if (format.kind == Format::Kind::kExtended) {
    Quad wide;
    std::memcpy(&wide, number.data(), sizeof wide);
    const auto value = static_cast<long double>(wide);
    std::memset(out, 0, static_cast<std::size_t>(format.native));
    std::memcpy(out, &value, kExtendedBytes);
    return;
  }
  const bool negative = format.kind == Format::Kind::kSignedCut &&
                        (number[format.external - 1] & std::byte{0x80}) != std::byte{0};
  std::copy_n(number.begin(), format.external, out);
  std::fill(out + format.external, out + format.native, negative ? std::byte{0xff} : std::byte{0});
}

// Native bytes on their way through: some numbers at a time.
constexpr Count kChunk = 4096;

}  // namespace

Count external32_bytes(const Datatype& type, Count count) {
  Count bytes = 0;
  const auto add = [&](const Format& format, Count elements) {
    bytes += elements * format.numbers * format.external;
  };
  walk(type, 1, add);
  return bytes * count;
}

void pack_external32(std::byte* out, const Layout& from) {
  std::array<std::byte, kChunk> chunk;
  Count offset = 0;
  const auto convert = [&](const Format& format, Count elements) {
    for (Count left = elements * format.numbers; left > 0;) {
      const Count count = std::min(left, kChunk / format.native);
      pack(std::span(chunk).first(static_cast<std::size_t>(count * format.native)), from, offset);
      for (Count i = 0; i < count; ++i, out += format.external)
        to_external(format, &chunk[i * format.native], out);
      offset += count * format.native;
      left -= count;
    }
  };
  walk(*from.type, from.count, convert);
}

Count unpack_external32(const Layout& to, const std::byte* in, Count bytes) {
  std::array<std::byte, kChunk> chunk;
  Count offset = 0;
  const auto convert = [&](const Format& format, Count elements) {
    const Count complete = std::min(elements, bytes / (format.numbers * format.external));
    bytes = complete < elements ? 0 : bytes - complete * format.numbers * format.external;
    for (Count left = complete * format.numbers; left > 0;) {
      const Count count = std::min(left, kChunk / format.native);
      for (Count i = 0; i < count; ++i, in += format.external)
        to_native(format, in, &chunk[i * format.native]);
      unpack(to, offset, std::span(chunk).first(static_cast<std::size_t>(count * format.native)));
      offset += count * format.native;
      left -= count;
    }
  };
  const Count of_one = external32_bytes(*to.type, 1);
  const Count begun = of_one == 0 ? 0 : std::min(to.count, (bytes + of_one - 1) / of_one);
  walk(*to.type, begun, convert);
  return offset;
}

void unpack_external32(const Layout& to, const std::byte* in) {
  static_cast<void>(unpack_external32(to, in, external32_bytes(*to.type, to.count)));
}

}  // namespace clump::datatype
