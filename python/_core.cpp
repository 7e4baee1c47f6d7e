// SPDX-License-Identifier: Apache-2.0
// The compiled half of the Python package: the library's own types and functions, and nothing decided here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <exception>
#include <stdexcept>

#include "bandgp/simd/dispatch.hpp"
#include "core/bindings.hpp"
#include "core/fitted.hpp"
#include "core/words.hpp"

namespace nb = nanobind;
using namespace bandgp::python;

namespace {

nb::object linear_algebra_error() { return nb::module_::import_("numpy.linalg").attr("LinAlgError"); }

/// std::invalid_argument is ValueError by itself.
void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const FileError& error) {
    PyErr_SetString(PyExc_OSError, error.what());
  } catch (const bandgp::InvalidArgument& error) {
    raise(error, PyExc_ValueError);
  } catch (const bandgp::NoResult& error) {
    raise(error, linear_algebra_error().ptr());
  } catch (const std::runtime_error& error) {
    PyErr_SetString(linear_algebra_error().ptr(), error.what());
  }
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "bandgp's C++ library; use the package bandgp instead.";
  nb::register_exception_translator(translate);
  m.def("version", &bandgp::version);
  m.def("instruction_set", [] { return bandgp::simd::isa_name(bandgp::simd::active()); });
  bind_data(m);
  bind_fitted(m);
  bind_tools(m);
  bind_periods(m);
  bind_experiments(m);
}
