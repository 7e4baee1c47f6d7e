// SPDX-License-Identifier: Apache-2.0
// The loops of loops.hpp as a table, for every precision; doubles have one for each instruction set.
#pragma once
#include "bandgp/front/loops.hpp"

namespace bandgp::front {

template <class Real>
struct Kernels {
  void (*multiply)(const Product<Real>& product);
  Real (*contract)(const Real* a, Index lda, const Real* b, Index ldb, Index rows, Index count);
  Real (*dot)(const Real* a, const Real* b, Index width);
  void (*add)(Real factor, const Real* x, Index width, Real* y);
  void (*combine)(const Real* l, const Real* s, Index m, Index lds, Index width, Real* out);
  void (*take)(const Index* slots, Index count, Index width, Real* matrix, Real* rows);
  void (*clear)(const Index* slots, Index count, Index width, Real* matrix);
  void (*put)(const Index* slots, Index count, Index width, const Real* rows, Real* matrix);
  void (*eliminate)(const Index* slots, Index count, Index width, Real* rows, Real* l, Real* pivots);
  void (*eliminate_right)(const Index* slots, Index count, Index width, const Real* l, Real* right,
                          Index columns, Real* out);
  void (*substitute)(const Index* slots, Index count, Index width, const Real* l, const Real* pivots,
                     const Real* values, Real* solution, Index columns);
  void (*return_rows)(const Index* slots, Index count, Index width, const Real* l, const Real* pivots,
                      Real* rows, Real* known);
  void (*copy)(const Real* from, Index from_stride, Index rows, Index count, Real* to, Index to_stride);
  void (*slope_map)(const Real* rows, Index stride, Index q, Real factor, Index width, Real* out);
  void (*add_rows)(Real factor, const Real* x, Index x_stride, Index rows, Index width, Real* y,
                   Index y_stride, bool add_to);
  void (*gaussians)(Real x, const Real* centre, const Real* inverse_length, const Real* amplitude,
                    Index width, Real* out, Real* slope);
  void (*curve)(const Real* x, Index count, const Real* beta, Index q, Real* out);
  void (*sums)(const Real* x, const Real* w, Index count, Index q, Real* out);
  void (*gram_of_sums)(const Real* sums, Index q, Index stride, Real* gram);
  void (*polynomials)(const Real* x, Index count, Index q, Index offset, Index width, Real* rows);
  void (*reduce)(const ColumnBlock<Real>& block, const Real* curve, Index curve_stride, Real* mean, Real* b,
                 Index stride, Index columns);
  void (*solve)(const ColumnBlock<Real>& block, Real* r, Real* b);
  void (*filter)(ElementBlock<Real>& block);
  void (*pull)(const ElementBlock<Real>& block, const PullBlock<Real>& out);

  template <class Lane>
  static constexpr Kernels of() {
    using All = Loops<Lane>;
    return {&All::multiply,   &All::contract,    &All::dot,    &All::add,          &All::combine,
            &All::take,       &All::clear,       &All::put,    &All::eliminate,    &All::eliminate_right,
            &All::substitute, &All::return_rows, &All::copy,   &All::slope_map,    &All::add_rows,
            &All::gaussians,  &All::curve,       &All::sums,   &All::gram_of_sums, &All::polynomials,
            &All::reduce,     &All::solve,       &All::filter, &All::pull};
  }
};

template <class Real>
const Kernels<Real>& kernels() {
  static constexpr Kernels<Real> plain = Kernels<Real>::template of<Plain<Real>>();
  return plain;
}
/// Those of the instruction set in use.
template <>
const Kernels<double>& kernels<double>();

}  // namespace bandgp::front

// One table for each instruction set, defined by the copies of front_kernels.isa.cpp.
namespace bandgp::isa_base {
extern const front::Kernels<double> front_kernels;
}
namespace bandgp::isa_avx2 {
extern const front::Kernels<double> front_kernels;
}
namespace bandgp::isa_avx512 {
extern const front::Kernels<double> front_kernels;
}
