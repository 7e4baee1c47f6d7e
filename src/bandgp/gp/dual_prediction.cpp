// SPDX-License-Identifier: Apache-2.0
// What the dual says of test points, and of its own points without themselves; and its state, for the model
// file.
#include <algorithm>
#include <cmath>

#include "bandgp/gp/dual_representation.hpp"
#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

using simd::kBlock;
using simd::kPanel;

namespace {

/// Where M's largest entry exceeds this, variances are sums of squares: φᵀSφ from the entries of S cancels (2
/// % of a variance of 1e-11 at ‖M‖ = 1e11), but costs less where it does not.
constexpr double kForwardFrom = 1e6;
/// Test points whose windows are held at a time.
constexpr Index kTests = 4096;

}  // namespace

void DualRepresentation::cut_into_pieces(const GaussianGrid::Windows& windows, Index count,
                                         std::vector<Piece>& pieces, std::vector<double>& missing) const {
  pieces.clear();
  missing.assign(static_cast<std::size_t>(count), 0.0);
  for (Index t = 0; t < count; ++t) {
    const double* value = windows.value.data() + t * grid_.window();
    grid_.split_window(
        windows.begin[static_cast<std::size_t>(t)],
        [&](Index p, Index length, Index number) {
          pieces.push_back({t, number, length, value + p});
        },
        [&](Index p, Index length) {
          for (Index i = p; i < p + length; ++i) missing[static_cast<std::size_t>(t)] += value[i] * value[i];
        });
  }
}

/// φᵀSφ needs S for all pairs of nodes of a window: more than M's own band, so the inverse on a wider
/// envelope, of which a window at a time is held.
void DualRepresentation::start_variances() {
  if (largest_ > kForwardFrom) {
    forward_.start(natural(), largest_);
    return;
  }
  const Index wide = std::max(grid_.window() + 2 * kPanel, grid_.design().bandwidth);
  grid_.couple(wide, first_);
  wide_envelope_.keep(first_);
  wide_.shape_window(wide_envelope_);
  inversion_.start(natural(), wide_);
  done_ = envelope_.panels();
}

void DualRepresentation::quadratic_forms(const GaussianGrid::Windows& windows, Index count, double* out) {
  cut_into_pieces(windows, count, pieces_, missing_);
  std::copy(missing_.begin(), missing_.end(), out);
  const auto quadratic_form = simd::panel_kernels().quadratic_form;
  AlignedBuffer values;
  alignas(64) double form[kPanel];
  for (Index last = static_cast<Index>(pieces_.size()); last > 0;) {
    // Up to eight pieces that begin in the same panel go together.
    const auto piece = [&](Index i) -> const Piece& { return pieces_[static_cast<std::size_t>(i)]; };
    const Index panel = piece(last - 1).number / kPanel;
    Index first = last - 1, end = 0;
    while (first > 0 && last - first < kPanel && piece(first - 1).number / kPanel == panel) --first;
    for (Index i = first; i < last; ++i)
      end = std::max(end, (piece(i).number + piece(i).count + kPanel - 1) / kPanel);
    values.reserve(kBlock * (end - panel));
    std::fill_n(values.data(), kBlock * (end - panel), 0.0);
    for (Index i = first; i < last; ++i) {
      const Index at = piece(i).number - kPanel * panel;
      for (Index p = 0; p < piece(i).count; ++p)
        values.data()[kPanel * (at + p) + (i - first)] = piece(i).value[p];
    }
    if (largest_ > kForwardFrom) {
      forward_.clear(panel, end);
      for (Index i = kPanel * panel; i < kPanel * end; ++i) {
        for (Index c = 0; c < kPanel; ++c)
          forward_.column(c)[i] = values.data()[kPanel * (i - kPanel * panel) + c];
      }
      forward_.run(panel, end, form);
    } else {
      if (panel < done_) {
        inversion_.run({panel, done_});
        done_ = panel;
      }
      quadratic_form(wide_.panels(), panel, end, values.data(), form);
    }
    for (Index i = first; i < last; ++i) out[piece(i).test] += form[i - first];
    last = first;
  }
}

/// diag A⁻¹ = d⁻¹(1 − φᵀSφ/d).
void DualRepresentation::inverse_diagonal(std::span<double> out) {
  start_variances();
  const std::span<const double> x(points_->time(), out.size());
  const auto n = static_cast<Index>(out.size());
  for (Index begin = round_down(std::max<Index>(0, n - 1), kTests); begin >= 0; begin -= kTests) {
    const auto from = static_cast<std::size_t>(begin),
               count = static_cast<std::size_t>(std::min(kTests, n - begin));
    quadratic_forms(grid_.windows_at(x.subspan(from, count)), static_cast<Index>(count), out.data() + begin);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double precision = 1 / points_->noise()[i];
    out[i] = precision * (1 - precision * out[i]);
  }
}

/// mean φ*ᵀw, variance φ*ᵀSφ* (nodes that no data touch have S = I).
std::optional<Failure> DualRepresentation::predict(std::span<const double> x, unsigned terms,
                                                   RightHandSides solved, double* projection,
                                                   double* variance) {
  const auto count = static_cast<Index>(x.size());
  if ((terms & 1U) == 0) {
    std::fill_n(projection, count * solved.columns, 0.0);
    if (variance != nullptr) std::fill_n(variance, count, 0.0);
    return std::nullopt;
  }
  if (variance != nullptr) start_variances();
  for (Index begin = round_down(std::max<Index>(0, count - 1), kTests); begin >= 0; begin -= kTests) {
    const Index tests = std::min(kTests, count - begin);
    const GaussianGrid::Windows windows =
        grid_.windows_at(x.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(tests)));
    if (variance != nullptr) {
      quadratic_forms(windows, tests, variance + begin);
    } else {
      cut_into_pieces(windows, tests, pieces_, missing_);
    }
    for (Index c = 0; c < solved.columns; ++c) {
      const double* w = solved.data + c * solved.stride + behind();
      std::fill_n(projection + c * count + begin, tests, 0.0);
      for (const Piece& piece : pieces_) {
        double sum = 0;
        for (Index p = 0; p < piece.count; ++p) sum += piece.value[p] * w[piece.number + p];
        projection[c * count + begin + piece.test] += sum;
      }
    }
  }
  return std::nullopt;
}

/// Φ*SΦ*ᵀ, and Φ*Φ*ᵀ over the nodes that no data touch.
void DualRepresentation::covariance(std::span<const double> x, double* out) {
  const auto count = static_cast<Index>(x.size());
  const GaussianGrid::Windows windows = grid_.windows_at(x);
  cut_into_pieces(windows, count, pieces_, missing_);
  const Index nodes = padded_nodes(), wide = grid_.window();
  // Overlaps of windows over missing nodes: each window with its present nodes taken out.
  std::vector<double> absent = windows.value;
  for (const Piece& piece : pieces_) {
    const Index at = piece.value - windows.value.data();
    std::fill_n(absent.begin() + at, piece.count, 0.0);
  }
  AlignedBuffer solved;
  solved.reserve(nodes);
  std::size_t next = 0;
  for (Index t = 0; t < count; ++t) {
    std::fill_n(solved.data(), nodes, 0.0);
    for (; next < pieces_.size() && pieces_[next].test == t; ++next)
      std::copy_n(pieces_[next].value, pieces_[next].count, solved.data() + pieces_[next].number);
    solve(natural(), {solved.data(), 1, 0});
    for (Index s = 0; s < count; ++s) {
      const double shift =
          windows.begin[static_cast<std::size_t>(s)] - windows.begin[static_cast<std::size_t>(t)];
      double sum = 0;
      if (std::abs(shift) < static_cast<double>(wide)) {
        const auto by = static_cast<Index>(shift);
        for (Index p = std::max<Index>(0, -by); p < std::min(wide, wide - by); ++p)
          sum += absent[static_cast<std::size_t>(s * wide + p)] *
                 absent[static_cast<std::size_t>(t * wide + p + by)];
      }
      out[s * count + t] = sum;
    }
    for (const Piece& piece : pieces_) {
      double sum = 0;
      for (Index p = 0; p < piece.count; ++p) sum += piece.value[p] * solved.data()[piece.number + p];
      out[piece.test * count + t] += sum;
    }
  }
}

std::optional<DualState> DualRepresentation::state(RightHandSides solved) {
  PanelBand& factor = natural();
  DualState state;
  state.design = grid_.design();
  state.runs.assign(grid_.runs().begin(), grid_.runs().end());
  const Index m = grid_.nodes(), b = envelope_.bandwidth();
  state.factor.assign(static_cast<std::size_t>(m * (b + 1)), 0.0);
  for (Index j = 0; j < m; ++j) {
    for (Index l = envelope_.first(j); l <= j; ++l)
      state.factor[static_cast<std::size_t>(j * (b + 1) + l - j + b)] = factor(j, l);
  }
  state.inverse_diagonal.assign(factor.inverse_diagonal(), factor.inverse_diagonal() + m);
  for (Index c = 0; c < solved.columns; ++c) {
    const double* w = solved.data + c * solved.stride + behind();
    state.weights.insert(state.weights.end(), w, w + m);
  }
  state.largest = largest_;
  return state;
}

void DualRepresentation::restore(const DualState& state) {
  points_ = nullptr;
  grid_.restore(state.design, state.runs);
  grid_.couple(grid_.design().bandwidth, first_);
  envelope_.keep(first_);
  matrix_.shape(envelope_);
  std::fill_n(matrix_.column(0, 0), envelope_.doubles(), 0.0);
  std::fill_n(matrix_.inverse_diagonal(), envelope_.padded_size(), 1.0);
  const Index m = grid_.nodes(), b = envelope_.bandwidth();
  for (Index j = 0; j < envelope_.padded_size(); ++j) {
    if (j >= m) {
      matrix_(j, j) = 1;
      continue;
    }
    for (Index l = envelope_.first(j); l <= j; ++l)
      matrix_(j, l) = state.factor[static_cast<std::size_t>(j * (b + 1) + l - j + b)];
    matrix_.inverse_diagonal()[j] = state.inverse_diagonal[static_cast<std::size_t>(j)];
  }
  largest_ = state.largest;
  natural_ = true;
}

std::optional<Weights> DualRepresentation::weights() {
  return Weights{{{grid_.design(), {grid_.runs().begin(), grid_.runs().end()}, 0}}, grid_.nodes(), behind()};
}

/// L⁻ᵀz, M = LLᵀ.
void DualRepresentation::draw_weights(std::span<double> white, std::uint64_t) {
  PanelBand& factor = natural();
  AlignedBuffer column;
  column.reserve(factor.envelope().padded_size());
  std::fill_n(column.data(), factor.envelope().padded_size(), 0.0);
  std::ranges::copy(white, column.data());
  solve_upper(factor, factor.all(), {column.data(), 1, 0});
  std::copy_n(column.data(), white.size(), white.begin());
}

}  // namespace bandgp
