// SPDX-License-Identifier: Apache-2.0
// bandgp: Gaussian-process regression for long one-dimensional series, with a proof attached.  In reading
// order:
#pragma once
#include "bandgp/fit/fit.hpp"             // training, one evaluation, certificates
#include "bandgp/gp/bandwidth_rules.hpp"  // what each rule keeps
#include "bandgp/gp/posterior.hpp"        // prediction, samples, leave-one-out
#include "bandgp/gp/simulate.hpp"         // draws from a model, in linear time
#include "bandgp/io/csv.hpp"              // tables as text
#include "bandgp/io/model_file.hpp"       // models out and in
#include "bandgp/io/read_table.hpp"       // tables in, whatever their format
#include "bandgp/kernel/kernel.hpp"       // covariance functions: sums of terms
#include "bandgp/period/periods.hpp"      // periodograms and the periods in them
#include "bandgp/report/report_data.hpp"  // a fit as one HTML page
#include "bandgp/series/series.hpp"       // times, values, errors: sorted, merged, scaled
#include "bandgp/version.hpp"
