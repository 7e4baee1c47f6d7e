# SPDX-License-Identifier: Apache-2.0
import gpflow
import numpy as np
import tensorflow as tf

from given import STOPPING
from problem import Fitted

PACKAGES = ("gpflow", "tensorflow-cpu", "numpy")
INDUCING = 100
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)


def _fit(problem, make):
    kernel = gpflow.kernels.SquaredExponential(problem.variance, problem.lengthscale)
    model = make((problem.t[:, None], problem.y[:, None]), kernel)
    model.likelihood.variance.assign(problem.noise)
    found = gpflow.optimizers.Scipy().minimize(model.training_loss, model.trainable_variables, options=STOPPING)
    new = problem.t_new[:, None]

    def predict():
        mean, variance = model.predict_y(new)
        return mean.numpy()[:, 0], np.sqrt(variance.numpy()[:, 0])

    def covariance():
        mean, cov = model.predict_f(new, full_cov=True)
        return mean.numpy()[:, 0], cov.numpy()[0] + model.likelihood.variance.numpy() * np.eye(len(new))

    return Fitted(float(model.training_loss().numpy()),
                  {"variance": float(kernel.variance.numpy()), "lengthscale": float(kernel.lengthscales.numpy()),
                   "noise": float(model.likelihood.variance.numpy())}, predict, covariance=covariance,
                  evaluations=found.nfev)


def _inducing(problem):
    return np.quantile(problem.t, np.linspace(0, 1, min(INDUCING, len(problem.t))))[:, None]


def exact(problem):
    return _fit(problem, lambda data, kernel: gpflow.models.GPR(data, kernel))


def sgpr(problem):
    return _fit(problem, lambda data, kernel: gpflow.models.SGPR(data, kernel, inducing_variable=_inducing(problem)))


def fitc(problem):
    return _fit(problem, lambda data, kernel: gpflow.models.GPRFITC(data, kernel, inducing_variable=_inducing(problem)))
