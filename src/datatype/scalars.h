// Floating-point types that compilers have under different names, or not at all.
#pragma once

namespace clump::datatype {

// GCC before 13 knows _Float16 in C++ on x86 only, though it tells its limits everywhere.
#if defined(__FLT16_MAX__) && (defined(__x86_64__) || defined(__clang__) || __GNUC__ >= 13)
#define CLUMP_HAS_HALF 1
using Half = _Float16;
#endif

// IEEE 754 binary128.
#if __LDBL_MANT_DIG__ == 113
#define CLUMP_HAS_QUAD 1
using Quad = long double;
#elif defined(__SIZEOF_FLOAT128__)
#define CLUMP_HAS_QUAD 1
using Quad = __float128;
#endif

}  // namespace clump::datatype
