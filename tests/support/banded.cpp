// SPDX-License-Identifier: Apache-2.0
#include "support/banded.hpp"

namespace support {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

First band_first(Index n, Index k) {
  First first(at(n));
  for (Index i = 0; i < n; ++i) first[at(i)] = std::max<Index>(0, i - k);
  return first;
}

First random_first(Random& random, Index n) {
  First first(at(n));
  const double calm = random.unit();
  for (Index i = 1; i < n; ++i) {
    const Index before = first[at(i - 1)];
    first[at(i)] = random.chance(calm)  ? before
                   : random.chance(0.1) ? i
                                        : std::min(i, before + random.integer(0, 5));
  }
  return first;
}

First wider_first(Random& random, const First& first) {
  First wider(first.size());
  Index least = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Index wish = std::max<Index>(0, first[i] - random.integer(0, 30));
    wider[i] = least = std::min(first[i], std::max(least, wish));
  }
  return wider;
}

bandgp::reference::Matrix well_conditioned(Random& random, const First& first) {
  bandgp::reference::Matrix a(first);
  std::vector<double> sums(first.size(), 1.0);
  for (Index i = 0; i < a.size(); ++i) {
    for (Index j = first[at(i)]; j < i; ++j) {
      a.set(i, j) = random.uniform(-1, 1);
      sums[at(i)] += std::abs(a.get(i, j));
      sums[at(j)] += std::abs(a.get(i, j));
    }
  }
  for (Index i = 0; i < a.size(); ++i) a.set(i, i) = sums[at(i)] * random.uniform(1, 2);
  return a;
}

bandgp::reference::Matrix badly_conditioned(Random& random, const First& first) {
  bandgp::reference::Matrix g(first), a(first);
  for (Index i = 0; i < g.size(); ++i) {
    for (Index j = first[at(i)]; j <= i; ++j) g.set(i, j) = random.uniform(-1, 1);
    g.set(i, i) = random.log_uniform(1e-3, 1);
  }
  std::vector<double> scale(first.size());
  for (double& s : scale) s = std::ldexp(1.0, static_cast<int>(random.integer(-20, 20)));
  for (Index i = 0; i < a.size(); ++i) {
    for (Index j = first[at(i)]; j <= i; ++j) {
      long double sum = 0;
      for (Index l = first[at(i)]; l <= j; ++l) sum += static_cast<long double>(g.get(i, l)) * g.get(j, l);
      if (i == j) sum *= 1 + 1e-10L * static_cast<long double>(a.size());
      a.set(i, j) = static_cast<double>(sum) * scale[at(i)] * scale[at(j)];
    }
  }
  return a;
}

void pack(const bandgp::reference::Matrix& a, bandgp::PanelBand& band) {
  constexpr Index kPanel = bandgp::simd::kPanel;
  const bandgp::Envelope& envelope = band.envelope();
  for (Index p = 0; p < envelope.panels(); ++p) {
    for (Index c = envelope.panel_first()[p]; c < kPanel * (p + 1); ++c) {
      for (Index r = 0; r < kPanel; ++r) {
        const Index i = kPanel * p + r;
        double value = i < c ? 7.25 : 0.0;
        if (i >= a.size()) value = i == c ? 1.0 : 0.0;
        if (i < a.size() && c <= i) value = a.get(i, c);
        band.column(p, c)[r] = value;
      }
    }
  }
}

bandgp::reference::Matrix unpack(bandgp::PanelBand& band) {
  First first(at(band.envelope().size()));
  for (Index i = 0; i < band.envelope().size(); ++i) first[at(i)] = band.envelope().first(i);
  bandgp::reference::Matrix a(first);
  for (Index i = 0; i < a.size(); ++i) {
    for (Index j = first[at(i)]; j <= i; ++j) a.set(i, j) = band(i, j);
  }
  return a;
}

}  // namespace support
