# SPDX-License-Identifier: Apache-2.0
import gpytorch
import numpy as np
import torch

from problem import Fitted
from search import minimise

PACKAGES = ("gpytorch", "torch", "numpy")
GRID = 1_000_000  # points at most
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


class _Model(gpytorch.models.ExactGP):
    def __init__(self, t, y, likelihood, covariance):
        super().__init__(t, y, likelihood)
        self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), covariance

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def _fit(problem, wrap):
    t, y, new = (torch.from_numpy(np.ascontiguousarray(a)) for a in (problem.t, problem.y, problem.t_new))
    rbf = gpytorch.kernels.RBFKernel()
    scaled = gpytorch.kernels.ScaleKernel(wrap(rbf))
    likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=gpytorch.constraints.Positive())  # not 1e-4 at least
    model = _Model(t, y, likelihood, scaled).train()
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

    def assign(theta):
        scaled.outputscale, rbf.lengthscale, likelihood.noise = np.exp(theta).tolist()

    def loss(theta):
        """The library's own raw parameters are softplus⁻¹; its slopes become those of the logarithms."""
        assign(theta)
        torch.manual_seed(0)  # KISS-GP's log determinant is random: the same draw every time
        model.zero_grad()
        value = -marginal(model(t), y) * len(y)
        value.backward()
        raw = (scaled.raw_outputscale, rbf.raw_lengthscale, likelihood.noise_covar.raw_noise)
        slopes = [float(p.grad.sum() / torch.sigmoid(p.detach()).sum()) for p in raw]
        return value.item(), np.array(slopes) * np.exp(theta)

    found = minimise(loss, problem.start, with_gradient=True)
    assign(found.x)

    def posterior():
        model.eval(), likelihood.eval()
        with torch.no_grad():
            return likelihood(model(new))

    def predict():
        p = posterior()
        return p.mean.numpy(), p.stddev.numpy()

    def covariance():
        with torch.no_grad():
            p = posterior()
            return p.mean.numpy(), p.covariance_matrix.numpy()

    return Fitted(float(found.fun), dict(zip(("variance", "lengthscale", "noise"), np.exp(found.x).tolist())), predict,
                  covariance=covariance, evaluations=found.nfev)


def exact(problem):
    """Cholesky at any size, in predictions too: neither a random log determinant nor conjugate gradients."""
    gpytorch.settings.max_cholesky_size(10**9).__enter__()  # for good: the process has no other use
    return _fit(problem, lambda kernel: kernel)


def kiss(problem):
    """A grid of two points for each mean gap."""
    grid = min(GRID, 2 * len(problem.t))
    return _fit(problem, lambda kernel: gpytorch.kernels.GridInterpolationKernel(
        kernel, grid_size=grid, num_dims=1, grid_bounds=[(float(problem.t[0]), float(problem.t[-1]))]))
