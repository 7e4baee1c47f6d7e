// SPDX-License-Identifier: Apache-2.0
// NumPy arrays in and out without copies: in as views of contiguous doubles, out as owners of what was
// computed.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bandgp/base/index.hpp"

namespace bandgp::python {

namespace nb = nanobind;

/// Read-only arrays are welcome; the Python side has made them contiguous doubles.
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline std::span<const double> view(const Doubles& array) { return {array.data(), array.size()}; }

/// Takes the vector over; the array keeps it alive.
template <typename T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values, std::vector<std::size_t> shape) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owned->data();
  const nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner);
}
template <typename T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values) {
  const std::size_t size = values.size();
  return to_numpy(std::move(values), {size});
}

}  // namespace bandgp::python
