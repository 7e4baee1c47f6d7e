// SPDX-License-Identifier: Apache-2.0
// A page of charts and tables in the look of the report: plain numbers and texts, laid out by
// web/document.js.
#pragma once
#include <limits>
#include <string>
#include <vector>

namespace bandgp {

struct PagePoint {
  double x = 0, y = 0;
  std::string label;    // beside the mark where there is room, and on its tooltip
  bool hollow = false;  // shown, but not to be relied on
};

struct PageSeries {
  std::string name;
  int mark = 0;       // shape and colour: the same number, the same look on every chart
  bool line = false;  // the points are joined in their order
  std::vector<PagePoint> points;
};

struct PageRule {
  double at = 0;  // on the x axis
  std::string label;
};

struct PageAxis {
  std::string label;
  bool log = false;
  double most =
      std::numeric_limits<double>::infinity();  // as far as the axis goes; what is beyond stands on its edge
};

struct PageChart {
  std::string title, how, says;  // heading, how to read it, what it says here
  PageAxis x, y;
  std::vector<PageSeries> series;
  std::vector<PageRule> rules;
};

struct PageTable {
  std::string caption;
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;
};

struct PageSection {
  std::string id, title, lead;
  std::vector<PageChart> charts;
  std::vector<std::string> legend;  // what hollow and filled marks mean, and the like
  std::vector<PageTable> tables;
  std::vector<std::string> notes;  // a list below
};

struct PageCard {
  std::string label, figure, unit, text;
};

struct Page {
  std::string title, subtitle, remark;
  std::string command, created;
  std::vector<PageCard> cards;
  std::vector<PageSection> sections;
};

/// One HTML file that needs nothing else.  Points that are not finite are left out.
std::string document_page(const Page& page);

}  // namespace bandgp
