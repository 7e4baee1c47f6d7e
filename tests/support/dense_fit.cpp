// SPDX-License-Identifier: Apache-2.0
#include "support/dense_fit.hpp"

namespace support {

double dense_nll(const bandgp::Series& series, const bandgp::Model& user) {
  const bandgp::InternalModel model = bandgp::to_internal(user, series.units);
  const std::size_t n = series.time.size();
  dense::Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const dense::Real lag = static_cast<dense::Real>(series.time[i]) - series.time[j];
      for (const bandgp::Term& term : model.kernel.terms)
        a(i, j) += term.variance * dense::shape_value(std::string(bandgp::shape_name(term.shape)),
                                                      lag / static_cast<dense::Real>(term.lengthscale));
    }
    a(i, i) += model.noise + (series.variance.empty() ? 0 : series.variance[i]);
  }
  const auto factor = dense::cholesky(a);
  if (!factor) return std::numeric_limits<double>::infinity();
  const dense::Vector y(series.value.begin(), series.value.end()), ones(n, 1.0L);
  const dense::Vector solved = dense::solve(*factor, y), solved_ones = dense::solve(*factor, ones);
  const dense::Real mean = dense::dot(ones, solved) / dense::dot(ones, solved_ones);
  dense::Real nll = dense::dot(y, solved) - mean * dense::dot(ones, solved);
  for (std::size_t i = 0; i < n; ++i) nll += 2 * std::log((*factor)(i, i));
  nll += static_cast<dense::Real>(n) * std::log(2 * std::numbers::pi_v<dense::Real>);
  return bandgp::nll_to_user(static_cast<double>(nll / 2), series);
}

}  // namespace support
