// SPDX-License-Identifier: Apache-2.0
// Likelihoods of oscillating kernels as other packages compute them.  tools/oscillation_values.py made the
// numbers.
#include <gtest/gtest.h>

#include "support/problems.hpp"

namespace {

using namespace bandgp;

struct Recorded {
  const char *kernel, *package;
  double nll;
};

constexpr Recorded kRecorded[] = {
    {"1.5*sho(period=7.0, quality=4.0)", "celerite2 0.3.3", 179.47250980538743},
    {"1.5*sho(period=7.0, quality=4.0)", "tinygp 0.3.1", 179.4725098053873},
    {"0.8*sho(period=3.0, quality=0.3)", "celerite2 0.3.3", 190.91374357259554},
    {"0.8*sho(period=3.0, quality=0.3)", "tinygp 0.3.1", 190.91374357259554},
    {"2.0*sho(period=11.0, quality=200.0)", "celerite2 0.3.3", 795.2002035622519},
    {"2.0*sho(period=11.0, quality=200.0)", "tinygp 0.3.1", 795.2002035622555},
    {"1.0*sho(period=5.0, quality=0.8)", "celerite2 0.3.3", 194.37764134839398},
    {"1.0*sho(period=5.0, quality=0.8)", "tinygp 0.3.1", 194.37764134839375},
    {"1.5*matern32(lengthscale=20.0)*cos(period=7.0)", "tinygp 0.3.1", 154.19318574691638},
    {"0.7*matern32(lengthscale=3.0)*cos(period=2.5)", "tinygp 0.3.1", 509.30620507752104},
    {"1.5*se(lengthscale=20.0)*periodic(period=7.0, smoothness=1.0)", "scikit-learn 1.9.1",
     168.00258319327466},
    {"1.5*matern12(lengthscale=20.0)*periodic(period=7.0, smoothness=1.0)", "scikit-learn 1.9.1",
     168.7320669074726},
    {"1.5*periodic(period=7.0, smoothness=1.0)", "scikit-learn 1.9.1", 156.65213717390026},
    {"0.7*se(lengthscale=60.0)*periodic(period=11.0, smoothness=0.5)", "scikit-learn 1.9.1",
     998.3968012935007},
    {"0.7*matern12(lengthscale=60.0)*periodic(period=11.0, smoothness=0.5)", "scikit-learn 1.9.1",
     379.8188721597405},
    {"0.7*periodic(period=11.0, smoothness=0.5)", "scikit-learn 1.9.1", 1155.1814824481871},
    {"2.0*se(lengthscale=30.0)*periodic(period=6.5, smoothness=2.0)", "scikit-learn 1.9.1",
     180.4241652546382},
    {"2.0*matern12(lengthscale=30.0)*periodic(period=6.5, smoothness=2.0)", "scikit-learn 1.9.1",
     165.36853727556792},
    {"2.0*periodic(period=6.5, smoothness=2.0)", "scikit-learn 1.9.1", 1118.5836221621792},
};

/// The packages compute in double precision: they agree with each other to 1e-11.
constexpr double kAgreement = 1e-10;

TEST(PeerValues, oscillating_kernels_are_those_of_celerite2_tinygp_and_scikit_learn) {
  support::Case c;
  for (int i = 0; i < 200; ++i) {
    c.time.push_back(0.7 * i + 0.3 * std::sin(3.0 * i));
    c.value.push_back(std::sin(0.9 * c.time.back()) + 0.5 * std::cos(0.31 * i * i));
  }
  for (const Recorded& recorded : kRecorded) {
    for (const Method method : {Method::automatic, Method::exact}) {
      SCOPED_TRACE(testing::Message() << recorded.kernel << " of " << recorded.package);
      c.model = {recorded.kernel, 0.05, Mean::zero};
      c.cut = {.method = method, .tolerance = 1e-10};
      const EvaluationResult result = evaluate(support::make_series(c), c.model, c.cut);
      ASSERT_FALSE(result.failure);
      EXPECT_NEAR(result.likelihood.nll, recorded.nll, kAgreement * std::abs(recorded.nll))
          << result.likelihood.method;
    }
  }
}

}  // namespace
