# SPDX-License-Identifier: Apache-2.0
"""The same start and the same end for all; and in words."""

START = {"variance": 1.0, "lengthscale": 5.0, "noise": 0.25}  # of standardised values, times in mean gaps
# L-BFGS-B of SciPy with its defaults, but for the iterations.
STOPPING = {"maxiter": 100, "ftol": 2.220446049250313e-09, "gtol": 1e-5}

WORDS = (
    "Series: the same files for all. Values less their training mean, over their training deviation; times from 0, in mean gaps. "
    "A zero mean then, and no other preparation.",
    "Split: chosen once at random, the same for all; at most 1000 values are held out, so that their joint density can be had.",
    "Start: variance 1, length-scale 5 mean gaps, noise 0.25.",
    "End: L-BFGS-B as in SciPy: relative decrease below 2.2e-9 or slopes below 1e-5, at most 100 iterations. Peers with an optimiser of "
    "their own keep its rule; the table says which.",
    "One process for each trial, one thread, double precision, no GPU. Import is not timed; compilation on the way is.",
    "NMSE: squared error over the variance of what was held out. Joint NLPD: −log p of all that was held out together, in nats, from the "
    "predictive covariance, or as the difference of two likelihoods at the trained parameters. NLL: of the peer's own model, in the "
    "units of the data; those of exact SE models must agree.",
)
