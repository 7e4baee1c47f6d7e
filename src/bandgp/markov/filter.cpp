// SPDX-License-Identifier: Apache-2.0
#include "bandgp/markov/filter.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <ranges>

#include "bandgp/base/sum_of_logs.hpp"

namespace bandgp::markov {
namespace {

constexpr double kStart = std::numeric_limits<double>::infinity();  // the gap before the first point
/// Blocks that are handed to the other thread at a time: 0.1 ms of work, some ten times what waking it takes.
constexpr Index kHandedOver = 8;
/// Groups of blocks whose steps are held at a time: the one that is filtered, the one before and the one
/// after.
constexpr Index kHeld = 3;

void zero(AlignedBuffer& buffer, Index count) {
  buffer.reserve(count);
  std::fill_n(buffer.data(), count, 0.0);
}

}  // namespace

double Filter::bytes(Index n, Index states) {
  const auto N = static_cast<double>(states);
  return 8 * static_cast<double>(n) * (2 + N + N * (N - 1) / 2 + 2);
}

void Filter::prepare(const std::vector<StateTerm>& terms, const double* time, Index n) {
  terms_ = terms;
  layout_ = StateLayout(terms);
  loops_ = &loops_for(layout_);
  places_.clear();
  fields_ = 0;
  for (int t = 0; t < layout_.terms; ++t) {
    places_.push_back(&terms_[static_cast<std::size_t>(layout_.source[t])]);
    fields_ += step_fields(places_.back()->kind, places_.back()->states);
  }
  if (time != time_ || n != n_) {
    time_ = time;
    n_ = n;
    zero(gaps_, round_up(n, 8));
    gaps_.data()[0] = kStart;
    for (Index i = 1; i < n; ++i) gaps_.data()[i] = time[i] - time[i - 1];
  }
  const Index N = states();
  gain_.reserve(n * N);
  root_.reserve(round_up(n, 8));
  kept_.reserve(std::max<Index>(1, n * (N * (N - 1) / 2)));
  worker_.share(n >= kLeastShared);
  group_ = worker_.shares() ? kHandedOver : 1;
  steps_.reserve(kHeld * group_ * step_doubles());
  has_information_ = false;
  kept_columns_ = 0;
}

Block Filter::block(Index k, const double* steps) {
  const Index begin = block_begin(k), N = states();
  return {std::min(kBlock, n_ - begin),
          steps,
          noise_ + begin,
          gain_.data() + begin * N,
          root_.data() + begin,
          kept_.data() + begin * (N * (N - 1) / 2),
          places_.data(),
          k == 0};
}

double* Filter::carried(RightHandSides b, Index column, Index k) const {
  return b.data + column * b.stride + round_up(n_, 8) + k * states();
}

void Filter::make_steps(const double* gaps, Index count, double* out) const {
  const FilterKernels& kernels = filter_kernels();
  for (int t = 0; t < layout_.terms; ++t) {
    const StateTerm& term = *places_[static_cast<std::size_t>(t)];
    kernels.steps(term)(term, gaps, round_up(count, 8), out);
    out += step_fields(term.kind, term.states) * kBlock;
  }
}

void Filter::make_block_steps(Index k, double* out) const {
  make_steps(gaps_.data() + block_begin(k), std::min(kBlock, n_ - block_begin(k)), out);
}

void Filter::reduce_block(Index k, const double* steps, RightHandSides b) {
  const Index N = states();
  for (Index c = 0; c < b.columns; ++c) {
    double* mean = filtered_.data() + N * N + c * N;
    std::copy_n(mean, N, carried(b, c, k));
    loops_->reduce(layout_, block(k, steps), b.data + c * b.stride + block_begin(k), mean);
  }
}

double* Filter::held_steps(Index k) { return step_buffer(k % (kHeld * group_)); }

void Filter::make_group_steps(Index group) {
  for (const Index k : blocks_of(group)) make_block_steps(k, held_steps(k));
}

void Filter::reduce_group(Index group) {
  for (const Index k : blocks_of(group)) reduce_block(k, held_steps(k), task_columns_);
}

Index Filter::factor(const double* noise, RightHandSides b) {
  noise_ = noise;
  has_information_ = false;
  kept_columns_ = 0;
  zero(filtered_, states() * (states() + b.columns));
  task_columns_ = b;
  make_group_steps(0);
  for (Index group = 0; group < groups(); ++group) {
    worker_.start([this, group] {
      if (group + 1 < groups()) make_group_steps(group + 1);
      if (group > 0) reduce_group(group - 1);
    });
    Index failed = -1;
    for (const Index k : blocks_of(group)) {
      const Index in_block = loops_->covariances(layout_, block(k, held_steps(k)), filtered_.data());
      if (in_block >= 0) failed = block_begin(k) + in_block;
      if (failed >= 0) break;
    }
    worker_.wait();
    if (failed >= 0) return failed;
  }
  reduce_group(groups() - 1);
  return -1;
}

void Filter::reduce(RightHandSides b) {
  zero(filtered_, states() * (states() + b.columns));
  for (Index k = 0; k < blocks(); ++k) {
    make_block_steps(k, step_buffer(0));
    reduce_block(k, step_buffer(0), b);
  }
}

double Filter::log_determinant() const {
  long double sum = 0;
  for (Index k = 0; k < blocks(); ++k)
    sum -= 2 * sum_of_logs(root_.data() + block_begin(k), std::min(kBlock, n_ - block_begin(k)));
  return static_cast<double>(sum);
}

double Filter::condition() const {
  constexpr Index kLanes = 8;
  const double first = root_.data()[0];
  double low[kLanes], high[kLanes];
  std::fill_n(low, kLanes, first);
  std::fill_n(high, kLanes, first);
  const auto see = [&](Index lane, double root) {
    low[lane] = std::min(low[lane], root);
    high[lane] = std::max(high[lane], root);
  };
  const Index whole = n_ / kLanes * kLanes;
  for (Index i = 0; i < whole; i += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) see(lane, root_.data()[i + lane]);
  }
  for (Index i = whole; i < n_; ++i) see(0, root_.data()[i]);
  const double ratio = *std::max_element(high, high + kLanes) / *std::min_element(low, low + kLanes);
  return ratio * ratio;
}

void Filter::solve(RightHandSides b) {
  zero(r_, states() * b.columns);
  for (Index k = blocks() - 1; k >= 0; --k) {
    make_block_steps(k, step_buffer(0));
    for (Index c = 0; c < b.columns; ++c)
      loops_->solve(layout_, block(k, step_buffer(0)), b.data + c * b.stride + block_begin(k),
                    r_.data() + c * states(), nullptr);
  }
}

void Filter::solve_and_keep(RightHandSides b) {
  const Index N = states();
  kept_columns_ = b.columns;
  kept_means_.reserve(b.columns * n_ * N);
  kept_r_.reserve(b.columns * n_ * N);
  zero(r_, N * b.columns);
  std::vector<double> mean(static_cast<std::size_t>(N));
  for (Index k = blocks() - 1; k >= 0; --k) {
    make_block_steps(k, step_buffer(0));
    const Block here = block(k, step_buffer(0));
    for (Index c = 0; c < b.columns; ++c) {
      double* column = b.data + c * b.stride + block_begin(k);
      const Index at = (c * n_ + block_begin(k)) * N;
      std::copy_n(carried(b, c, k), N, mean.begin());
      loops_->replay(layout_, here, column, mean.data(), When::filtered, kept_means_.data() + at);
      loops_->solve(layout_, here, column, r_.data() + c * N, kept_r_.data() + at);
    }
  }
}

/// The information that later points have, and the diagonal of A⁻¹, of block k in one of the slots of two
/// groups.
void Filter::inform_block(Index k) {
  const Index N = states(), slot = k % (2 * group_), doubles = kBlock * (N * (N + 1) / 2 + 1);
  double* out = information_block_.data() + N * N + slot * doubles;
  make_block_steps(k, step_buffer(slot));
  loops_->information(layout_, block(k, step_buffer(slot)), information_block_.data(), out,
                      out + kBlock * (N * (N + 1) / 2));
}

void Filter::inform_group(Index group) {
  for (const Index k : std::views::reverse(blocks_of(group))) inform_block(k);
}

void Filter::contract_block(Index k, double& by_noise) {
  const Index N = states(), slot = k % (2 * group_), half = N * (N + 1) / 2, begin = block_begin(k);
  const double* information = information_block_.data() + N * N + slot * kBlock * (half + 1);
  const double* diagonal = information + kBlock * half;
  const Block here = block(k, step_buffer(slot));
  const RightHandSides b = task_columns_;
  for (Index c = 0; c < b.columns; ++c) {
    double* column = b.data + c * b.stride + begin;
    double* mean = mean_block_.data() + c * kBlock * N;
    loops_->replay(layout_, here, column, carried(b, c, k),
                   layout_.turns() ? When::before_step : When::predicted, mean);
    column_blocks_[static_cast<std::size_t>(c)] = {column, r_.data() + c * N, mean, column};
  }
  loops_->contract(layout_, here, information, column_blocks_.data(), b.columns, slopes_.data());
  double sums[8] = {};  // short chains
  for (Index i = 0; i < here.count; ++i) {
    double weight = diagonal[i];
    for (Index c = 0; c < b.columns; ++c) {
      const double solved = b.data[c * b.stride + begin + i];
      weight -= solved * solved;
    }
    sums[i % 8] += weight * noise_slope_[begin + i];
  }
  for (const double sum : sums) by_noise += 0.5 * sum;
}

double Filter::gradient(RightHandSides b, const double* noise_slope, std::span<TermSlopes> out) {
  const Index N = states();
  noise_slope_ = noise_slope;
  task_columns_ = b;
  zero(information_block_, N * N + 2 * group_ * kBlock * (N * (N + 1) / 2 + 1));
  mean_block_.reserve(b.columns * kBlock * N);
  zero(r_, N * b.columns);
  column_blocks_.resize(static_cast<std::size_t>(b.columns));
  slopes_.assign(static_cast<std::size_t>(layout_.terms), TermSlopes{});
  double by_noise = 0;
  inform_group(groups() - 1);
  for (Index group = groups() - 1; group >= 0; --group) {
    worker_.start([this, group] {
      if (group > 0) inform_group(group - 1);
    });
    for (const Index k : std::views::reverse(blocks_of(group))) contract_block(k, by_noise);
    worker_.wait();
  }
  for (int t = 0; t < layout_.terms; ++t)
    out[static_cast<std::size_t>(layout_.source[t])] = slopes_[static_cast<std::size_t>(t)];
  return by_noise;
}

void Filter::make_information() {
  if (has_information_) return;
  const Index N = states(), half = N * (N + 1) / 2;
  information_.reserve(n_ * half);
  diagonal_.reserve(round_up(n_, 8));
  std::vector<double> passed(static_cast<std::size_t>(N * N), 0.0);
  for (Index k = blocks() - 1; k >= 0; --k) {
    make_block_steps(k, step_buffer(0));
    loops_->information(layout_, block(k, step_buffer(0)), passed.data(),
                        information_.data() + block_begin(k) * half, diagonal_.data() + block_begin(k));
  }
  has_information_ = true;
}

void Filter::inverse_diagonal(std::span<double> out) {
  make_information();
  std::copy_n(diagonal_.data(), n_, out.begin());
}

/// The sum of the curves of these terms as a sum of states: state 0 is that of all terms, and the first
/// term's own curve is that without the others'.
std::vector<double> Filter::selection(const std::vector<bool>& chosen_terms) const {
  std::vector<double> select(static_cast<std::size_t>(states()), 0.0);
  const auto chosen = [&](int t) { return chosen_terms[static_cast<std::size_t>(layout_.source[t])]; };
  const bool first = chosen(0);
  select[0] = first ? 1 : 0;
  for (int t = 1; t < layout_.terms; ++t)
    select[static_cast<std::size_t>(layout_.offset[t])] = (chosen(t) ? 1 : 0) - (first ? 1 : 0);
  return select;
}

void Filter::predict(std::span<const double> x, const std::vector<bool>& chosen, double* projection,
                     double* variance) {
  assert(kept_columns_ > 0);
  const Index N = states(), count = std::ssize(x);
  if (variance != nullptr) make_information();
  const std::vector<double> select = selection(chosen);
  std::vector<const double*> mean, r;
  for (Index c = 0; c < kept_columns_; ++c) {
    mean.push_back(kept_means_.data() + c * n_ * N);
    r.push_back(kept_r_.data() + c * n_ * N);
  }
  AlignedBuffer gaps, onward_gaps;
  gaps.reserve(kBlock);
  onward_gaps.reserve(kBlock);
  std::vector<Index> before(static_cast<std::size_t>(kBlock));
  Index i = -1;
  for (Index t0 = 0; t0 < count; t0 += kBlock) {
    const Index tests = std::min(kBlock, count - t0);
    std::fill_n(gaps.data(), kBlock, 0.0);
    std::fill_n(onward_gaps.data(), kBlock, 0.0);
    for (Index t = 0; t < tests; ++t) {
      const double at = x[static_cast<std::size_t>(t0 + t)];
      while (i + 1 < n_ && time_[i + 1] <= at) ++i;
      before[static_cast<std::size_t>(t)] = i;
      gaps.data()[t] = i >= 0 ? at - time_[i] : kStart;
      onward_gaps.data()[t] = i + 1 < n_ ? time_[i + 1] - at : kStart;
    }
    make_steps(gaps.data(), tests, step_buffer(0));
    make_steps(onward_gaps.data(), tests, step_buffer(1));
    loops_->predict(
        layout_, {tests, before.data(), step_buffer(0), step_buffer(1), noise_, gain_.data(), root_.data(),
                  kept_.data(), information_.data(), n_, select.data(), kept_columns_, mean.data(), r.data(),
                  projection + t0, count, variance != nullptr ? variance + t0 : nullptr});
  }
}

/// The tests are put among the data as observations of so much noise that they say nothing.  The covariance
/// of a test's curve with later states, given the data up to there, then moves as a mean with observations of
/// 0 does; from one test to the next it is multiplied by a matrix that is the same for all earlier tests.
void Filter::covariance(std::span<const double> x, double* out) const {
  constexpr double kSaysNothing = 1e100;
  const Index m = std::ssize(x), total = n_ + m, N = states(), half = N * (N + 1) / 2;
  AlignedBuffer time, noise;
  time.reserve(round_up(total, 8));
  noise.reserve(round_up(total, 8));
  std::vector<Index> place;  // of each test in the merged series
  for (Index i = 0, t = 0; i + t < total;) {
    const bool data = t == m || (i < n_ && time_[i] <= x[static_cast<std::size_t>(t)]);
    time.data()[i + t] = data ? time_[i] : x[static_cast<std::size_t>(t)];
    noise.data()[i + t] = data ? noise_[i] : kSaysNothing;
    if (!data) place.push_back(i + t);
    ++(data ? i : t);
  }
  Filter merged(1);
  merged.prepare(terms_, time.data(), total);
  (void)merged.factor(noise.data(), {nullptr, 0, 0});
  merged.make_information();

  const auto size = static_cast<std::size_t>(N);
  std::vector<double> earlier(static_cast<std::size_t>(m) * size);  // covariance with each earlier test
  std::vector<double> unit(size * size), next(size), g(size), zeros(static_cast<std::size_t>(kBlock));
  Index steps_of = -1;
  for (Index t = 0; t < m; ++t) {
    const Index at = place[static_cast<std::size_t>(t)];
    if (t > 0) {  // the matrix of the way from the test before, one column at a time
      std::fill(unit.begin(), unit.end(), 0.0);
      for (Index c = 0; c < N; ++c) unit[static_cast<std::size_t>(c * N + c)] = 1;
      for (Index from = place[static_cast<std::size_t>(t - 1)] + 1; from <= at;) {
        const Index k = from / kBlock, begin = from - k * kBlock, end = std::min(at + 1, (k + 1) * kBlock);
        if (k != steps_of) merged.make_block_steps(steps_of = k, merged.step_buffer(0));
        Block part = merged.block(k, merged.step_buffer(0) + begin);
        part.count = end - from;
        part.gain += begin * N;
        part.root += begin;
        for (Index c = 0; c < N; ++c) {
          std::fill(zeros.begin(), zeros.end(), 0.0);
          loops_->reduce(layout_, part, zeros.data(), unit.data() + c * N);
        }
        from = end;
      }
      for (Index s = 0; s < t; ++s) {
        double* u = earlier.data() + s * N;
        std::fill(next.begin(), next.end(), 0.0);
        for (Index c = 0; c < N; ++c) {
          for (Index j = 0; j < N; ++j)
            next[static_cast<std::size_t>(j)] += unit[static_cast<std::size_t>(c * N + j)] * u[c];
        }
        std::copy(next.begin(), next.end(), u);
      }
    }
    // P*h, and what the later data leave of it: h − N*P*h.
    const double root = merged.root_.data()[at], s = 1 / (root * root);
    double* own = earlier.data() + t * N;
    for (Index j = 0; j < N; ++j) own[j] = merged.gain_.data()[at * N + j] * s;
    const double* info = merged.information_.data() + at * half;
    const auto entry = [&](Index a, Index b) {
      const Index i = std::min(a, b), j = std::max(a, b);
      return info[i * N - i * (i - 1) / 2 + (j - i)];
    };
    for (Index a = 0; a < N; ++a) {
      double sum = a == 0 ? 1 : 0;
      for (Index b = 0; b < N; ++b) sum -= entry(a, b) * own[b];
      g[static_cast<std::size_t>(a)] = sum;
    }
    for (Index e = 0; e <= t; ++e) {
      double sum = 0;
      for (Index j = 0; j < N; ++j)
        sum += g[static_cast<std::size_t>(j)] * earlier[static_cast<std::size_t>(e * N + j)];
      out[t * m + e] = out[e * m + t] = sum;
    }
  }
}

}  // namespace bandgp::markov
