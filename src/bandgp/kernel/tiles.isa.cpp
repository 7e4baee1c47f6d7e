// SPDX-License-Identifier: Apache-2.0
// The loops of kernel/tiles.hpp, written once, compiled for every instruction set, instantiated for every
// shape.
#include "bandgp/kernel/tile_tables.hpp"
#include "bandgp/simd/vec.hpp"

namespace bandgp::BANDGP_ISA_NAMESPACE {
namespace {

/// A shape with a tail is 0 (or below e^{−708}) from 10⁴ on; a longer lag would only make ∞·0 of its slope.
template <class Shape>
BANDGP_INLINE Column scaled_lag(const Column& rows, double column, const Column& inverse_lengthscale) {
  const Column lag = abs(rows - Column::all(column)) * inverse_lengthscale;
  if constexpr (HasTail<Shape>) return min(lag, Column::all(1e4));
  return lag;
}

template <class Shape>
void fill(const double* rows, const double* columns, Index count, double variance, double inverse_lengthscale,
          bool add, double* out) {
  const Column x = Column::load_unaligned(rows), scale = Column::all(inverse_lengthscale);
  for (Index c = 0; c < count; ++c) {
    const Column value = variance * Shape::at(scaled_lag<Shape>(x, columns[c], scale)).value;
    (add ? value + Column::load(out + 8 * c) : value).store(out + 8 * c);
  }
}

template <class Shape>
void contract(const double* rows, const double* columns, Index count, double inverse_lengthscale,
              const double* weights, TileSums& sums) {
  const Column x = Column::load_unaligned(rows), scale = Column::all(inverse_lengthscale);
  Column by_value = Column::zero(), by_slope = Column::zero();
  for (Index c = 0; c < count; ++c) {
    const Column w = Column::load(weights + 8 * c);
    const ShapeValue<Column> s = Shape::at(scaled_lag<Shape>(x, columns[c], scale));
    by_value = mul_add(w, s.value, by_value);
    by_slope = mul_add(w, s.slope, by_slope);
  }
  sums.value += by_value.sum();
  sums.slope += by_slope.sum();
}

template <class Shape>
void tail(const double* rows, const double* columns, Index c0, Index count, double variance,
          double inverse_lengthscale, const double* weight, RowLimits limits, double* sums) {
  const Column x = Column::load_unaligned(rows), scale = Column::all(inverse_lengthscale);
  const Column first = Column::load_unaligned(limits.first), last = Column::load_unaligned(limits.last);
  Column total = Column::zero();
  for (Index c = 0; c < count; ++c) {
    const double index = static_cast<double>(c0 + c);
    const Column value = Shape::at(scaled_lag<Shape>(x, columns[c], scale)).value;
    const Column kept = where_le(first, index, where_ge(last, index, value));
    total = mul_add(Column::all(weight[c]), value - kept, total);
  }
  mul_add(total, Column::all(variance), Column::load_unaligned(sums)).store_unaligned(sums);
}

void clip(double* tile, Index c0, Index count, const double* row_first) {
  const Column first = Column::load_unaligned(row_first);
  for (Index c = 0; c < count; ++c) {
    where_le(first, static_cast<double>(c0 + c), Column::load(tile + 8 * c)).store(tile + 8 * c);
  }
}

void weights(const double* z, const double* alpha_rows, const double* alpha_columns, Index c0,
             const double* row_first, bool diagonal, double* out) {
  const Column alpha = Column::load_unaligned(alpha_rows), first = Column::load_unaligned(row_first);
  for (Index c = 0; c < 8; ++c) {
    Column w = neg_mul_add(alpha, Column::all(alpha_columns[c]), Column::load(z + 8 * c));
    w = where_le(first, static_cast<double>(c0 + c), w);
    if (diagonal) w = where_ge(Column::iota(), static_cast<double>(c + 1), w);
    w.store(out + 8 * c);
  }
}

template <class... Shapes>
constexpr TileKernels table(const std::variant<Shapes...>*) {
  return {{fill<Shapes>...}, {contract<Shapes>...}, {tail<Shapes>...}, clip, weights};
}

}  // namespace

extern const TileKernels tile_kernels;
const TileKernels tile_kernels = table(static_cast<const AnyShape*>(nullptr));

}  // namespace bandgp::BANDGP_ISA_NAMESPACE
