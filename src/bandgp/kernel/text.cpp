// SPDX-License-Identifier: Apache-2.0
// The text form of a kernel.  The one grammar, white space free:
//   kernel = term {"+" term}             term = [number "*"] shape [values] ["*" factor [values]]
//   values = "(" key "=" number {"," key "=" number} ")"
//   shape    the name or an alias of a shape, in any case
//   factor   the name of a factor, in any case; behind shapes that take one
//   key      the name of a parameter that the shape, or the factor, has, in any case
//   number   finite and > 0, read the same in every locale; of a time also a duration, such as 24h
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "bandgp/base/quote.hpp"
#include "bandgp/kernel/kernel.hpp"

namespace bandgp {
namespace {

constexpr std::size_t kMostTerms = 16;

const std::array<AnyShape, kShapes>& all_shapes() {
  static const auto shapes = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<AnyShape, kShapes>{AnyShape(std::in_place_index<i>)...};
  }(std::make_index_sequence<kShapes>{});
  return shapes;
}

/// The factors that a text can have: all but the first, which is none.
std::span<const AnyFactor> all_factors() {
  static const auto factors = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<AnyFactor, kFactors - 1>{AnyFactor(std::in_place_index<i + 1>)...};
  }(std::make_index_sequence<kFactors - 1>{});
  return factors;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_in_name(char c) { return is_letter(c) || is_digit(c); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool starts_with(std::string_view text, std::string_view name) {
  return text.size() >= name.size() &&
         std::ranges::equal(text.substr(0, name.size()), name, {}, lower, lower);
}
bool same_word(std::string_view a, std::string_view b) { return a.size() == b.size() && starts_with(a, b); }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Parser {
 public:
  Parser(std::string_view text, const ReadDuration& duration) : text_(text), duration_(duration) {}

  Kernel kernel() {
    Kernel result;
    do {
      if (result.terms.size() == kMostTerms) fail(fmt::format("more than {} terms", kMostTerms), at_);
      result.terms.push_back(term());
    } while (accept('+'));
    if (!at_end()) expected("\"+\" or the end");
    return result;
  }

 private:
  Term term() {
    Term result;
    if (starts_number()) {
      result.variance = number("variance");
      if (!accept('*')) expected("\"*\"");
    }
    result.shape = shape();
    values(result, result.parameters());
    if (takes_factors(result.shape) && accept('*')) {
      const std::size_t of_shape = result.parameters().size();  // a factor's come behind them
      result.factor = factor();
      values(result, result.parameters().subspan(of_shape));
    }
    return result;
  }

  void values(Term& term, std::span<const Parameter> known) {
    if (!accept('(')) return;
    do parameter(term, known);
    while (accept(','));
    if (!accept(')')) expected("\",\" or \")\"");
  }

  AnyFactor factor() {
    const std::size_t start = skip_space();
    const std::string_view word = name(fmt::format("a factor ({})", fmt::join(factor_names(), ", ")));
    for (const AnyFactor& factor : all_factors()) {
      if (same_word(word, factor_name(factor))) return factor;
    }
    fail(fmt::format("unknown factor {}", quote(word)), start,
         fmt::format("; known: {}", fmt::join(factor_names(), ", ")));
  }

  /// The longest name or alias that stands here: `matern-1/2` has characters that end other names.
  AnyShape shape() {
    const std::size_t start = skip_space();
    const std::string_view rest = text_.substr(at_);
    const AnyShape* found = nullptr;
    std::size_t longest = 0;
    const auto look_for = [&](const AnyShape& shape, std::string_view spelling) {
      const bool ends = rest.size() <= spelling.size() || !is_in_name(rest[spelling.size()]);
      if (spelling.size() <= longest || !ends || !starts_with(rest, spelling)) return;
      found = &shape;
      longest = spelling.size();
    };
    for (const AnyShape& shape : all_shapes()) {
      look_for(shape, shape_name(shape));
      std::visit(
          [&]<class S>(S) {
            for (const std::string_view alias : S::aliases) look_for(shape, alias);
          },
          shape);
    }
    if (found == nullptr) {
      const std::string_view unknown = name("a shape");
      fail(fmt::format("unknown shape {}", quote(unknown)), start,
           fmt::format("; known: {}", fmt::join(shape_names(), ", ")));
    }
    at_ += longest;
    return *found;
  }

  void parameter(Term& term, std::span<const Parameter> known) {
    const std::size_t start = skip_space();
    std::vector<std::string_view> names;
    for (const Parameter& own : known) names.push_back(own.name);
    const std::string_view key = name(fmt::format("{}", fmt::join(names, " or ")));
    const auto at = std::ranges::find_if(names, [&](std::string_view own) { return same_word(key, own); });
    if (at == names.end())
      fail(fmt::format("unknown parameter {}", quote(key)), start,
           fmt::format("; known: {}", fmt::join(names, ", ")));
    const Parameter& own = known[static_cast<std::size_t>(at - names.begin())];
    double& value = term.*own.member;
    if (!std::isnan(value)) fail(fmt::format("{} given twice", *at), start);
    if (!accept('=')) expected("\"=\"");
    value = own.unit == Unit::time ? time(*at) : number(*at);
  }

  /// A number, or one with its unit behind it.
  double time(std::string_view what) {
    const std::size_t start = skip_space();
    const double value = number(what);
    const std::size_t end = at_;
    if (skip_space() == text_.size() || !is_letter(text_[at_])) {
      at_ = end;
      return value;
    }
    while (!at_end() && is_letter(text_[at_])) ++at_;
    const std::string_view given = text_.substr(start, at_ - start);
    double read = 0;
    try {
      read = duration_(given);
    } catch (const std::invalid_argument& error) {
      fail(fmt::format("{} is no time", what), start, fmt::format(": {}", error.what()));
    }
    if (!std::isfinite(read) || !(read > 0))
      fail(fmt::format("{} is {}, must be finite and positive,", what, given.substr(0, 40)), start);
    return read;
  }

  double number(std::string_view what) {
    if (!starts_number()) expected("a number");
    const std::size_t start = at_;
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument) expected("a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (error != std::errc() || !std::isfinite(value) || !(value > 0))
      fail(fmt::format("{} is {}, must be finite and positive,", what,
                       text_.substr(start, at_ - start).substr(0, 40)),
           start);
    return value;
  }

  std::string_view name(std::string_view what) {
    const std::size_t start = skip_space();
    if (at_end() || !is_letter(text_[at_])) expected(what);
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  bool starts_number() {
    skip_space();
    return !at_end() && (is_digit(text_[at_]) || text_[at_] == '.' || text_[at_] == '-');
  }

  bool accept(char c) {
    skip_space();
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::size_t skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_;
  }
  bool at_end() const { return at_ == text_.size(); }

  [[noreturn]] void expected(std::string_view what) {
    skip_space();
    const std::string found = at_end() ? "the end" : quote(text_.substr(at_, 1));
    fail(fmt::format("expected {}", what), at_, ", found " + found);
  }
  /// Places count from 1, as editors do.
  [[noreturn]] static void fail(std::string_view what, std::size_t place, std::string_view more = "") {
    throw std::invalid_argument(fmt::format("kernel: {} at {}{}", what, place + 1, more));
  }

  std::string_view text_;
  const ReadDuration& duration_;
  std::size_t at_ = 0;
};

/// The shortest decimal number that reads back as the same double.
std::string shortest(double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return std::string(digits.data(), end);
}

}  // namespace

Kernel::Kernel(const char* text) : Kernel(parse_kernel(text)) {}

double no_duration(std::string_view text) {
  throw std::invalid_argument(
      fmt::format("{} has a unit, and durations are for times that are timestamps", quote(text)));
}

Kernel parse_kernel(std::string_view text, const ReadDuration& duration) {
  return Parser(text, duration).kernel();
}

std::span<const std::string_view> shape_names() {
  static const auto names = [] {
    std::array<std::string_view, kShapes> all;
    std::ranges::transform(all_shapes(), all.begin(), shape_name);
    return all;
  }();
  return names;
}

std::span<const std::string_view> factor_names() {
  static const auto names = [] {
    std::array<std::string_view, kFactors - 1> all;
    std::ranges::transform(all_factors(), all.begin(), factor_name);
    return all;
  }();
  return names;
}

namespace {

/// `(key=value, …)` of the parameters that are set; nothing where none is.
std::string values_text(const Term& term, std::span<const Parameter> parameters) {
  std::string values;
  for (const Parameter& parameter : parameters) {
    const double value = term.*parameter.member;
    if (parameter.member == &Term::variance || std::isnan(value)) continue;
    values += fmt::format("{}{}={}", values.empty() ? "(" : ", ", parameter.name, shortest(value));
  }
  if (!values.empty()) values += ')';
  return values;
}

}  // namespace

std::string to_text(const Kernel& kernel) {
  std::string text;
  for (const Term& term : kernel.terms) {
    if (!text.empty()) text += " + ";
    if (!std::isnan(term.variance)) text += shortest(term.variance) + "*";
    const std::span<const Parameter> all = term.parameters();
    const std::size_t of_shape = Term{term.shape}.parameters().size();  // a factor's come behind them
    text.append(shape_name(term.shape)).append(values_text(term, all.first(of_shape)));
    if (term.has_factor())
      text.append("*").append(factor_name(term.factor)).append(values_text(term, all.subspan(of_shape)));
  }
  return text;
}

std::string shapes_text(const Kernel& kernel) {
  std::string text;
  for (const Term& term : kernel.terms) {
    text.append(text.empty() ? "" : " + ").append(shape_name(term.shape));
    if (term.has_factor()) text.append("*").append(factor_name(term.factor));
  }
  return text;
}

}  // namespace bandgp
