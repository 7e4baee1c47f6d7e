// SPDX-License-Identifier: Apache-2.0
// Memory for panels: 64-byte aligned (one cache line, one AVX-512 vector), not initialised, grown but never
// shrunk.
#pragma once
#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "bandgp/base/index.hpp"

namespace bandgp {

/// To be given back by std::free().  Large pieces ask for huge pages: a band is streamed through, and walking
/// 4-kB page tables cost 30 % of a Cholesky at k = 16 (bench: cholesky/k:16).
inline void* allocate_aligned(std::size_t bytes) {
  constexpr Index kHuge = Index{2} << 20;
  const auto size = static_cast<Index>(bytes);
  const Index alignment = size >= 2 * kHuge ? kHuge : 64;
  const auto rounded = static_cast<std::size_t>(round_up(size, alignment));
  void* raw = std::aligned_alloc(static_cast<std::size_t>(alignment), rounded);
  if (raw == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (alignment == kHuge) madvise(raw, rounded, MADV_HUGEPAGE);
#endif
  return raw;
}

/// A buffer of doubles that is reused from one evaluation to the next.  Contents are undefined after
/// reserve().
class AlignedBuffer {
 public:
  /// Makes room for `count` doubles; allocates only when that is more than ever before.
  void reserve(Index count) {
    if (count <= capacity_) return;
    data_.reset();  // first give back, then take: the peak is one buffer, not two
    capacity_ = 0;
    data_.reset(static_cast<double*>(allocate_aligned(static_cast<std::size_t>(count) * sizeof(double))));
    capacity_ = count;
  }
  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  Index capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(double* p) const { std::free(p); }
  };
  std::unique_ptr<double, Free> data_;
  Index capacity_ = 0;
};

}  // namespace bandgp
