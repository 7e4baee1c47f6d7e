// SPDX-License-Identifier: Apache-2.0
// The pages of web/, without data: what stands before them and what stands behind.  Written by web/build.mjs
// when the library is built.
#pragma once
#include <string_view>

namespace bandgp {

std::string_view page_head();
std::string_view page_tail();
std::string_view document_head();
std::string_view document_tail();

}  // namespace bandgp
