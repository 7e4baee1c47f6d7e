// SPDX-License-Identifier: Apache-2.0
// The few routines of BLAS and LAPACK that dense methods are made of; column-major.
#pragma once
#include "bandgp/base/index.hpp"

namespace bandgp::lapack {

/// BLAS works on one thread while this lives: sums then come out the same whatever the machine.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

enum class Side : char { left = 'L', right = 'R' };
enum class Form : char { plain = 'N', transposed = 'T' };

/// a ← L of the lower half, A = LLᵀ; the row of the first pivot that is not positive, or −1.
Index cholesky(Index n, double* a);
/// The lower half of L ← that of (LLᵀ)⁻¹.
void inverse_from_factor(Index n, double* a);
/// b ← op(L)⁻¹ b (left) or b op(L)⁻¹ (right), b being rows × columns with leading dimension ldb.
void solve_triangular(Side side, Form form, Index rows, Index columns, const double* l, Index ldl, double* b,
                      Index ldb);
/// c ← alpha op(a) op(b) + beta c, c being rows × columns and `inner` terms long.
void multiply(Form form_a, Form form_b, Index rows, Index columns, Index inner, double alpha, const double* a,
              Index lda, const double* b, Index ldb, double beta, double* c, Index ldc);
/// The lower half of c ← alpha op(a) op(a)ᵀ + beta c, op(a) being n × inner.
void multiply_by_transposed(Form form, Index n, Index inner, double alpha, const double* a, Index lda,
                            double beta, double* c, Index ldc);

}  // namespace bandgp::lapack
