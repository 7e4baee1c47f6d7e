// SPDX-License-Identifier: Apache-2.0
#include "bandgp/band/envelope.hpp"

#include <algorithm>
#include <cassert>

namespace bandgp {

using simd::kPanel;

void Envelope::resize(Index n) {
  n_ = n;
  const auto panels = static_cast<std::size_t>(round_up(n, kPanel) / kPanel);
  row_first_.resize(panels * kPanel);
  panel_first_.resize(panels);
  panel_start_.resize(panels);
  panel_last_.resize(panels);
}

void Envelope::keep_band(Index n, Index k) {
  resize(n);
  for (Index i = 0; i < n; ++i)
    row_first_[static_cast<std::size_t>(i)] = static_cast<double>(std::max<Index>(0, i - k));
  lay_out();
}

void Envelope::keep_reach(std::span<const double> x, double reach) {
  resize(static_cast<Index>(x.size()));
  std::size_t j = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    while (x[i] - x[j] > reach) ++j;  // stops at j = i
    row_first_[i] = static_cast<double>(j);
  }
  lay_out();
}

void Envelope::keep(std::span<const Index> first) {
  resize(static_cast<Index>(first.size()));
  for (std::size_t i = 0; i < first.size(); ++i) {
    assert(0 <= first[i] && first[i] <= static_cast<Index>(i) && (i == 0 || first[i - 1] <= first[i]));
    row_first_[i] = static_cast<double>(first[i]);
  }
  lay_out();
}

void Envelope::lay_out() {
  bandwidth_ = 0;
  for (Index i = 0; i < n_; ++i) bandwidth_ = std::max(bandwidth_, i - first(i));
  for (Index i = n_; i < padded_size(); ++i) row_first_[static_cast<std::size_t>(i)] = static_cast<double>(i);
  doubles_ = widest_panel_ = 0;
  for (Index p = 0; p < panels(); ++p) {
    const Index from = round_down(first(kPanel * p), kPanel);
    panel_first_[static_cast<std::size_t>(p)] = from;
    panel_start_[static_cast<std::size_t>(p)] = doubles_ - kPanel * from;
    doubles_ += kPanel * (kPanel * (p + 1) - from);
    widest_panel_ = std::max(widest_panel_, p + 1 - from / kPanel);
  }
  window_ = 0;
  Index last = 0;
  for (Index j = 0; j < panels(); ++j) {
    while (last + 1 < panels() && panel_first_[static_cast<std::size_t>(last) + 1] <= kPanel * j) ++last;
    panel_last_[static_cast<std::size_t>(j)] = last;
    window_ = std::max(window_, last - j + 1);
  }
}

double Envelope::cholesky_work() const {
  double work = 0;
  for (Index p = 0; p < panels(); ++p) {
    const Index count = p + 1 - panel_first_[static_cast<std::size_t>(p)] / kPanel;
    const auto blocks = static_cast<double>(count);
    work += 0.5 * blocks * (blocks + 1) * kPanel * kPanel * kPanel;
  }
  return work;
}

}  // namespace bandgp
