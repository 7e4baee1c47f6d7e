// SPDX-License-Identifier: Apache-2.0
// The truth for Markov terms in quadruple precision: the textbook's filter, in the coordinates of the terms,
// and the dense model beside it.  It includes no bandgp header and shares no formula with the library but the
// model.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

namespace quad {

__extension__ using Real = __float128;
using Vector = std::vector<Real>;

Real exp(Real x);
Real log(Real x);
Real sqrt(Real x);

/// variance · Matérn of order states − ½.
struct Term {
  int states;
  Real variance, lengthscale;
};

struct Problem {
  std::vector<Term> terms;
  Vector time, value, noise;  // increasing times; equal ones are as good
};

Real rate(const Term& t);

Real covariance(const Term& t, Real lag);

Real dense_nll(const Problem& p);

/// The textbook's filter with states f, f′, f″ of every term: F = e^{−λδ}·polynomial, Q = P∞ − FP∞Fᵀ, which
/// loses digits that quadruple precision has to spare.
Real filter_nll(const Problem& p);

/// ∂/∂log of one parameter by differences of eighth order.
template <class Change>
Real slope(const Problem& p, const Change& change) {
  const Real step = Real(1) / 512, weight[] = {Real(4) / 5, -Real(1) / 5, Real(4) / 105, -Real(1) / 280};
  Real sum = 0;
  for (int k = 1; k <= 4; ++k) {
    for (const int sign : {-1, 1}) {
      Problem moved = p;
      change(moved, exp(sign * k * step));
      sum += sign * weight[k - 1] * filter_nll(moved);
    }
  }
  return sum / step;
}

}  // namespace quad
