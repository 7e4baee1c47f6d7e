// The standard normal distribution.

/// Φ⁻¹(p), to 1e-9 or so: P. J. Acklam's rational approximations.
export function quantile(p) {
  const a = [-3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.38357751867269e2, -3.066479806614716e1, 2.506628277459239];
  const b = [-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1, 1];
  const c = [-7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734, 4.374664141464968, 2.938163982698783];
  const d = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1];
  const polynomial = (coefficients, x) => coefficients.reduce((sum, k) => sum * x + k, 0);
  if (p > 0.5) return -quantile(1 - p);
  if (p < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(p));
    return polynomial(c, q) / polynomial(d, q);
  }
  const q = p - 0.5;
  return q * polynomial(a, q * q) / polynomial(b, q * q);
}

export const density = (x) => Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
