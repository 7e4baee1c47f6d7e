// SPDX-License-Identifier: Apache-2.0
// The loops of basis/grid_kernels.hpp, written once, compiled for every instruction set and every window.
#include "bandgp/basis/grid_kernels.hpp"

#include "bandgp/simd/vec.hpp"

namespace bandgp::BANDGP_ISA_NAMESPACE {
namespace {

/// Loops over a window are unrolled for the windows that are used most; `fixed` is their number of vectors,
/// or 0 for any number, known at run time.
template <int fixed>
constexpr unsigned kRoom = fixed > 0 ? unsigned{fixed} : unsigned{kMostVectors};

/// Eight points at once: for each, the eight values peak·r^{−4 … 3} and the factors r^{8v + 4 − 4·vectors}
/// that carry them to the v-th vector of the window.
template <int fixed>
struct Eight {
  alignas(64) double near[64];
  alignas(64) double carry[kRoom<fixed>][8];

  BANDGP_INLINE Eight(int number, const Column& log_peak, const Column& log_ratio) {
    const int vectors = fixed > 0 ? fixed : number;
    const Column peak = exp(log_peak), r = exp(log_ratio), s = exp(Column::zero() - log_ratio);
    const Column r2 = r * r, s2 = s * s, r4 = r2 * r2, s4 = s2 * s2;
    alignas(64) double by_power[64];
    (peak * s4).store(by_power);
    (peak * (s2 * s)).store(by_power + 8);
    (peak * s2).store(by_power + 16);
    (peak * s).store(by_power + 24);
    peak.store(by_power + 32);
    (peak * r).store(by_power + 40);
    (peak * r2).store(by_power + 48);
    (peak * (r2 * r)).store(by_power + 56);
    transpose(by_power, near);
    // Outward from the middle: an even number of vectors starts half a vector off it.
    const Column r8 = r4 * r4, s8 = s4 * s4;
    Column up = vectors % 2 == 0 ? r4 : Column::all(1.0), down = vectors % 2 == 0 ? s4 : s8;
    BANDGP_UNROLL for (int v = vectors / 2; v < vectors; ++v) {
      up.store(carry[v]);
      up = up * r8;
    }
    BANDGP_UNROLL for (int v = vectors / 2 - 1; v >= 0; --v) {
      down.store(carry[v]);
      down = down * s8;
    }
  }

  /// The v-th vector of the t-th point's window.
  BANDGP_INLINE Column window(int t, int v, const double* table) const {
    return Column::load(near + 8 * t) * Column::all(carry[v][t]) * Column::load(table + 8 * v);
  }
};

template <int fixed>
BANDGP_INLINE Eight<fixed> eight_points(const GridPoints& points, Index i) {
  const Column delta = Column::load_unaligned(points.offset + i);
  return Eight<fixed>(points.vectors, (-points.g) * (delta * delta), (2 * points.g) * delta);
}

void locate(const double* x, PointRange range, double spacing, double* node, double* offset) {
  const Column inverse = Column::all(1 / spacing), h = Column::all(spacing);
  for (Index i = range.begin; i < range.end; i += 8) {
    const Column at = Column::load_unaligned(x + i);
    const Column j = nearest(at * inverse);
    j.store_unaligned(node + i);
    (neg_mul_add(j, h, at) * inverse).store_unaligned(offset + i);
  }
}

/// carry · weight for eight points: what is left to multiply a vector of the window by.
template <int fixed>
struct Weighted {
  alignas(64) double carry[kRoom<fixed>][8];
  BANDGP_INLINE Weighted(const Eight<fixed>& eight, int vectors, const double* weight) {
    const Column w = Column::load_unaligned(weight);
    BANDGP_UNROLL for (int v = 0; v < vectors; ++v)(Column::load(eight.carry[v]) * w).store(carry[v]);
  }
};

template <int fixed>
void spread(const GridPoints& points, PointRange range, int columns, const double* const* weight,
            double* const* out) {
  const int vectors = fixed > 0 ? fixed : points.vectors;
  for (Index i = range.begin; i < range.end; i += 8) {
    const Eight<fixed> eight = eight_points<fixed>(points, i);
    for (int c = 0; c < columns; ++c) {
      const Weighted<fixed> weighted(eight, vectors, weight[c] + i);
      for (int t0 = 0, t1 = 0; t0 < 8; t0 = t1) {  // runs of points that share a window
        const Index first = points.first[i + t0];
        while (t1 < 8 && points.first[i + t1] == first) ++t1;
        double* to = out[c] + first;
        Column sum[kRoom<fixed>];
        BANDGP_UNROLL for (int v = 0; v < vectors; ++v) sum[v] = Column::zero();
        for (int t = t0; t < t1; ++t) {
          const Column near = Column::load(eight.near + 8 * t);
          BANDGP_UNROLL for (int v = 0; v < vectors; ++v) {
            sum[v] = mul_add(near, Column::all(weighted.carry[v][t]), sum[v]);
          }
        }
        BANDGP_UNROLL for (int v = 0; v < vectors; ++v) {
          mul_add(sum[v], Column::load(points.table + 8 * v), Column::load_unaligned(to + 8 * v))
              .store_unaligned(to + 8 * v);
        }
      }
    }
  }
}

/// The sums over the lanes of eight vectors, in one vector.
BANDGP_INLINE Column sums_of_lanes(const double* eight) {
  alignas(64) double by_lane[64];
  transpose(eight, by_lane);
  Column total = Column::load(by_lane);
  BANDGP_UNROLL for (int r = 1; r < 8; ++r) total = total + Column::load(by_lane + 8 * r);
  return total;
}

template <int fixed, bool slope>
BANDGP_INLINE void gather_any(const GridPoints& points, PointRange range, int columns, const double* const* w,
                              double* const* out) {
  const int vectors = fixed > 0 ? fixed : points.vectors;
  alignas(64) double partial[64];
  for (Index i = range.begin; i < range.end; i += 8) {
    const Eight<fixed> eight = eight_points<fixed>(points, i);
    for (int c = 0; c < columns; ++c) {
      for (int t = 0; t < 8; ++t) {
        const double* from = w[c] + points.first[i + t];
        Column sum = Column::zero();
        BANDGP_UNROLL for (int v = 0; v < vectors; ++v) {
          Column value = Column::load(points.table + 8 * v) * Column::load_unaligned(from + 8 * v);
          if constexpr (slope) {
            const Column lag = (points.offset[i + t] - (8.0 * v - 4.0 * vectors)) - Column::iota();
            value = value * mul_add(lag, (2 * points.g) * lag, Column::all(-0.5));
          }
          sum = mul_add(value, Column::all(eight.carry[v][t]), sum);
        }
        (sum * Column::load(eight.near + 8 * t)).store(partial + 8 * t);
      }
      sums_of_lanes(partial).store_unaligned(out[c] + i);
    }
  }
}

template <int fixed>
void gather(const GridPoints& points, PointRange range, int columns, const double* const* w,
            double* const* out) {
  gather_any<fixed, false>(points, range, columns, w, out);
}
template <int fixed>
void gather_slope(const GridPoints& points, PointRange range, const double* w, double* out) {
  gather_any<fixed, true>(points, range, 1, &w, &out);
}

template <int fixed>
void windows(const GridPoints& points, PointRange range, double* out) {
  const int vectors = fixed > 0 ? fixed : points.vectors;
  for (Index i = range.begin; i < range.end; i += 8) {
    const Eight<fixed> eight = eight_points<fixed>(points, i);
    for (int t = 0; t < 8; ++t) {
      BANDGP_UNROLL for (int v = 0; v < vectors; ++v) {
        eight.window(t, v, points.table).store_unaligned(out + 8 * vectors * (i + t) + 8 * v);
      }
    }
  }
}

template <int fixed>
void half_sums(const HalfGridPoints& half, PointRange range, const double* weight, double* h0, double* h2) {
  const GridPoints& points = half.points;
  const int vectors = fixed > 0 ? fixed : half.vectors;
  alignas(64) double step[8], offset[8];
  for (Index i = range.begin; i < range.end; i += 8) {
    const Column twice = 2.0 * Column::load_unaligned(points.offset + i);
    const Column kappa = nearest(twice), epsilon = twice - kappa;
    kappa.store(step);
    epsilon.store(offset);
    const Eight<fixed> eight(vectors, (-0.5 * points.g) * (epsilon * epsilon), points.g * epsilon);
    const Weighted<fixed> weighted(eight, vectors, weight + i);
    // J is at half node 2(first + 4·vectors of the nodes); the window begins 4·vectors before J's half node +
    // κ.
    const auto begin = [&](int t) {
      return 2 * (points.first[i + t] + 4 * points.vectors) + static_cast<Index>(step[t]) - 4 * vectors;
    };
    for (int t0 = 0, t1 = 0; t0 < 8; t0 = t1) {
      const Index first = begin(t0);
      while (t1 < 8 && begin(t1) == first) ++t1;
      Column sum0[kRoom<fixed>], sum2[kRoom<fixed>];
      BANDGP_UNROLL for (int v = 0; v < vectors; ++v) sum0[v] = sum2[v] = Column::zero();
      for (int t = t0; t < t1; ++t) {
        const Column near = Column::load(eight.near + 8 * t);
        BANDGP_UNROLL for (int v = 0; v < vectors; ++v) {
          const Column value = near * Column::all(weighted.carry[v][t]);
          const Column lag = (offset[t] - (8.0 * v - 4.0 * vectors)) - Column::iota();
          sum0[v] = sum0[v] + value;
          sum2[v] = mul_add(value, lag * lag, sum2[v]);
        }
      }
      const auto add = [&](const Column* sum, double* to) {
        BANDGP_UNROLL for (int v = 0; v < vectors; ++v) {
          mul_add(sum[v], Column::load(half.table + 8 * v), Column::load_unaligned(to + 8 * v))
              .store_unaligned(to + 8 * v);
        }
      };
      add(sum0, h0 + first);
      if (h2 != nullptr) add(sum2, h2 + first);
    }
  }
}

void fill_gram(const double* lags, const double* h0, Index row, Index from, double* out) {
  for (Index c = from; c < row + 8; ++c) {
    (Column::load_unaligned(lags + (row - c)) * Column::load_unaligned(h0 + (row + c)))
        .store(out + 8 * (c - from));
  }
}

void contract_gram(const double* s, const GridKernels::Contraction& with, Index row, Index column,
                   const double* row_first, double* sums) {
  Column total[3] = {Column::zero(), Column::zero(), Column::zero()};
  const Column first = Column::load_unaligned(row_first);
  for (Index c = column; c < column + 8; ++c) {
    Column w = where_le(first, static_cast<double>(c), Column::load(s + 8 * (c - column)));
    if (row == column) w = where_ge(Column::iota(), static_cast<double>(c - column + 1), w);
    BANDGP_UNROLL for (int t = 0; t < 3; ++t) {
      const Column q =
          Column::load_unaligned(with.lags[t] + (row - c)) * Column::load_unaligned(with.half[t] + (row + c));
      total[t] = mul_add(w, q, total[t]);
    }
  }
  for (int t = 0; t < 3; ++t) sums[t] += total[t].sum();
}

/// Calls name<vectors> for the windows that are used most, name<0> for the others; without wide registers
/// there is nothing to gain from the former.
#if HWY_MAX_BYTES >= 32
#define BANDGP_FOR_WINDOW(name, number, ...) \
  switch (number) {                          \
    case 3:                                  \
      return name<3>(__VA_ARGS__);           \
    case 4:                                  \
      return name<4>(__VA_ARGS__);           \
    case 5:                                  \
      return name<5>(__VA_ARGS__);           \
    case 6:                                  \
      return name<6>(__VA_ARGS__);           \
    default:                                 \
      return name<0>(__VA_ARGS__);           \
  }
#else
#define BANDGP_FOR_WINDOW(name, number, ...) \
  static_cast<void>(number);                 \
  name<0>(__VA_ARGS__);
#endif

void any_spread(const GridPoints& points, PointRange range, int columns, const double* const* weight,
                double* const* out) {
  BANDGP_FOR_WINDOW(spread, points.vectors, points, range, columns, weight, out)
}
void any_gather(const GridPoints& points, PointRange range, int columns, const double* const* w,
                double* const* out) {
  BANDGP_FOR_WINDOW(gather, points.vectors, points, range, columns, w, out)
}
void any_gather_slope(const GridPoints& points, PointRange range, const double* w, double* out) {
  BANDGP_FOR_WINDOW(gather_slope, points.vectors, points, range, w, out)
}
void any_windows(const GridPoints& points, PointRange range, double* out) {
  BANDGP_FOR_WINDOW(windows, points.vectors, points, range, out)
}
void any_half_sums(const HalfGridPoints& points, PointRange range, const double* weight, double* h0,
                   double* h2) {
  BANDGP_FOR_WINDOW(half_sums, points.vectors, points, range, weight, h0, h2)
}
#undef BANDGP_FOR_WINDOW

}  // namespace

const GridKernels grid_kernels = {locate,      any_spread,    any_gather, any_gather_slope,
                                  any_windows, any_half_sums, fill_gram,  contract_gram};

}  // namespace bandgp::BANDGP_ISA_NAMESPACE
