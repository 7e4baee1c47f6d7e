// SPDX-License-Identifier: Apache-2.0
#include "words.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace bandgp::python {

namespace nb = nanobind;

std::string argument_spelling(Option option, std::string_view value) {
  const std::string_view name = option_name(option);
  if (option == Option::skip_bad) return "skip_bad=True";
  if (value.empty()) return std::string(name);
  switch (option) {
    case Option::fix: {
      const std::size_t equals = value.find('=');
      return fmt::format("fix={{\"{}\": {}}}", value.substr(0, equals), value.substr(equals + 1));
    }
    case Option::thin:
      return fmt::format("{}={}", name, value);
    default:
      return fmt::format("{}=\"{}\"", name, value);
  }
}

void raise(const Error& error, PyObject* type) {
  const Message& message = error.message();
  nb::dict fields;
  for (const Field& field : message.fields)
    std::visit([&](const auto& value) { fields[nb::str(field.name.data(), field.name.size())] = value; },
               field.value);
  const std::string_view code = code_name(message.code);
  nb::object raised = nb::borrow(type)(words(message, argument_spelling));
  raised.attr("code") = nb::str(code.data(), code.size());
  raised.attr("fields") = fields;
  PyErr_SetObject(type, raised.ptr());
}

}  // namespace bandgp::python
