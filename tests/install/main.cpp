// What README shows, as a program of its own: argument, a table of times and values.
#include <cstdio>
#include <vector>

#include "bandgp/bandgp.hpp"

int main(int, char** argv) {
  const char* path = argv[1];

  const auto table = bandgp::read_csv(path, {.x = "time", .y = "sunspots"});
  const auto fit = bandgp::fit(table, {.kernel = "se", .tolerance = 0.01});
  const std::vector<double> grid = {1900.5, 1901.5, 1984.5};
  const auto p = fit.predict(grid);  // p.mean, p.variance, p.variance_observed
  std::printf("%g, within %g of the exact GP\n", p.mean[0], fit.certificate.mean_error.value());

  return fit.certified() ? 0 : 1;
}
