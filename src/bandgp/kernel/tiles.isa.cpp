// SPDX-License-Identifier: Apache-2.0
// The loops of kernel/tiles.hpp, written once, compiled for every instruction set, instantiated for every
// shape.
#include "bandgp/kernel/tile_tables.hpp"
#include "bandgp/simd/vec.hpp"

namespace bandgp::BANDGP_ISA_NAMESPACE {
namespace {

template <class Shape, class Factor>
void fill(const double* rows, const double* columns, Index count, const TermNumbers& term, bool add,
          double* out) {
  const Column x = Column::load_unaligned(rows);
  for (Index c = 0; c < count; ++c) {
    const Column lag = abs(x - Column::all(columns[c]));
    const Column value = term.variance * at_lag<Shape, Factor>(lag, term).value;
    (add ? value + Column::load(out + 8 * c) : value).store(out + 8 * c);
  }
}

template <class Shape, class Factor>
void contract(const double* rows, const double* columns, Index count, const TermNumbers& term,
              const double* weights, TileSums& sums) {
  constexpr bool kLength = has_parameter<Shape, Factor>(Quantity::lengthscale),
                 kPeriod = has_parameter<Shape, Factor>(Quantity::period),
                 kSmoothness = has_parameter<Shape, Factor>(Quantity::smoothness),
                 kQuality = has_parameter<Shape, Factor>(Quantity::quality);
  const Column x = Column::load_unaligned(rows);
  Column by_value = Column::zero(), by_length = Column::zero(), by_period = Column::zero(),
         by_smoothness = Column::zero(), by_quality = Column::zero();
  for (Index c = 0; c < count; ++c) {
    const Column w = Column::load(weights + 8 * c);
    const LagValue<Column> s = at_lag<Shape, Factor>(abs(x - Column::all(columns[c])), term);
    by_value = mul_add(w, s.value, by_value);
    if constexpr (kLength) by_length = mul_add(w, s.by_lengthscale, by_length);
    if constexpr (kPeriod) by_period = mul_add(w, s.by_period, by_period);
    if constexpr (kSmoothness) by_smoothness = mul_add(w, s.by_smoothness, by_smoothness);
    if constexpr (kQuality) by_quality = mul_add(w, s.by_quality, by_quality);
  }
  sums.by[static_cast<int>(Quantity::variance)] += by_value.sum();
  if constexpr (kLength) sums.by[static_cast<int>(Quantity::lengthscale)] += by_length.sum();
  if constexpr (kPeriod) sums.by[static_cast<int>(Quantity::period)] += by_period.sum();
  if constexpr (kSmoothness) sums.by[static_cast<int>(Quantity::smoothness)] += by_smoothness.sum();
  if constexpr (kQuality) sums.by[static_cast<int>(Quantity::quality)] += by_quality.sum();
}

template <class Shape>
void tail(const double* rows, const double* columns, Index c0, Index count, double variance,
          double inverse_lengthscale, const double* weight, RowLimits limits, double* sums) {
  const Column x = Column::load_unaligned(rows), scale = Column::all(inverse_lengthscale);
  const Column first = Column::load_unaligned(limits.first), last = Column::load_unaligned(limits.last);
  Column total = Column::zero();
  for (Index c = 0; c < count; ++c) {
    const double index = static_cast<double>(c0 + c);
    const Column r = min(abs(x - Column::all(columns[c])) * scale, Column::all(1e4));  // as at_lag() has it
    const Column value = Shape::at(r).value;
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

template <class Shape, class Factor>
constexpr bool kExists = TakesFactors<Shape> || Factor::parameters.empty();

template <class Shape, class... Factors>
constexpr void add_shape(TileKernels& table, std::size_t shape, const std::variant<Factors...>*) {
  std::size_t factor = 0;
  const auto add = [&]<class Factor>(const Factor*) {
    if constexpr (kExists<Shape, Factor>) {
      table.fill[shape][factor] = fill<Shape, Factor>;
      table.contract[shape][factor] = contract<Shape, Factor>;
    }
    ++factor;
  };
  (add(static_cast<const Factors*>(nullptr)), ...);
  if constexpr (HasTail<Shape>) table.tail[shape] = tail<Shape>;
}

template <class... Shapes>
constexpr TileKernels make_table(const std::variant<Shapes...>*) {
  TileKernels table{};
  std::size_t shape = 0;
  (add_shape<Shapes>(table, shape++, static_cast<const AnyFactor*>(nullptr)), ...);
  table.clip = clip;
  table.weights = weights;
  return table;
}

}  // namespace

extern const TileKernels tile_kernels;
constexpr TileKernels tile_kernels = make_table(static_cast<const AnyShape*>(nullptr));

}  // namespace bandgp::BANDGP_ISA_NAMESPACE
