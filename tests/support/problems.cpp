// SPDX-License-Identifier: Apache-2.0
#include "support/problems.hpp"

namespace support {

dense::Term dense_term(const bandgp::Term& term) {
  return {std::string(bandgp::shape_name(term.shape)),
          term.variance,
          term.lengthscale,
          std::string(bandgp::factor_name(term.factor)),
          term.period,
          term.smoothness,
          term.quality};
}

std::vector<bandgp::AnyShape> all_shapes() {
  std::vector<bandgp::AnyShape> shapes;
  for (const std::string_view name : bandgp::shape_names()) {
    const bandgp::Term term = bandgp::parse_kernel(name).terms[0];
    if (bandgp::can_be_banded(term)) shapes.push_back(term.shape);
  }
  return shapes;
}

std::ostream& operator<<(std::ostream& out, const Case& c) {
  out << "n " << c.size() << ", kernel " << bandgp::to_text(c.model.kernel) << ", noise " << c.model.noise
      << ", mean " << bandgp::mean_name(c.model.mean) << ", known variances " << !c.variance.empty();
  using Rule = bandgp::Cut::Rule;
  if (c.cut.rule == Rule::bandwidth) out << ", k " << c.cut.bandwidth;
  if (c.cut.rule == Rule::reach) out << ", reach " << c.cut.reach;
  if (c.cut.rule == Rule::tolerance) out << ", tolerance " << c.cut.tolerance;
  return out;
}

std::vector<Index> ranks(const std::vector<double>& time) {
  std::vector<double> distinct = time;
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<Index> rank(time.size());
  for (std::size_t i = 0; i < time.size(); ++i)
    rank[i] = std::ranges::lower_bound(distinct, time[i]) - distinct.begin();
  return rank;
}

dense::Problem exact_problem(const Case& c) {
  dense::Problem p;
  p.x.assign(c.time.begin(), c.time.end());
  p.y.assign(c.value.begin(), c.value.end());
  p.v.assign(c.variance.begin(), c.variance.end());
  for (const bandgp::Term& term : c.model.kernel.terms) {
    p.terms.push_back(dense_term(term));
  }
  p.noise = c.model.noise;
  p.mean = static_cast<int>(c.model.mean);
  return p;
}

dense::Problem cut_problem(const Case& c) {
  dense::Problem p = exact_problem(c);
  if (c.cut.rule == bandgp::Cut::Rule::bandwidth) {
    p.keep = [rank = ranks(c.time), k = c.cut.bandwidth](std::size_t i, std::size_t j) {
      return std::abs(rank[i] - rank[j]) <= k;
    };
  } else if (c.cut.rule == bandgp::Cut::Rule::reach) {
    p.keep = [time = c.time, reach = c.cut.reach](std::size_t i, std::size_t j) {
      return std::abs(time[i] - time[j]) <= reach;
    };
  }
  return p;
}

bandgp::Series make_series(const Case& c) {
  return bandgp::make_series(c.time, c.value, c.variance, {.center = c.model.mean != bandgp::Mean::zero});
}

bandgp::Posterior make_posterior(const Case& c) {
  const auto series = std::make_shared<const bandgp::Series>(make_series(c));
  return {series, c.model, bandgp::make_representation(to_internal(c.cut, series->units), 1e10)};
}

Real condition(const dense::Matrix& a) {
  const auto l = dense::cholesky(a);
  if (!l) return std::numeric_limits<Real>::infinity();
  Real norm = 0;
  for (std::size_t i = 0; i < a.rows; ++i) {
    Real sum = 0;
    for (std::size_t j = 0; j < a.rows; ++j) sum += std::abs(a(i, j));
    norm = std::max(norm, sum);
  }
  dense::Vector v(a.rows);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = (i % 2 == 0 ? 1 : -1) + 0.1L * static_cast<Real>(i % 7);
  Real inverse_norm = 0;
  for (int step = 0; step < 12; ++step) {
    const Real length = std::sqrt(dense::dot(v, v));
    for (Real& x : v) x /= length;
    v = dense::solve(*l, v);
    inverse_norm = std::sqrt(dense::dot(v, v));
  }
  return norm * inverse_norm;
}

std::vector<double> make_times(Random& random, std::size_t count, Times kind, double gap) {
  std::vector<double> time(count);
  double t = random.uniform(-3, 3) * gap;
  for (std::size_t i = 0; i < count; ++i) {
    time[i] = kind == Times::regular ? t + gap * static_cast<double>(i) : t;
    if (kind == Times::irregular) t += gap * random.uniform(0.05, 2);
    if (kind == Times::clustered)
      t += gap * (random.chance(0.15) ? random.uniform(2, 12) : random.uniform(0.02, 0.4));
  }
  return time;
}

bandgp::Kernel make_kernel(Random& random, Index most, double gap, double variance) {
  bandgp::Kernel kernel;
  const Index terms = random.integer(1, most);
  for (Index t = 0; t < terms; ++t) {
    kernel.terms.push_back({random.pick(all_shapes()), variance * random.log_uniform(0.1, 10),
                            gap * random.log_uniform(0.3, 8)});
  }
  return kernel;
}

}  // namespace support
