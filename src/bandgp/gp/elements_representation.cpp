// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/elements_representation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "bandgp/bandwidth/choose.hpp"
#include "bandgp/base/dot.hpp"
#include "bandgp/base/normal_at.hpp"
#include "bandgp/basis/local_polynomials.hpp"
#include "bandgp/front/front.hpp"
#include "bandgp/gp/cost_model.hpp"
#include "bandgp/gp/simulate.hpp"
#include "bandgp/kernel/harmonics.hpp"
#include "bandgp/markov/filter.hpp"

namespace bandgp {
namespace {

/// How the tolerance is shared between the grids, their windows and the polynomials.
constexpr double kGridShare = 0.4, kCutShare = 0.2, kPolynomialShare = 0.4, kHarmonicShare = 0.1;
/// The spacing that a grid may have where a term has several, in length-scales.
constexpr double kCoarsest = 1;
/// The bounds add up to less than they are given: designs are first tried with so many times the tolerance.
constexpr double kLargestShare = 4, kLeastShare = 1e-3, kNextShare = 0.75;
/// Spacings of the finest grid in a cell: longer cells need more polynomials, which cost on every point, and
/// shorter ones make more chunks.
constexpr Index kFewestSpacings = 3, kMostSpacings = 12;
constexpr Index kFewestPolynomials = 4, kMostPolynomials = 40;
static_assert(kMostPolynomials <= front::kMostPolynomials);
/// The noise of a point that says nothing.
constexpr double kSaysNothing = 1e100;
/// Spacings from 0 beyond which places on a grid are not exact enough: the band takes such terms.
constexpr double kFarthest = 1e9;
/// Spacings from 0 beyond which there are no places on a grid.
constexpr double kNoWholeNumber = 1e15;

}  // namespace

/// As many states as without harmonics: how many these are depends on more than the kernel.
bool has_elements(const Kernel& kernel) {
  int states = 0;
  for (const Term& term : kernel.terms) {
    if (!has_grid(term) && !has_states(term)) return false;
    if (!has_grid(term)) states += state_count(term.shape) * (term.has_factor() ? 2 : 1);
  }
  return !kernel.terms.empty() && states <= front::kMostStates;
}

struct ElementsRepresentation::Parts {
  explicit Parts(Index threads) : front(threads) {}
  front::Front<double> front;
  front::Front<double>::Slopes slopes;

  template <class Real>
  static void lay_out(const ElementsRepresentation& owner, const double* time, Index n,
                      front::Front<Real>& front) {
    std::vector<front::Gaussians> bases;
    bases.reserve(owner.smooth_.size());
    for (const SmoothTerm& term : owner.smooth_) {
      const Term& whole = owner.kernel_->terms[term.index];
      bases.push_back({term.design.spacing, whole.lengthscale, term.design.amplitude,
                       term.design.cut * term.design.spacing, term.polynomials,
                       term.harmonic > 0 ? 1 / whole.period : 0, term.harmonic});
    }
    front.lay_out(time, n, bases, owner.form_.terms, owner.spacings_);
  }
};

/// Some of the kernel's terms: the SE terms among them as flags, one for each basis of the front, and the
/// others as the factors with which the states are summed.
struct ElementsRepresentation::Selection {
  std::vector<bool> bases;
  std::vector<double> states;
};

namespace {
front::Columns<double> columns(RightHandSides b) { return {b.data, b.columns, b.stride}; }
}  // namespace

ElementsRepresentation::ElementsRepresentation(double tolerance, double max_bytes, Index threads)
    : tolerance_(tolerance), max_bytes_(max_bytes), parts_(std::make_unique<Parts>(threads)) {}
ElementsRepresentation::~ElementsRepresentation() = default;

Index ElementsRepresentation::basis_size() const { return parts_->front.nodes(); }
Index ElementsRepresentation::reduced_size() const { return parts_->front.reduced_size(); }
Index ElementsRepresentation::carried_size() const { return parts_->front.carried_size(); }
double ElementsRepresentation::log_determinant() { return parts_->front.log_determinant(); }
void ElementsRepresentation::finish(RightHandSides b) { parts_->front.solve(columns(b)); }
double ElementsRepresentation::condition() { return parts_->front.largest_pivot(); }

Cost ElementsRepresentation::cost(const Kernel& kernel, const Observations& points, double q_bound) {
  if (auto failure = choose(kernel, points, q_bound))
    return {failure->bytes, failure->seconds, 0, 0, name(), {}};
  Cost cost{bytes(*parts_, points.size()), 1e-9 * elements_nanoseconds(kernel, points, rho_), 0, 0, name()};
  cost.places.resize(kernel.terms.size(), {"grid", 0});
  for (const StateForm::Part& part : form_.parts) cost.places[part.term] = {"states", form_.states(part)};
  for (std::size_t t = 0; t < smooth_.size(); ++t)
    cost.places[smooth_[t].index].rows += parts_->front.layout().weight_count(t);
  return cost;
}

std::optional<Failure> ElementsRepresentation::choose(const Kernel& kernel, const Observations& points,
                                                      double q_bound) {
  kernel_ = &kernel;
  points_ = &points;
  const bool keep = frozen_ && grids_.size() + rough_.size() == kernel.terms.size();
  if (!keep) {
    grids_.clear();
    rough_.clear();
    for (std::size_t t = 0; t < kernel.terms.size(); ++t)
      (has_grid(kernel.terms[t]) ? grids_ : rough_).push_back(t);
  }
  rho_ = rho_for_tolerance(tolerance_, q_bound, points.size());
  const auto n = static_cast<double>(points.size());
  form_ = make_state_form(
      kernel, rough_,
      kHarmonicShare * rho_ * points.smallest_noise() / n / static_cast<double>(kernel.terms.size()));
  if (form_.states() > front::kMostStates)
    return Failure{Failure::Kind::too_large, 0, std::numeric_limits<double>::infinity(), 0};
  q_bound *= weigh_points();
  demands_.clear();
  for (const std::size_t t : grids_)
    demands_.push_back(demand_for(kernel.terms[t], weighted_, q_bound, tolerance_));
  // How the tolerance is shared is an estimate; the certificate decides.
  for (share_ = keep ? share_ : kLargestShare;; share_ *= kNextShare) {
    design(q_bound, share_ * tolerance_, keep);
    const CertificateInputs inputs{.n = points.size(),
                                   .q = expected_.residual + expected_.weights,
                                   .weights = expected_.weights,
                                   .prior_variance = kernel.variance()};
    const bool within = certificate_for(inputs, static_cast<Index>(nodes_)).nll_error.value() <= tolerance_;
#ifdef FRONT_PRINT
    if (getenv("QF")) break;
#endif
    if (keep || within || !reached_ || smooth_.empty()) break;
    if (share_ < kLeastShare) {
      reached_ = false;
      break;
    }
  }
  const auto too_large = [&](double bytes) {
    return Failure{Failure::Kind::too_large, 0, bytes, 1e-9 * elements_nanoseconds(kernel, points, rho_)};
  };
  // Before anything is laid out: not less than this, whatever the windows.
  const double least_bytes = 32 * nodes_;
  if (least_bytes > max_bytes_) return too_large(least_bytes);
  for (const SmoothTerm& term : smooth_) {
    if (!(farthest() < kNoWholeNumber * term.design.spacing))
      return too_large(std::numeric_limits<double>::infinity());
  }
  Parts::lay_out(*this, points.time(), points.size(), parts_->front);
  if (const double all = bytes(*parts_, points.size()); all > max_bytes_) return too_large(all);
#ifdef FRONT_PRINT
  if (getenv("FP")) {
    fprintf(stderr, "spacings %ld chunks %ld slots %ld nodes %ld bytes/pt %.1f share %g:", spacings_,
            parts_->front.chunks(), parts_->front.slots(), parts_->front.nodes(),
            bytes(*parts_, points.size()) / (double)points.size(), share_);
    for (auto& t : smooth_)
      fprintf(stderr, " [q %ld h/l %.4f T/h %.2f]", t.polynomials,
              t.design.spacing / kernel.terms[t.index].lengthscale, t.design.cut);
    fputs("\n", stderr);
  }
#endif
  return std::nullopt;
}

/// The SE terms as what they are made of, with as many harmonics as so many nats ask for.
void ElementsRepresentation::make_smooth(double q_bound, double tolerance, bool keep) {
  const std::vector<SmoothTerm> before = std::move(smooth_);
  smooth_.clear();
  rest_errors_ = {};
  for (std::size_t g = 0; g < grids_.size(); ++g) {
    const Term& term = kernel_->terms[grids_[g]];
    GridDemand demand = demands_[g];
    demand.q_bound = q_bound;
    if (!std::holds_alternative<PeriodicFactor>(term.factor)) {
      smooth_.push_back({grids_[g], term.has_factor() ? 1 : 0, 1, 0, demand});
      continue;
    }
    demand.tolerance = kHarmonicShare * tolerance / static_cast<double>(grids_.size());
    const auto known = std::ranges::count(before, grids_[g], &SmoothTerm::index);
    const Harmonics kept = keep ? first_harmonics(term.smoothness, static_cast<std::size_t>(known))
                                : harmonics(term.smoothness, affordable_rest(demand));
    demand.coarsest = kCoarsest;
    for (std::size_t k = 0; k < kept.coefficient.size(); ++k)
      smooth_.push_back({grids_[g], static_cast<Index>(k), kept.coefficient[k], kept.slope[k], demand});
    const GridErrors rest = errors_of_rest(kept.rest, demand);
    rest_errors_.matrix = rest_errors_.matrix + rest.matrix;
    rest_errors_.cross = rest_errors_.cross + rest.cross;
    rest_errors_.prior = rest_errors_.prior + rest.prior;
  }
  if (!keep) return;
  // As they were: in the order of their spacings.
  for (std::size_t t = 0; t < before.size(); ++t) {
    const auto same = std::ranges::find_if(
        smooth_.begin() + static_cast<std::ptrdiff_t>(t), smooth_.end(), [&](const SmoothTerm& term) {
          return term.index == before[t].index && term.harmonic == before[t].harmonic;
        });
    std::iter_swap(smooth_.begin() + static_cast<std::ptrdiff_t>(t), same);
    smooth_[t].polynomials = before[t].polynomials;
  }
}

/// The grids of the SE terms and the polynomials on them, for a certificate of about this many nats.
void ElementsRepresentation::design(double q_bound, double tolerance, bool keep) {
  make_smooth(q_bound, tolerance, keep);
  errors_ = rest_errors_;
  const UpperBound weight = UpperBound::of(weighted_.largest_weight),
                   points = UpperBound::of(std::sqrt(static_cast<double>(points_->size()))) * weight;
  errors_.matrix = errors_.matrix + form_.left_out * points * points;
  errors_.cross = errors_.cross + form_.left_out * points;
  errors_.prior = errors_.prior + form_.left_out;
  reached_ = true;
  nodes_ = 0;
  double others = 0;
  for (const std::size_t t : rough_) others += kernel_->terms[t].variance;
  const auto count = static_cast<double>(smooth_.size());
  const Index n = points_->size();
  for (SmoothTerm& term : smooth_) {
    term.demand.variance *= term.share;
    term.demand.tolerance = kGridShare * tolerance / count;
    term.design = design_grid(term.demand);
    nodes_ += most_nodes(term.design, term.demand) * (term.harmonic > 0 ? 2 : 1);
  }
  // What an error ε of Φ costs: ½·2ε‖r‖‖w‖ + ½ε²(‖r‖ + ‖w‖)² of the quadratic form, ½mε of log|M|.  A model
  // that fits makes n of its data and about 1 of each weight; one that does not, what it made last.
  expected_ = {std::min(q_bound, std::max(2.0 * static_cast<double>(n), 1.5 * seen_.residual)),
               std::min(q_bound, std::max(2 * nodes_, 1.5 * seen_.weights))};
  const double r = std::sqrt(expected_.residual), w = std::sqrt(expected_.weights);
  const auto allowed = [&](double budget) {
    double error = std::min({0.6 * budget / (r * w + 1e-300), std::sqrt(0.2 * budget) / (r + w + 1e-300),
                             0.2 * budget / (nodes_ + 1)});
    for (const SmoothTerm& term : smooth_) error = std::min(error, cut_for_variances(term.demand, others));
    return error / count;
  };
  for (SmoothTerm& term : smooth_) {
    shorten_windows(term, allowed(kCutShare * tolerance));
    const GridErrors errors = errors_of(term.design, term.demand);
    reached_ = reached_ && term.design.reached && errors.fit_double() &&
               farthest() < kFarthest * term.design.spacing;
    errors_.aliasing = max(errors_.aliasing, errors.aliasing);
    errors_.matrix = errors_.matrix + errors.matrix;
    errors_.cut = errors_.cut + errors.cut;
    errors_.cross = errors_.cross + errors.cross;
    errors_.prior = errors_.prior + errors.prior;
  }
  if (!keep) {
    std::ranges::sort(smooth_, std::greater{}, [](const SmoothTerm& term) { return term.design.spacing; });
    choose_cells(allowed(kPolynomialShare * tolerance));
  }
  polynomial_error_ = {};
  for (const SmoothTerm& term : smooth_) polynomial_error_ = polynomial_error_ + error_of_polynomials(term);
}

/// The dual's windows are made for more than the front's, and are whole numbers of spacings.
void ElementsRepresentation::shorten_windows(SmoothTerm& term, double allowed) {
  constexpr double kStep = 0.25;
  const double shortest = term.share < 1 ? 1 : 4;
  const GridDesign widest = term.design;
  for (term.design.cut = shortest; term.design.cut < widest.cut; term.design.cut += kStep) {
    if (errors_of(term.design, term.demand).cut.value() <= allowed) return;
  }
  term.design.cut = widest.cut;
}

/// The cells on which an evaluation takes least, and their polynomials; finer terms need more.
void ElementsRepresentation::choose_cells(double allowed) {
  if (smooth_.empty()) return;
  std::vector<Index> best;
  double least = std::numeric_limits<double>::infinity();
  Index chosen = kFewestSpacings;
  for (spacings_ = kFewestSpacings; spacings_ <= kMostSpacings; ++spacings_) {
    Index polynomials = kFewestPolynomials;
    for (SmoothTerm& term : smooth_) {
      const bool oscillates = term.harmonic > 0;  // and has polynomials of its own
      term.polynomials = oscillates ? kFewestPolynomials : polynomials;
      while (term.polynomials < kMostPolynomials && error_of_polynomials(term).value() > allowed)
        ++term.polynomials;
      if (!oscillates) polynomials = term.polynomials;
    }
    if (const double cost = cost_of_cells(); cost < least) {
      least = cost;
      chosen = spacings_;
      best.clear();
      for (const SmoothTerm& term : smooth_) best.push_back(term.polynomials);
    }
  }
#ifdef FRONT_PRINT
  if (getenv("SP")) {
    chosen = atoi(getenv("SP"));
    spacings_ = chosen;
    best.clear();
    Index polynomials = kFewestPolynomials;
    for (SmoothTerm& term : smooth_) {
      term.polynomials = polynomials;
      while (term.polynomials < kMostPolynomials && error_of_polynomials(term).value() > allowed)
        ++term.polynomials;
      polynomials = term.polynomials;
      best.push_back(polynomials);
    }
    if (getenv("QF")) best.back() = atoi(getenv("QF"));
    if (getenv("QL") && best.size() > 1) best.front() = atoi(getenv("QL"));
  }
#endif
  spacings_ = chosen;
  for (std::size_t t = 0; t < best.size(); ++t) smooth_[t].polynomials = best[t];
}

/// What a point costs with these cells, in products, of which a nanosecond has about 50 (AVX-512; measured
/// with cells of 3 to 10 spacings, section "Measured" of docs/decisions/011-front.md).
double ElementsRepresentation::cost_of_cells() const {
  const double cell = static_cast<double>(spacings_) * smooth_.back().design.spacing;
  double states = 0, slots = 0, products = 0;
  for (const markov::StateTerm& term : form_.terms) states += term.states;
  const auto lanes = [](double x) { return 8 * std::ceil(x / 8); };
  for (const SmoothTerm& term : smooth_)
    slots += std::floor(2 * term.design.cut + (1 + 2 * front::kBeyond) * cell / term.design.spacing) + 1;
  if (std::ranges::any_of(smooth_, [](const SmoothTerm& term) { return term.harmonic > 0; }))
    return cost_of_waves(cell);
  slots = lanes(slots + 3 * states);
  for (const SmoothTerm& term : smooth_) {
    const auto q = static_cast<double>(term.polynomials);
    products += q * slots * (q + slots);
  }
  const auto q = static_cast<double>(smooth_.back().polynomials);
  const double points = std::max(1.0, cell * static_cast<double>(points_->size()) / points_->span());
  const double columns = lanes(q + states + 1);  // a constant mean takes none
  const double of_point = states > 0 ? 500 + 200 * columns : 105 * q;
  const double of_chunk = 97000 + 24000 * states + 2 * products +
                          3 * slots * slots * (static_cast<double>(spacings_) + 2 * states);
  return of_point + of_chunk / points;
}

/// The same where some of the terms oscillate.
double ElementsRepresentation::cost_of_waves(double cell) const {
  double slots = 0, ending = 0, polynomials = 0, waves = 0;
  for (const SmoothTerm& term : smooth_) {
    const double columns = term.harmonic > 0 ? 2 : 1, h = term.design.spacing;
    slots += columns * (std::floor(2 * term.design.cut + (1 + 2 * front::kBeyond) * cell / h) + 1);
    ending += columns * cell / h;
    polynomials = std::max(polynomials, static_cast<double>(term.polynomials));
    waves += columns;
  }
  const double points = std::max(1.0, cell * static_cast<double>(points_->size()) / points_->span());
  const double of_chunk = (4 * polynomials + 2 * ending) * slots * slots;
  return 12 * polynomials * waves + of_chunk / points;
}

UpperBound ElementsRepresentation::error_of_polynomials(const SmoothTerm& term) const {
  return polynomial_error(term.design, term.demand, term.polynomials,
                          front::expanded_half(spacings_, smooth_.back().design.spacing));
}

double ElementsRepresentation::farthest() const {
  return std::max(std::abs(points_->time()[0]), std::abs(points_->time()[points_->size() - 1]));
}

double ElementsRepresentation::bytes(const Parts& parts, Index n) const {
  const front::Front<double>& front = parts.front;
  const auto rows = static_cast<double>(front.nodes() + front.carried_size()) *
                    (1 + 1.0 / static_cast<double>(front::Front<double>::kSpare));
  const double sums = rough_.empty() ? static_cast<double>(front.chunks() * front.sums_size()) : 0;
  return 8 * (rows * static_cast<double>(front.slots()) + sums + 6 * static_cast<double>(n));
}

/// What the SE terms must be accurate to is B, the Markov terms and the noise, and not the noise alone.  The
/// inverse of an Ornstein–Uhlenbeck covariance is tridiagonal, its rows sum to (1 + r)/σ²(1 − r) at most with
/// r = e^{−δ/ℓ} over the smallest gap δ, so that K ⪰ σ² tanh(δ/2ℓ).  Returns a factor
/// by which a bound of the quadratic form may be multiplied.
double ElementsRepresentation::weigh_points() {
  const Index n = points_->size();
  double floor = 0;
  for (const std::size_t t : rough_) {
    const Term& term = kernel_->terms[t];
    if (matern_states(term) == 1)
      floor += term.variance * std::tanh(0.5 * points_->smallest_gap() / term.lengthscale);
  }
  weighted_ = points_->weighted();
  if (!(floor > 0.1 * points_->smallest_noise())) return 1;
  floor *= 1 - 1e-9;  // more than its rounding
  weights_.resize(static_cast<std::size_t>(n));
  double largest = 0;
  for (Index i = 0; i < n; ++i) {
    weights_[static_cast<std::size_t>(i)] = 1 / std::sqrt(points_->noise()[i] + floor);
    largest = std::max(largest, points_->noise()[i]);
  }
  weighted_.weight = weights_.data();
  weighted_.largest_weight = *std::ranges::max_element(weights_);
  return largest / (largest + floor);
}

bool ElementsRepresentation::choose_again(const CertificateInputs& inputs) {
  seen_ = {inputs.q - inputs.weights, inputs.weights};
  const bool as_expected = seen_.residual <= expected_.residual && seen_.weights <= expected_.weights;
#ifdef FRONT_PRINT
  if (getenv("QF")) return false;
#endif
  return !as_expected && !frozen_ && certificate(inputs).nll_error.value() > tolerance_;
}

std::optional<Failure> ElementsRepresentation::factor(RightHandSides b) {
  if (!parts_->front.factor(points_->noise(), columns(b)))
    return Failure{Failure::Kind::not_positive_definite, 0};
  return std::nullopt;
}

bool ElementsRepresentation::reduce(RightHandSides b) {
  parts_->front.reduce(columns(b));
  return true;
}

void ElementsRepresentation::gradient(RightHandSides b, const double* noise_slope, std::span<double> out) {
  parts_->front.gradient(columns(b), parts_->slopes, true);
  const front::Front<double>::Slopes& slopes = parts_->slopes;
  std::ranges::fill(out, 0.0);
  for (std::size_t t = 0; t < smooth_.size(); ++t) {
    const std::size_t index = smooth_[t].index;
    const Term& term = kernel_->terms[index];
    const auto add = [&](double Term::*member, double by) {
      if (term.has(member)) out[kernel_->parameter_index(index, member)] += by;
    };
    add(&Term::variance, slopes.basis_variance[t]);
    add(&Term::lengthscale, slopes.basis_lengthscale[t]);
    add(&Term::period, slopes.basis_period[t]);
    add(&Term::smoothness, smooth_[t].by_smoothness * slopes.basis_variance[t]);
  }
  std::vector<markov::TermSlopes> by_states;
  for (std::size_t s = 0; s < form_.terms.size(); ++s)
    by_states.push_back({slopes.state_variance[s], slopes.state_lengthscale[s], slopes.state_period[s],
                         slopes.state_quality[s]});
  for (const StateForm::Part& part : form_.parts) put_slopes(*kernel_, part, by_states, out);
  const Index n = points_->size(), whole = n / 8 * 8;
  out.back() = dot(slopes.noise.data(), noise_slope, whole);
  for (Index i = whole; i < n; ++i) out.back() += slopes.noise[static_cast<std::size_t>(i)] * noise_slope[i];
}

void ElementsRepresentation::inverse_diagonal(std::span<double> out) {
  parts_->front.gradient({nullptr, 0, 0}, parts_->slopes);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = 2 * parts_->slopes.noise[i];
}

Certificate ElementsRepresentation::certificate(CertificateInputs inputs) const {
  return certificate_for(inputs, parts_->front.nodes());
}

/// Bounds relative to what points are weighed with hold relative to B, which is no smaller.
Certificate ElementsRepresentation::certificate_for(const CertificateInputs& inputs, Index nodes) const {
  GridErrors e = errors_;
  e.cut = e.cut + polynomial_error_;
  e.gram = e.relative_cut();
  return dual_certificate(e, nodes, inputs);
}

/// The same front in extended precision: what differs is what rounding did.  Long series by their beginning:
/// extended precision takes up to 130 µs a point where the front is narrow, and rounding grows evenly along
/// the series.
double ElementsRepresentation::rounding(double*, const double* b) {
  constexpr Index kLeast = 100, kMost = 1000, kProducts = 50'000'000;
  const Index slots = parts_->front.slots();
  const Index n = std::min(points_->size(), std::clamp(kProducts / (slots * slots + 1), kLeast, kMost));
  const auto nll = [&]<class Real>(Real) {
    front::Front<Real> front;
    Parts::lay_out(*this, points_->time(), n, front);
    const Index stride = round_up(front.reduced_size(), 8) + front.carried_size();
    std::vector<Real> column(static_cast<std::size_t>(stride)), noise(points_->noise(), points_->noise() + n);
    std::copy_n(b, n, column.begin());
    if (!front.factor(noise.data(), {column.data(), 1, stride}))
      return std::numeric_limits<Real>::quiet_NaN();
    Real q = 0;
    for (Index i = 0; i < front.reduced_size(); ++i)
      q += column[static_cast<std::size_t>(i)] * column[static_cast<std::size_t>(i)];
    return (q + front.log_determinant()) / 2;
  };
  const double difference =
      static_cast<double>(std::abs(static_cast<long double>(nll(double{})) - nll(0.0L)));
  return difference * static_cast<double>(points_->size()) / static_cast<double>(n);
}

ElementsRepresentation::Selection ElementsRepresentation::selection(unsigned terms) const {
  const auto chosen = [&](std::size_t term) { return terms == kAllTerms || (terms >> term & 1U) != 0; };
  Selection result;
  result.states.assign(static_cast<std::size_t>(parts_->front.states().size()), 0);
  for (const SmoothTerm& term : smooth_) result.bases.push_back(chosen(term.index));
  // State 0 is the sum, and the first term's own curve is that without the others'.
  const bool first = !rough_.empty() && chosen(rough_[0]);
  if (!rough_.empty()) result.states[0] = first ? 1 : 0;
  for (const StateForm::Part& part : form_.parts) {
    for (std::size_t s = std::max(part.first, std::size_t{1}); s < part.first + part.count; ++s)
      result.states[static_cast<std::size_t>(parts_->front.states().offset(s))] =
          (chosen(part.term) ? 1 : 0) - (first ? 1 : 0);
  }
  return result;
}

namespace {

/// out[t] += Σᵢ k(x_t − tᵢ)αᵢ for a term with states, by sums over its states from both sides: u ← Fu + P∞e₀α
/// forwards, w ← Fᵀw + e₀α backwards.
void add_markov_sum(const markov::StateTerm& term, const double* time, Index n, const double* alpha,
                    std::span<const double> x, double* out) {
  using Step = front::Move<front::Plain<double>, 0>;
  const front::States<double> states({term});
  const Index all = n + std::ssize(x);
  // Data and tests in order, data first where they coincide.
  std::vector<double> gaps;
  std::vector<Index> source;  // a point, or ~t of a test
  double before = 0;
  for (Index i = 0, t = 0; i + t < all;) {
    const bool data = t == std::ssize(x) || (i < n && time[i] <= x[static_cast<std::size_t>(t)]);
    const double at = data ? time[i] : x[static_cast<std::size_t>(t)];
    gaps.push_back(source.empty() ? 0 : at - before);
    source.push_back(data ? i++ : ~t++);
    before = at;
  }
  gaps.resize(gaps.size() + 8);
  double stationary[front::kMostStates] = {};  // P∞e₀
  constexpr double kFirst[] = {1, 1, 2.0 / 3};
  const bool pairs = term.kind == markov::StateKind::turning;
  const int order = pairs ? term.states / 2 : term.states;
  for (int s = 0; s < order; ++s)
    stationary[pairs ? 2 * s : s] =
        s > 0 && term.kind == markov::StateKind::oscillator ? 0 : term.variance * kFirst[s];
  front::Numbers<double> steps(static_cast<std::size_t>(states.step_size()));
  const auto step = [&](Index begin, Index i) { return Step(states.places(), steps.data(), i - begin); };
  const auto prepare = [&](Index begin) {
    const Index count = std::min(front::kMostPoints, all - begin);
    states.steps(gaps.data() + begin, count, steps.data());
    return begin + count;
  };
  double state[front::kMostStates] = {};
  for (Index begin = 0; begin < all; begin += front::kMostPoints) {
    const Index end = prepare(begin);
    for (Index i = begin; i < end; ++i) {
      step(begin, i).forward<front::Plain<double>>(state, 1);
      const Index from = source[static_cast<std::size_t>(i)];
      for (int s = 0; from >= 0 && s < term.states; ++s) state[s] += stationary[s] * alpha[from];
      if (from < 0) out[~from] += state[0];
    }
  }
  std::fill_n(state, front::kMostStates, 0.0);
  for (Index begin = (all - 1) / front::kMostPoints * front::kMostPoints; begin >= 0;
       begin -= front::kMostPoints) {
    const Index end = prepare(begin);
    for (Index i = end - 1; i >= begin; --i) {
      const Index from = source[static_cast<std::size_t>(i)];
      if (from >= 0) state[0] += alpha[from];
      for (int s = 0; from < 0 && s < term.states; ++s) out[~from] += stationary[s] * state[s];
      step(begin, i).backward<front::Plain<double>>(state, 1);
    }
  }
}

}  // namespace

std::optional<Failure> ElementsRepresentation::predict(std::span<const double> x, unsigned terms,
                                                       RightHandSides solved, double* projection,
                                                       double* variance) {
  const Selection chosen = selection(terms);
  const Index m = std::ssize(x), n = points_->size();
  // Nothing is known that far outside the data, and places on the grids must be whole numbers.
  const double far =
      smooth_.empty() ? std::numeric_limits<double>::infinity() : kFarthest * smooth_.back().design.spacing;
  std::vector<double> near;
  for (const double at : x)
    near.push_back(std::clamp(at, points_->time()[0] - far, points_->time()[n - 1] + far));
  for (Index c = 0; c < solved.columns; ++c) {
    const double* column = solved.data + c * solved.stride;
    double* to = projection + c * m;
    for (Index t = 0; t < m; ++t)
      to[t] = parts_->front.curve(column, chosen.bases, near[static_cast<std::size_t>(t)]);
    for (const StateForm::Part& part : form_.parts) {
      if (terms != kAllTerms && (terms >> part.term & 1U) == 0) continue;
      for (std::size_t s = part.first; s < part.first + part.count; ++s)
        add_markov_sum(form_.terms[s], points_->time(), n, column, x, to);
    }
  }
  if (variance == nullptr) return std::nullopt;
  // Variances: the times to predict at are put among the points, with a noise so large that they say nothing.
  std::vector<double> time, noise;
  std::vector<bool> wanted;
  for (Index i = 0, t = 0; i + t < n + m;) {
    const bool data = t == m || (i < n && points_->time()[i] <= near[static_cast<std::size_t>(t)]);
    time.push_back(data ? points_->time()[i] : near[static_cast<std::size_t>(t)]);
    noise.push_back(data ? points_->noise()[i] : kSaysNothing);
    wanted.push_back(!data);
    ++(data ? i : t);
  }
  Parts with_tests(1);
  front::Front<double>& merged = with_tests.front;
  Parts::lay_out(*this, time.data(), n + m, merged);
  if (const double all = bytes(with_tests, n + m); all > max_bytes_)
    return Failure{Failure::Kind::too_large, 0, all, 0};
  if (!merged.factor(noise.data(), {nullptr, 0, 0})) return Failure{Failure::Kind::not_positive_definite, 0};
  const std::vector<double> all = merged.variances(wanted, chosen.bases, chosen.states);
  Index t = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (wanted[i]) variance[t++] = all[i];
  }
  return std::nullopt;
}

void ElementsRepresentation::covariance(std::span<const double> x, double* out) {
  const Index m = std::ssize(x), n = points_->size(), reduced = round_up(reduced_size(), 8),
              stride = reduced + round_up(carried_size(), 8);
  std::vector<double> memory(static_cast<std::size_t>(m * stride));
  for (Index t = 0; t < m; ++t) {
    for (Index i = 0; i < n; ++i)
      memory[static_cast<std::size_t>(t * stride + i)] =
          (*kernel_)(x[static_cast<std::size_t>(t)] - points_->time()[i]);
  }
  parts_->front.reduce({memory.data(), m, stride});
  for (Index s = 0; s < m; ++s) {
    for (Index t = 0; t <= s; ++t) {
      const double prior = (*kernel_)(x[static_cast<std::size_t>(s)] - x[static_cast<std::size_t>(t)]);
      out[s * m + t] = out[t * m + s] =
          prior - dot(memory.data() + s * stride, memory.data() + t * stride, reduced);
    }
  }
}

std::optional<Weights> ElementsRepresentation::weights() {
  if (!rough_.empty() || !std::ranges::all_of(kernel_->terms, has_basis)) return std::nullopt;
  Weights result{{}, parts_->front.nodes(), parts_->front.weights_at()};
  for (std::size_t t = 0; t < smooth_.size(); ++t) {
    Weights::Part part{smooth_[t].design, {}, parts_->front.layout().nodes(0, t).number};
    for (const auto& [first, count] : parts_->front.layout().runs(t)) {
      const Index number = part.runs.empty() ? 0 : part.runs.back().last();
      part.runs.push_back({static_cast<double>(first), static_cast<double>(first + count), number});
    }
    result.parts.push_back(std::move(part));
  }
  return result;
}

/// By Matheron's rule: w′ − ŵ(b′) for a draw (w′, b′) of the model.
void ElementsRepresentation::draw_weights(std::span<double> white, std::uint64_t seed) {
  const Index n = points_->size(), stride = round_up(reduced_size(), 8) + round_up(carried_size(), 8);
  std::vector<double> drawn(static_cast<std::size_t>(stride)), weights(static_cast<std::size_t>(stride)),
      times(points_->time(), points_->time() + n);
  std::ranges::copy(white, weights.begin() + parts_->front.weights_at());
  parts_->front.add_basis(weights.data(), 1, drawn.data());
  Kernel rough;
  for (const std::size_t t : rough_) rough.terms.push_back(kernel_->terms[t]);
  if (!rough_.empty()) {
    const std::vector<double> path = simulate(rough, 0, times, seed);
    for (std::size_t i = 0; i < path.size(); ++i) drawn[i] += path[i];
  }
  for (Index i = 0; i < n; ++i)
    drawn[static_cast<std::size_t>(i)] += std::sqrt(points_->noise()[i]) * normal_at(seed + 1, i);
  parts_->front.reduce({drawn.data(), 1, stride});
  for (std::size_t j = 0; j < white.size(); ++j)
    white[j] -= drawn[static_cast<std::size_t>(parts_->front.weights_at()) + j];
}

/// What weights drawn around their mean leave of b is Markov terms and noise, which the filter makes white.
void ElementsRepresentation::whiten(double* column, std::uint64_t seed) {
  const Index n = points_->size(), nodes = parts_->front.nodes();
  std::vector<double> weights(static_cast<std::size_t>(parts_->front.weights_at() + nodes));
  const std::span<double> drawn(weights.data() + parts_->front.weights_at(), static_cast<std::size_t>(nodes));
  for (Index j = 0; j < nodes; ++j) drawn[static_cast<std::size_t>(j)] = normal_at(seed, j);
  draw_weights(drawn, seed + 1);
  parts_->front.restore_residual(column);  // b − Φŵ
  parts_->front.add_basis(weights.data(), -1, column);
  if (rough_.empty()) {
    for (Index i = 0; i < n; ++i) column[i] /= std::sqrt(points_->noise()[i]);
    return;
  }
  markov::Filter filter(1);
  filter.prepare(form_.terms, points_->time(), n);
  std::vector<double> white(static_cast<std::size_t>(round_up(n, 8) + round_up(filter.carried_size(), 8)));
  std::copy_n(column, n, white.begin());
  (void)filter.factor(points_->noise(), {white.data(), 1, std::ssize(white)});
  std::copy_n(white.begin(), n, column);
}

}  // namespace bandgp
