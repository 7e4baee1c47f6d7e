// SPDX-License-Identifier: Apache-2.0
// A JSON object whose last field is the checksum of all the text before it: any altered byte is noticed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace bandgp {

/// FNV-1a, 64 bits.  Every step is a bijection of the state, so one altered byte always changes the result.
std::uint64_t fnv1a(std::string_view text);

/// `{…}` → `{…, "checksum": "…"}` with a line end.  The object must have at least one field.
std::string with_checksum(std::string object);
/// Does the text end in the checksum of what precedes it, exactly as with_checksum writes it?
bool checksum_holds(std::string_view text);

}  // namespace bandgp
