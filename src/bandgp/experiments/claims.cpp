// SPDX-License-Identifier: Apache-2.0
#include "bandgp/experiments/claims.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bandgp/experiments/comparison_page.hpp"

namespace bandgp {
namespace {

struct Entry {
  const MethodChoice* choice;
  MethodAverage average;
};

/// The comparison by method.
class Entries {
 public:
  explicit Entries(std::span<const MethodResult> results) {
    for (const MethodResult& result : results) all_.push_back({&result.choice, average_of(result)});
  }
  /// The one without a size, of one term; null where there is none with scores.
  const Entry* plain(Method method) const {
    const auto found = std::ranges::find_if(all_, [&](const Entry& e) {
      return e.choice->method == method && !e.choice->parameter && e.choice->kernel.terms.size() == 1;
    });
    return found == all_.end() || !found->average.whole() ? nullptr : &*found;
  }
  const Entry* sum() const {
    const auto found =
        std::ranges::find_if(all_, [](const Entry& e) { return e.choice->kernel.terms.size() > 1; });
    return found == all_.end() || !found->average.whole() ? nullptr : &*found;
  }
  std::vector<Entry> sized(std::initializer_list<Method> methods) const {
    std::vector<Entry> chosen;
    for (const Entry& entry : all_) {
      const bool wanted = std::ranges::find(methods, entry.choice->method) != methods.end();
      const bool scored = entry.average.whole() && std::isfinite(entry.average.scores.nmse);
      if (wanted && entry.choice->parameter && scored) chosen.push_back(entry);
    }
    return chosen;
  }

 private:
  std::vector<Entry> all_;
};

std::string times(double ratio) { return fmt::format("{:.{}f} times", ratio, ratio < 10 ? 1 : 0); }

double nmse_off(const Entry& entry, const Entry& exact) {
  return entry.average.scores.nmse / exact.average.scores.nmse - 1;
}

/// A share of what it is compared with, in per cent.
std::string percent(double share) {
  const double value = 100 * std::abs(share);
  return value < 100 ? fmt::format("{:.2g} %", value) : fmt::format("{:.0f} %", value);
}

void same_as_exact(const Entries& entries, const Entry& exact, std::vector<std::string>& claims) {
  std::vector<Index> valid, others;
  double worst_nmse = 0, worst_nlpd = 0;
  for (const Entry& entry : entries.sized({Method::band})) {
    (entry.average.valid() ? valid : others).push_back(*entry.choice->parameter);
    if (!entry.average.valid()) continue;
    worst_nmse = std::max(worst_nmse, std::abs(nmse_off(entry, exact)));
    const double off = std::abs(entry.average.scores.nlpd_joint - exact.average.scores.nlpd_joint);
    worst_nlpd = off <= worst_nlpd ? worst_nlpd : off;  // NaN is the worst
  }
  if (valid.empty()) {
    claims.emplace_back("No fixed bandwidth kept the matrix positive definite throughout training.");
  } else {
    claims.push_back(
        fmt::format("Fixed bandwidths that kept the matrix positive definite throughout training: {}. Their "
                    "NMSE is within {} of the exact "
                    "GP's and their joint NLPD within {:.2g} nats.",
                    fmt::join(valid, ", "), percent(worst_nmse), worst_nlpd));
  }
  if (!others.empty())
    claims.push_back(
        fmt::format("Fixed bandwidths that did not: {}. Training is then turned back at the edge of what is "
                    "positive definite; where it ends "
                    "there, the model is another than the exact GP, whatever its scores.",
                    fmt::join(others, ", ")));
}

void against_sparse(const Entries& entries, const Entry& band, std::vector<std::string>& claims) {
  const std::vector<Entry> sparse = entries.sized({Method::fitc, Method::vfe});
  Index worse_nmse = 0, worse_nlpd = 0, slower = 0;
  const Entry* closest = nullptr;
  for (const Entry& entry : sparse) {
    worse_nmse += entry.average.scores.nmse > band.average.scores.nmse ? 1 : 0;
    worse_nlpd += entry.average.scores.nlpd_joint <= band.average.scores.nlpd_joint ? 0 : 1;
    slower += entry.average.fit_seconds > band.average.fit_seconds ? 1 : 0;
    if (closest == nullptr || entry.average.scores.nmse < closest->average.scores.nmse) closest = &entry;
  }
  if (closest == nullptr) return;
  claims.push_back(
      fmt::format("Of {} runs of FITC and VFE {} have a larger NMSE than the certified band, {} a larger "
                  "joint NLPD, and {} trained longer. The "
                  "closest, {}, has {} {} NMSE and trained {} as long.",
                  sparse.size(), worse_nmse, worse_nlpd, slower, closest->choice->name(),
                  percent(nmse_off(*closest, band)), nmse_off(*closest, band) < 0 ? "less" : "more",
                  times(closest->average.fit_seconds / band.average.fit_seconds)));
}

void other_models(const Entries& entries, const Entry& exact, std::vector<std::string>& claims) {
  for (const Method method : {Method::taper, Method::vecchia}) {
    const std::vector<Entry> sized = entries.sized({method});
    if (sized.empty()) continue;
    const auto& best =
        *std::ranges::min_element(sized, {}, [](const Entry& e) { return e.average.scores.nmse; });
    const auto& widest = sized.back();
    const Index edge = std::ranges::count_if(sized, [](const Entry& e) { return e.average.at_bound > 0; });
    claims.push_back(fmt::format(
        "{}: best NMSE {} at {} ({} {} than the exact GP), {} at {}.{}",
        method == Method::taper ? "Tapering" : "Vecchia", number_text(best.average.scores.nmse),
        *best.choice->parameter, percent(nmse_off(best, exact)), nmse_off(best, exact) < 0 ? "less" : "more",
        number_text(widest.average.scores.nmse), *widest.choice->parameter,
        edge > 0 ? fmt::format(" At {} of {} sizes training ended at the edge of the "
                               "parameters tried.",
                               edge, sized.size())
                 : ""));
  }
}

}  // namespace

std::vector<std::string> claims_of(std::span<const MethodResult> results) {
  const Entries entries(results);
  std::vector<std::string> claims;
  const Entry* exact = entries.plain(Method::exact);
  const Entry* band = entries.plain(Method::band);
  const Entry* dual = entries.plain(Method::dual);
  if (exact == nullptr) return claims;
  for (const auto& [entry, name] :
       {std::pair{band, "The certified band"}, std::pair{dual, "The dual band"}}) {
    if (entry == nullptr) continue;
    claims.push_back(
        fmt::format("{} (width {}) has the exact GP's NMSE to {} and its joint NLPD to {:.1g} nats, and "
                    "trained {} as fast.",
                    name, entry->average.bandwidth, percent(nmse_off(*entry, *exact)),
                    std::abs(entry->average.scores.nlpd_joint - exact->average.scores.nlpd_joint),
                    times(exact->average.fit_seconds / entry->average.fit_seconds)));
  }
  same_as_exact(entries, *exact, claims);
  if (band != nullptr) against_sparse(entries, *band, claims);
  other_models(entries, *exact, claims);
  if (const Entry* sum = entries.sum()) {
    claims.push_back(fmt::format(
        "Two SE terms: NMSE {}, {} {} than the exact GP with one; joint NLPD {} against {}.",
        number_text(sum->average.scores.nmse), percent(nmse_off(*sum, *exact)),
        nmse_off(*sum, *exact) < 0 ? "less" : "more", number_text(sum->average.scores.nlpd_joint, 5),
        number_text(exact->average.scores.nlpd_joint, 5)));
  }
  return claims;
}

std::vector<PageCard> claim_cards(std::span<const MethodResult> results) {
  const Entries entries(results);
  std::vector<PageCard> cards;
  const Entry* exact = entries.plain(Method::exact);
  const auto add = [&](const char* label, const Entry* entry) {
    if (entry == nullptr) return;
    const MethodAverage& average = entry->average;
    std::string text = fmt::format("Joint NLPD {}, trained in {} s with {} evaluations.",
                                   number_text(average.scores.nlpd_joint, 5),
                                   number_text(average.fit_seconds, 3), number_text(average.evaluations, 3));
    if (exact != nullptr && entry != exact)
      text += fmt::format(" {} as fast as the exact GP.",
                          times(exact->average.fit_seconds / average.fit_seconds));
    cards.push_back({label, number_text(average.scores.nmse), "NMSE", text});
  };
  add("Exact GP", exact);
  add("Certified band", entries.plain(Method::band));
  add("Dual band", entries.plain(Method::dual));
  add("Two SE terms", entries.sum());
  return cards;
}

}  // namespace bandgp
