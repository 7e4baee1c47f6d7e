// SPDX-License-Identifier: Apache-2.0
// The vectorised sums of Gaussians against the obvious loops in long double, for every instruction set and
// window.
#include <gtest/gtest.h>

#include <cmath>

#include "bandgp/base/aligned.hpp"
#include "bandgp/basis/gaussian_grid.hpp"
#include "support/close.hpp"
#include "support/isa.hpp"
#include "support/random.hpp"

namespace {

using namespace bandgp;
using support::Random;
using Real = long double;

struct Setting {
  GridDesign design;
  std::vector<double> time;  // padded
  Index n = 0;
  std::vector<double> weight;
};

Setting random_setting(Random& random, int vectors) {
  Setting s;
  s.n = random.integer(1, 60);
  const double h = random.log_uniform(0.01, 10), ratio = random.uniform(0.15, 0.5);
  double t = random.uniform(-100, 100) * h;
  for (Index i = 0; i < s.n; ++i) {
    s.time.push_back(t);
    t += h * (random.chance(0.1) ? random.uniform(5, 300) : random.log_uniform(1e-3, 5));
    s.weight.push_back(random.normal());
  }
  while (s.time.size() % 8 != 0) {
    s.time.push_back(s.time.back() + 1);
    s.weight.push_back(0);
  }
  s.design = {.spacing = h,
              .vectors = vectors,
              .half_vectors = static_cast<int>(random.integer(1, std::min(kMostVectors, 2 * vectors - 1))),
              .cut = 4.0 * vectors - 0.5,
              .bandwidth = random.integer(1, 8 * vectors),
              .g = ratio * ratio,
              .amplitude = random.log_uniform(0.1, 10)};
  return s;
}

/// Where node number j lies, from the runs alone.
Real position(const GaussianGrid& grid, Index j) {
  for (const GaussianGrid::Run& run : grid.runs()) {
    const auto length = static_cast<Index>(run.end - run.begin);
    if (j < run.number + length) return static_cast<Real>(run.begin) + static_cast<Real>(j - run.number);
  }
  return NAN;
}

TEST(Grid, sums_over_windows_are_the_sums_over_all_nodes_in_them) {
  Random random(31);
  for (int trial = 0; trial < 240; ++trial) {
    const int vectors = 1 + trial % kMostVectors;
    const Setting s = random_setting(random, vectors);
    support::for_each_isa([&] {
      GaussianGrid grid;
      grid.place(s.design, s.time.data(), s.n);
      const Index m = grid.nodes(), padded = static_cast<Index>(s.time.size()), half = grid.half_nodes();
      const PointRange all{0, padded};
      const GridKernels& kernels = grid_kernels();
      std::vector<double> spread(static_cast<std::size_t>(m)), w(spread.size()), gathered(s.time.size()),
          slope(s.time.size()), h0(static_cast<std::size_t>(half)), h2(h0.size());
      for (double& value : w) value = random.normal();
      const double *weights[] = {s.weight.data(), s.weight.data()}, *nodes[] = {w.data(), w.data()};
      std::vector<double> twice(spread.size()), again(s.time.size());
      double *sums[] = {spread.data(), twice.data()}, *values[] = {gathered.data(), again.data()};
      kernels.spread(grid.points(), all, 2, weights, sums);
      EXPECT_EQ(spread, twice);
      kernels.gather(grid.points(), all, 2, nodes, values);
      EXPECT_EQ(gathered, again);
      kernels.gather_slope(grid.points(), all, w.data(), slope.data());
      kernels.half_sums(grid.half_points(), all, s.weight.data(), h0.data(), h2.data());
      std::vector<Real> spread_truth(spread.size()), h0_truth(h0.size()), h2_truth(h0.size()),
          size(spread.size()), half_size(h0.size());
      const Real h = s.design.spacing, g = s.design.g, amplitude = s.design.amplitude;
      for (Index i = 0; i < s.n; ++i) {
        const Real at = s.time[static_cast<std::size_t>(i)] / h;
        // The place on the grid carries the rounding of x/h: relative to a step, and then to the exponent.
        const Real blur = 1e-15L * (std::abs(at) + 1) * g * 16 * vectors + 64 * support::u;
        const Index first = grid.points().first[i];
        Real sum = 0, by_slope = 0, bound = 0;
        for (Index j = first; j < first + 8 * vectors; ++j) {
          const Real lag = at - position(grid, j), phi = amplitude * std::exp(-g * lag * lag);
          const auto node = static_cast<std::size_t>(j);
          spread_truth[node] += s.weight[static_cast<std::size_t>(i)] * phi;
          size[node] += std::abs(s.weight[static_cast<std::size_t>(i)]) * phi * blur;
          sum += phi * w[node];
          by_slope += phi * (-0.5L + 2 * g * lag * lag) * w[node];
          bound += phi * (1 + 2 * g * lag * lag) * std::abs(w[node]) * blur;
        }
        EXPECT_CLOSE(gathered[static_cast<std::size_t>(i)], sum, bound);
        EXPECT_CLOSE(slope[static_cast<std::size_t>(i)], by_slope, 4 * bound + 1e-15L * amplitude);
        const Real offset = grid.points().offset[i];
        const Index begin = 2 * (first + 4 * vectors) +
                            static_cast<Index>(std::nearbyint(2 * static_cast<double>(offset))) -
                            4 * s.design.half_vectors;
        for (Index v = begin; v < begin + 8 * s.design.half_vectors; ++v) {
          const Real lag =
              2 * (at - position(grid, first)) - static_cast<Real>(v - 2 * first);  // in half steps
          const Real value = s.weight[static_cast<std::size_t>(i)] * std::exp(-g * lag * lag / 2);
          h0_truth[static_cast<std::size_t>(v)] += value;
          h2_truth[static_cast<std::size_t>(v)] += value * lag * lag;
          half_size[static_cast<std::size_t>(v)] += std::abs(value) * (1 + lag * lag) * blur;
        }
      }
      for (std::size_t j = 0; j < spread.size(); ++j)
        EXPECT_CLOSE(spread[j], spread_truth[j], size[j] + 1e-300L);
      for (std::size_t v = 0; v < h0.size(); ++v) {
        EXPECT_CLOSE(h0[v], h0_truth[v], half_size[v] + 1e-300L);
        EXPECT_CLOSE(h2[v], h2_truth[v], 4 * half_size[v] + 1e-300L);
      }
      const std::span<const double> points(s.time.data(), static_cast<std::size_t>(s.n));
      const GaussianGrid::Windows windows = grid.windows_at(points);
      for (Index i = 0; i < s.n; ++i) {
        const Real at = s.time[static_cast<std::size_t>(i)] / h;
        const Real blur = 1e-15L * (std::abs(at) + 1) * g * 16 * vectors + 64 * support::u;
        for (Index p = 0; p < 8 * vectors; ++p) {
          const Real lag = at - (windows.begin[static_cast<std::size_t>(i)] + static_cast<Real>(p));
          const Real phi = amplitude * std::exp(-g * lag * lag);
          EXPECT_CLOSE(windows.value[static_cast<std::size_t>(8 * vectors * i + p)], phi, phi * blur);
        }
      }
    });
    if (HasFailure()) return;
  }
}

TEST(Grid, gaps_start_runs_and_every_window_lies_in_one) {
  Random random(32);
  for (int trial = 0; trial < 200; ++trial) {
    const Setting s = random_setting(random, static_cast<int>(random.integer(1, 6)));
    GaussianGrid grid;
    grid.place(s.design, s.time.data(), s.n);
    Index nodes = 0;
    double before = -INFINITY;
    for (const GaussianGrid::Run& run : grid.runs()) {
      EXPECT_EQ(run.number, nodes);
      EXPECT_GT(run.begin - before, static_cast<double>(s.design.bandwidth));
      nodes += static_cast<Index>(run.end - run.begin);
      before = run.end;
    }
    EXPECT_EQ(grid.nodes(), nodes);
    for (Index i = 0; i < s.n; ++i) {
      const Index first = grid.points().first[i];
      EXPECT_TRUE(0 <= first && first + 8 * s.design.vectors <= nodes);
      EXPECT_EQ(static_cast<double>(position(grid, first + 8 * s.design.vectors - 1) - position(grid, first)),
                8.0 * s.design.vectors - 1);
    }
  }
}

}  // namespace
