// SPDX-License-Identifier: Apache-2.0
#include "bandgp/report/document.hpp"

#include <cmath>

#include "bandgp/report/assets.hpp"
#include "bandgp/report/inert.hpp"
#include "bandgp/version.hpp"

namespace bandgp {
namespace {

using Json = nlohmann::ordered_json;

template <class Items, class Write>
Json list(const Items& items, Write write) {
  Json json = Json::array();
  for (const auto& item : items) json.push_back(write(item));
  return json;
}

Json series_json(const PageSeries& series) {
  Json points = Json::array();
  for (const PagePoint& point : series.points) {
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
    points.push_back({{"x", point.x}, {"y", point.y}, {"label", point.label}, {"hollow", point.hollow}});
  }
  return {{"name", series.name}, {"mark", series.mark}, {"line", series.line}, {"points", points}};
}

Json axis_json(const PageAxis& axis) {
  return {{"label", axis.label}, {"log", axis.log}, {"most", axis.most}};
}

Json chart_json(const PageChart& chart) {
  return {{"title", chart.title},
          {"how", chart.how},
          {"says", chart.says},
          {"x", axis_json(chart.x)},
          {"y", axis_json(chart.y)},
          {"series", list(chart.series, series_json)},
          {"rules", list(chart.rules, [](const PageRule& rule) {
             return Json{{"at", rule.at}, {"label", rule.label}};
           })}};
}

Json table_json(const PageTable& table) {
  return {{"caption", table.caption}, {"headings", table.headings}, {"rows", table.rows}};
}

Json section_json(const PageSection& section) {
  return {{"id", section.id},         {"title", section.title},
          {"lead", section.lead},     {"charts", list(section.charts, chart_json)},
          {"legend", section.legend}, {"tables", list(section.tables, table_json)},
          {"notes", section.notes}};
}

Json card_json(const PageCard& card) {
  return {{"label", card.label}, {"figure", card.figure}, {"unit", card.unit}, {"text", card.text}};
}

}  // namespace

std::string document_page(const Page& page) {
  const Json json = {{"version", version()},
                     {"created", page.created},
                     {"command", page.command},
                     {"title", page.title},
                     {"subtitle", page.subtitle},
                     {"remark", page.remark},
                     {"cards", list(page.cards, card_json)},
                     {"sections", list(page.sections, section_json)}};
  std::string text(document_head());
  text += "<script type=\"application/json\" id=\"document\">" + inert(json) + "</script>\n";
  text += document_tail();
  return text;
}

}  // namespace bandgp
