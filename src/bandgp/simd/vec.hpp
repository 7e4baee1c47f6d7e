// SPDX-License-Identifier: Apache-2.0
// One column of a panel, 8 doubles, in registers: 1 AVX-512 vector, 2 AVX2 vectors or 4 portable pairs.
// Only files compiled per instruction set (*.isa.cpp) include this.  Highway supplies the vectors.
#pragma once
#include <hwy/highway.h>

// Every symbol of a per-instruction-set file lives in its own namespace, so that no copy of an inline
// function compiled for AVX-512 can be picked by the linker for a machine without it (tests/layout checks the
// objects).
#define BANDGP_CAT_(a, b) a##b
#define BANDGP_CAT(a, b) BANDGP_CAT_(a, b)
#define BANDGP_ISA_NAMESPACE BANDGP_CAT(isa_, BANDGP_ISA)
#define BANDGP_INLINE __attribute__((always_inline)) inline
// Tiles live in registers only when the loops over them are unrolled; the portable fallback has no such
// registers, and unrolled scalars only make compilers (clang with sanitizers: minutes) and code slow.
#if HWY_MAX_BYTES >= 32
#define BANDGP_UNROLL _Pragma("GCC unroll 16")
#else
#define BANDGP_UNROLL
#endif

namespace bandgp::BANDGP_ISA_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<double, 8>;
using V = hn::Vec<Tag>;
constexpr Tag tag;
constexpr std::size_t kLanes = hn::MaxLanes(tag);
constexpr std::size_t kParts = 8 / kLanes;
static_assert(kParts * kLanes == 8);
#if defined(__AVX512F__)
static_assert(kLanes == 8, "Highway did not choose AVX-512: a flag it asks for is missing (cmake/isa.cmake)");
#elif defined(__AVX2__)
static_assert(kLanes == 4, "Highway did not choose AVX2: a flag it asks for is missing (cmake/isa.cmake)");
#endif

/// Eight doubles with the arithmetic of the micro-kernels; a value type that lives in registers.
struct Column {
  using Real = double;
  static constexpr std::ptrdiff_t kWidth = 8, kRegisters = kParts;
  V part[kParts];

  static BANDGP_INLINE Column load(const double* p) {
    Column c;
    BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) c.part[i] = hn::Load(tag, p + i * kLanes);
    return c;
  }
  static BANDGP_INLINE Column load_unaligned(const double* p) {
    Column c;
    BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) c.part[i] = hn::LoadU(tag, p + i * kLanes);
    return c;
  }
  static BANDGP_INLINE Column all(double x) {
    Column c;
    BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) c.part[i] = hn::Set(tag, x);
    return c;
  }
  /// 0, 1, …, 7
  static BANDGP_INLINE Column iota() {
    Column c;
    BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) c.part[i] =
        hn::Iota(tag, static_cast<double>(i * kLanes));
    return c;
  }
  static BANDGP_INLINE Column zero() { return all(0.0); }
  BANDGP_INLINE void store(double* p) const {
    BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) hn::Store(part[i], tag, p + i * kLanes);
  }
  BANDGP_INLINE void store_unaligned(double* p) const {
    BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) hn::StoreU(part[i], tag, p + i * kLanes);
  }
  /// to ← fromᵀ for 8×8 blocks, the first 64-byte aligned, the second with its columns so far apart.
  static BANDGP_INLINE void transpose_block(const double* from, double* to, std::ptrdiff_t stride);
  BANDGP_INLINE double sum() const {
    V s = part[0];
    BANDGP_UNROLL for (std::size_t i = 1; i < kParts; ++i) s = hn::Add(s, part[i]);
    return hn::GetLane(hn::SumOfLanes(tag, s));
  }
  BANDGP_INLINE double largest() const {
    V s = part[0];
    BANDGP_UNROLL for (std::size_t i = 1; i < kParts; ++i) s = hn::Max(s, part[i]);
    return hn::GetLane(hn::MaxOfLanes(tag, s));
  }
};

#define BANDGP_LANEWISE(name, expression)                                                                \
  BANDGP_INLINE Column name(const Column& a, const Column& b) {                                          \
    Column r;                                                                                            \
    BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) r.part[i] = expression(a.part[i], b.part[i]); \
    return r;                                                                                            \
  }
BANDGP_LANEWISE(operator+, hn::Add)
BANDGP_LANEWISE(operator-, hn::Sub)
BANDGP_LANEWISE(operator*, hn::Mul)
BANDGP_LANEWISE(operator/, hn::Div)
BANDGP_LANEWISE(max, hn::Max)
BANDGP_LANEWISE(min, hn::Min)
#undef BANDGP_LANEWISE

BANDGP_INLINE Column operator*(double a, const Column& b) { return Column::all(a) * b; }
BANDGP_INLINE Column operator+(double a, const Column& b) { return Column::all(a) + b; }
BANDGP_INLINE Column operator-(double a, const Column& b) { return Column::all(a) - b; }

/// a·b + c, a·b − c and c − a·b, each with one rounding.
BANDGP_INLINE Column mul_sub(const Column& a, const Column& b, const Column& c) {
  Column r;
  BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) r.part[i] =
      hn::MulSub(a.part[i], b.part[i], c.part[i]);
  return r;
}
BANDGP_INLINE Column mul_add(const Column& a, const Column& b, const Column& c) {
  Column r;
  BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) r.part[i] =
      hn::MulAdd(a.part[i], b.part[i], c.part[i]);
  return r;
}
BANDGP_INLINE Column neg_mul_add(const Column& a, const Column& b, const Column& c) {
  Column r;
  BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) r.part[i] =
      hn::NegMulAdd(a.part[i], b.part[i], c.part[i]);
  return r;
}
BANDGP_INLINE Column sqrt(const Column& a) {
  Column r;
  BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) r.part[i] = hn::Sqrt(a.part[i]);
  return r;
}
BANDGP_INLINE Column abs(const Column& a) {
  Column r;
  BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) r.part[i] = hn::Abs(a.part[i]);
  return r;
}
/// The nearest integers, for |a| < 2⁵¹.
BANDGP_INLINE Column nearest(const Column& a) {
  const Column shift = Column::all(6755399441055744.0);  // 1.5·2⁵²
  return (a + shift) - shift;
}
/// a where key ≤ bound, else b, lane by lane.
BANDGP_INLINE Column select_le(const Column& key, double bound, const Column& a, const Column& b) {
  Column r;
  BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) {
    r.part[i] = hn::IfThenElse(hn::Le(key.part[i], hn::Set(tag, bound)), a.part[i], b.part[i]);
  }
  return r;
}
/// value where key ≤ bound (or ≥), else 0, lane by lane.
BANDGP_INLINE Column where_le(const Column& key, double bound, const Column& value) {
  Column r;
  BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) {
    r.part[i] = hn::IfThenElseZero(hn::Le(key.part[i], hn::Set(tag, bound)), value.part[i]);
  }
  return r;
}
BANDGP_INLINE Column where_ge(const Column& key, double bound, const Column& value) {
  Column r;
  BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) {
    r.part[i] = hn::IfThenElseZero(hn::Ge(key.part[i], hn::Set(tag, bound)), value.part[i]);
  }
  return r;
}
/// e^a = 2^j (1 + remainder) for −708 ≤ a ≤ 0, |remainder| ≤ √2 − 1: a = j ln 2 + r and remainder = r q(r)
/// with q of degree 10 interpolating (e^r − 1)/r at the Chebyshev nodes of |r| ≤ ½ ln 2 (error 1e-17).
struct ExpParts {
  V rounded;  // its low bits are j
  V remainder;
};
BANDGP_INLINE ExpParts exp_parts(V x) {
  const V shift = hn::Set(tag, 6755399441055744.0);  // 1.5·2^52 rounds to integers
  const V rounded = hn::MulAdd(x, hn::Set(tag, 1.4426950408889634), shift);
  const V j = hn::Sub(rounded, shift);
  V r = hn::NegMulAdd(j, hn::Set(tag, 6.93147180369123816490e-01),
                      x);  // ln 2 in two parts, the first with 21 zeros
  r = hn::NegMulAdd(j, hn::Set(tag, 1.90821492927058770002e-10), r);
  const V r2 = hn::Mul(r, r);
  V even = hn::Set(tag, 2.5105217004720745e-08), odd = hn::Set(tag, 2.7626371065696354e-07);
  even = hn::MulAdd(even, r2, hn::Set(tag, 2.7557255400206422e-06));
  odd = hn::MulAdd(odd, r2, hn::Set(tag, 2.480150431378554e-05));
  even = hn::MulAdd(even, r2, hn::Set(tag, 0.00019841269874820627));
  odd = hn::MulAdd(odd, r2, hn::Set(tag, 0.001388888893251478));
  even = hn::MulAdd(even, r2, hn::Set(tag, 0.008333333333326136));
  odd = hn::MulAdd(odd, r2, hn::Set(tag, 0.041666666666573066));
  even = hn::MulAdd(even, r2, hn::Set(tag, 0.1666666666666667));
  odd = hn::MulAdd(odd, r2, hn::Set(tag, 0.5000000000000006));
  even = hn::MulAdd(even, r2, hn::Set(tag, 1.0));
  return {rounded, hn::Mul(hn::MulAdd(odd, r, even), r)};
}
/// x · 2^j: shifted into the exponent, the low bits of `rounded` add to it.
BANDGP_INLINE V scale_by_power(V x, V rounded) {
  const hn::RebindToUnsigned<Tag> bits;
  const auto exponent = hn::ShiftLeft<52>(hn::BitCast(bits, rounded));
  return hn::BitCast(tag, hn::Add(hn::BitCast(bits, x), exponent));
}

/// e^a for a ≤ 0, relative error ≤ 2 ulp; 0 below −708, so that no result is denormal.  Highway's own Exp
/// also serves positive and denormal results; a covariance costs 6.7 ns for eight entries instead of 8.8
/// without that (docs/decisions/001-instruction-sets.md).
BANDGP_INLINE Column exp(const Column& a) {
  Column result;
  BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) {
    const V least = hn::Set(tag, -708.0), one = hn::Set(tag, 1.0);
    const ExpParts parts = exp_parts(hn::Max(a.part[i], least));
    const V scaled = scale_by_power(hn::Add(parts.remainder, one), parts.rounded);
    result.part[i] = hn::IfThenElseZero(hn::Ge(a.part[i], least), scaled);
  }
  return result;
}
/// e^a − 1 for a ≤ 0, relative error ≤ 4 ulp: 2^j·remainder + (2^j − 1).  The second part is 0 for j = 0; for
/// j < 0 the sum keeps more than half of its larger part.
BANDGP_INLINE Column expm1(const Column& a) {
  Column result;
  BANDGP_UNROLL for (std::size_t i = 0; i < kParts; ++i) {
    const V one = hn::Set(tag, 1.0);
    const ExpParts parts = exp_parts(hn::Max(a.part[i], hn::Set(tag, -40.0)));  // e^{−40} is below rounding
    const V power = scale_by_power(one, parts.rounded);
    result.part[i] = hn::MulAdd(power, parts.remainder, hn::Sub(power, one));
  }
  return result;
}

/// to ← fromᵀ for 8×8 blocks stored by columns, `from` 64-byte aligned, the columns of `to` this far apart.
BANDGP_INLINE void transpose(const double* from, double* to, std::ptrdiff_t stride = 8) {
#if HWY_MAX_BYTES >= 64  // pairs of lanes, then 4×4 blocks of 128 bits
  V pair[8], half[8];
  BANDGP_UNROLL for (int c = 0; c < 8; c += 2) {
    const V even = hn::Load(tag, from + 8 * c), odd = hn::Load(tag, from + 8 * (c + 1));
    pair[c / 2] = hn::InterleaveLower(tag, even, odd);      // rows 0, 2, 4, 6 of columns c, c+1
    pair[4 + c / 2] = hn::InterleaveUpper(tag, even, odd);  // rows 1, 3, 5, 7
  }
  BANDGP_UNROLL for (int s = 0; s < 8; s += 4) {
    BANDGP_UNROLL for (int i = 0; i < 2; ++i) {
      half[s + i] = hn::ConcatLowerLower(tag, pair[s + i + 2], pair[s + i]);
      half[s + 2 + i] = hn::ConcatUpperUpper(tag, pair[s + i + 2], pair[s + i]);
    }
    BANDGP_UNROLL for (int u = 0; u < 2; ++u) {
      const V a = half[s + 2 * u], b = half[s + 2 * u + 1];
      hn::StoreU(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a), tag, to + stride * (4 * u + s / 4));
      hn::StoreU(hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)), tag, to + stride * (4 * u + 2 + s / 4));
    }
  }
#else
  BANDGP_UNROLL for (int r = 0; r < 8; ++r) {
    for (int c = 0; c < 8; ++c) to[stride * r + c] = from[8 * c + r];
  }
#endif
}

BANDGP_INLINE void Column::transpose_block(const double* from, double* to, std::ptrdiff_t stride) {
  transpose(from, to, stride);
}

/// a·b + c and c − a·b; one rounding each where the instruction set has it.
BANDGP_INLINE double mul_add(double a, double b, double c) {
#ifdef __FMA__
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}
BANDGP_INLINE double neg_mul_add(double a, double b, double c) {
#ifdef __FMA__
  return __builtin_fma(-a, b, c);
#else
  return c - a * b;
#endif
}

}  // namespace bandgp::BANDGP_ISA_NAMESPACE
