// SPDX-License-Identifier: Apache-2.0
#include "bandgp/methods/lapack.hpp"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dtrsm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* beta, double* c, const int* ldc);
int openblas_get_num_threads();
void openblas_set_num_threads(int threads);
}

namespace bandgp::lapack {
namespace {

int as_int(Index i) { return static_cast<int>(i); }

}  // namespace

OneThread::OneThread() : before_(openblas_get_num_threads()) { openblas_set_num_threads(1); }
OneThread::~OneThread() { openblas_set_num_threads(before_); }

Index cholesky(Index n, double* a) {
  const int size = as_int(n);
  int info = 0;
  dpotrf_("L", &size, a, &size, &info);
  return info > 0 ? info - 1 : -1;
}

void inverse_from_factor(Index n, double* a) {
  const int size = as_int(n);
  int info = 0;
  dpotri_("L", &size, a, &size, &info);
}

void solve_triangular(Side side, Form form, Index rows, Index columns, const double* l, Index ldl, double* b,
                      Index ldb) {
  const char s = static_cast<char>(side), f = static_cast<char>(form);
  const int m = as_int(rows), n = as_int(columns), lda = as_int(ldl), ldb_ = as_int(ldb);
  const double one = 1;
  dtrsm_(&s, "L", &f, "N", &m, &n, &one, l, &lda, b, &ldb_);
}

void multiply(Form form_a, Form form_b, Index rows, Index columns, Index inner, double alpha, const double* a,
              Index lda, const double* b, Index ldb, double beta, double* c, Index ldc) {
  const char fa = static_cast<char>(form_a), fb = static_cast<char>(form_b);
  const int m = as_int(rows), n = as_int(columns), k = as_int(inner), la = as_int(lda), lb = as_int(ldb),
            lc = as_int(ldc);
  dgemm_(&fa, &fb, &m, &n, &k, &alpha, a, &la, b, &lb, &beta, c, &lc);
}

void multiply_by_transposed(Form form, Index n, Index inner, double alpha, const double* a, Index lda,
                            double beta, double* c, Index ldc) {
  const char f = static_cast<char>(form);
  const int size = as_int(n), k = as_int(inner), la = as_int(lda), lc = as_int(ldc);
  dsyrk_("L", &f, &size, &k, &alpha, a, &la, &beta, c, &lc);
}

}  // namespace bandgp::lapack
