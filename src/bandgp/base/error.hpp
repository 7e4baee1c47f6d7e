// SPDX-License-Identifier: Apache-2.0
// Exceptions that carry a message as a value.  what() has the library's own words; the command line and
// Python catch Error and put the message into theirs.
#pragma once
#include <stdexcept>
#include <utility>

#include "bandgp/base/message.hpp"

namespace bandgp {

class Error {
 public:
  explicit Error(Message message) : message_(std::move(message)) {}
  virtual ~Error() = default;
  const Message& message() const { return message_; }

 protected:
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;

 private:
  Message message_;
};

/// A mistake in what the library was given.
struct InvalidArgument : std::invalid_argument, Error {
  explicit InvalidArgument(Message message)
      : std::invalid_argument(words(message)), Error(std::move(message)) {}
};

/// No mistake, but no result at these parameters or on this machine either.
struct NoResult : std::runtime_error, Error {
  explicit NoResult(Message message) : std::runtime_error(words(message)), Error(std::move(message)) {}
};

}  // namespace bandgp
