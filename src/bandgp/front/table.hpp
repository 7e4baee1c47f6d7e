// SPDX-License-Identifier: Apache-2.0
// Matrices of any precision for the loops of the front: row by row, aligned, grown but never shrunk.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bandgp/base/aligned.hpp"
#include "bandgp/base/index.hpp"

namespace bandgp::front {

template <class Real>
struct Aligned {
  using value_type = Real;
  Aligned() = default;
  template <class Other>
  explicit Aligned(const Aligned<Other>&) {}
  Real* allocate(std::size_t count) { return static_cast<Real*>(allocate_aligned(count * sizeof(Real))); }
  void deallocate(Real* p, std::size_t) { std::free(p); }
  friend bool operator==(const Aligned&, const Aligned&) { return true; }
};
template <class Real>
using Numbers = std::vector<Real, Aligned<Real>>;

/// Rows of `width` numbers.
template <class Real>
struct Table {
  Index rows = 0, width = 0;
  Numbers<Real> numbers;

  void resize(Index new_rows, Index new_width) {
    rows = new_rows;
    width = new_width;
    const auto size = static_cast<std::size_t>(rows * width);
    if (size > numbers.size()) numbers.resize(size);  // a vector that shrinks is filled when it grows again
  }
  void set_zero(Index new_rows, Index new_width) {
    resize(new_rows, new_width);
    std::fill_n(numbers.data(), rows * width, Real(0));
  }
  Real* data() { return numbers.data(); }
  const Real* data() const { return numbers.data(); }
  Real* operator[](Index row) { return numbers.data() + row * width; }
  const Real* operator[](Index row) const { return numbers.data() + row * width; }
};

/// Asks for numbers that are read soon.  What goes back along the series chunk by chunk, and forwards within
/// each, is not foreseen by processors, and waited for.
template <class Real>
void fetch(const Real* from, Index count) {
  constexpr Index kLine = 64 / static_cast<Index>(sizeof(Real));
  for (Index i = 0; i < count; i += kLine) {
    __builtin_prefetch(from + i);
    asm volatile("");  // GCC 12 takes a function of prefetches alone for one that does nothing
  }
}

/// Columns of numbers, `stride` apart.
template <class Real>
struct Columns {
  Real* data = nullptr;
  Index count = 0, stride = 0;
  Real* operator[](Index c) const { return data + c * stride; }
};

}  // namespace bandgp::front
