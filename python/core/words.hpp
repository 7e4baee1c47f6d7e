// SPDX-License-Identifier: Apache-2.0
// The library's messages in the words of Python: options are arguments.
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "bandgp/base/error.hpp"

namespace bandgp::python {

/// time_format, thin=0.3, method="auto", fix={"noise": 0.1}
std::string argument_spelling(Option option, std::string_view value);

/// Raises an exception of this Python type with the words of the error; its `code` and `fields` are
/// attributes.
void raise(const Error& error, PyObject* type);

}  // namespace bandgp::python
