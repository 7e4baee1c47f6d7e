// SPDX-License-Identifier: Apache-2.0
// EDFlib opens files by path and seeks in them.  The bytes therefore go into an anonymous file in memory
// first: pipes and gzipped recordings work, and a header can be mended without touching the user's file.
#include "bandgp/io/edf.hpp"

#include <edflib.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "bandgp/base/error.hpp"
#include "bandgp/base/quote.hpp"
#include "bandgp/io/csv.hpp"

namespace bandgp {
namespace {

constexpr std::size_t kHeader = 256, kLabel = 16;

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw std::invalid_argument(fmt::format("{}: {}", file, what));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\0')) text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

std::size_t whole(std::string_view field) {
  const std::string_view text = trimmed(field);
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Some recorders write EDF+C or BDF+C into the header and then no signal of annotations, which the standard
/// asks for and EDFlib insists on.  Without annotations it is plain EDF: the claim is taken out.
void mend_header(std::string& content) {
  std::string_view bytes = content;
  const std::string_view claim = bytes.substr(192, 5);
  if (claim != "EDF+C" && claim != "BDF+C") return;
  const std::size_t signals = whole(bytes.substr(252, 4));
  if (signals > EDFLIB_MAXSIGNALS || content.size() < kHeader + kLabel * signals) return;
  for (std::size_t i = 0; i < signals; ++i)
    if (trimmed(bytes.substr(kHeader + kLabel * i, kLabel)).ends_with("DF Annotations")) return;
  std::fill_n(content.begin() + 192, 44, ' ');
}

/// A file in memory, by path.
class MemoryFile {
 public:
  MemoryFile(std::string_view content, const std::string& name)
      : descriptor_(memfd_create("bandgp", MFD_CLOEXEC)) {
    bool written = descriptor_ >= 0;
    while (written && !content.empty()) {
      const ssize_t done = write(descriptor_, content.data(), content.size());
      if (done < 0 && errno == EINTR) continue;
      written = done > 0;
      if (written) content.remove_prefix(static_cast<std::size_t>(done));
    }
    if (written) return;
    const int reason = errno;
    if (descriptor_ >= 0) close(descriptor_);
    throw std::runtime_error(fmt::format("cannot hold {} in memory: {}", name, std::strerror(reason)));
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

std::string open_error(int code) {
  switch (code) {
    case EDFLIB_FILE_IS_DISCONTINUOUS:
      return "is a discontinuous recording (EDF+D), which is not read; export its parts as EDF or as CSV "
             "with times";
    case EDFLIB_FILE_READ_ERROR:
    case EDFLIB_FILE_CONTAINS_FORMAT_ERRORS:
      return "is cut off, or its EDF header is not as the standard says (EDFbrowser tells where)";
    case EDFLIB_NUMBER_OF_SIGNALS_INVALID:
      return "has no signals, or too many";
    default:
      return fmt::format("cannot be opened as EDF (EDFlib error {})", code);
  }
}

/// The channel of that name, the only one, or an error with the list.
int find_channel(const edf_hdr_struct& header, const std::string& wanted, const std::string& file) {
  std::string list;
  int found = -1, times = 0;
  for (int i = 0; i < header.edfsignals; ++i) {
    const std::string_view label = trimmed(header.signalparam[i].label);
    if (label == wanted) found = i, ++times;
    list += fmt::format("{}{}", i == 0 ? "" : ", ", label);
  }
  if (list.size() > 300) list = list.substr(0, 300) + fmt::format(", ... ({} in all)", header.edfsignals);
  if (times == 1) return found;
  if (times > 1) refuse(file, fmt::format("has {} channels {}", times, quote(wanted)));
  if (wanted.empty() && header.edfsignals == 1) return 0;
  if (wanted.empty())
    throw InvalidArgument({MessageCode::which_channel, {{"place", file}, {"channels", list}}});
  refuse(file, fmt::format("no channel {}; channels: {}", quote(wanted), list));
}

}  // namespace

bool is_edf(std::string_view head) {
  if (head.size() < kHeader) return false;
  const bool edf = head.starts_with("0       "), bdf = head.starts_with(
                                                     "\xFF"
                                                     "BIOSEMI");
  const auto dotted = [&](std::size_t at) { return head[at + 2] == '.' && head[at + 5] == '.'; };
  return (edf || bdf) && dotted(168) && dotted(176);  // dd.mm.yy, hh.mm.ss
}

Table read_edf(ByteSource& source, const ReadOptions& options) {
  const std::string& file = source.name();
  if (!options.x.empty() || !options.y.empty() || !options.yerr.empty() || options.step != 0)
    throw InvalidArgument({MessageCode::table_options_of_recording, {{"place", file}}});
  if (!options.time_format.empty())
    throw InvalidArgument({MessageCode::time_format_of_recording, {{"place", file}}});
  if (!options.time_unit.empty() && unit_seconds(options.time_unit) == 0)
    throw InvalidArgument({MessageCode::unknown_time_unit, {{"given", quote(options.time_unit)}}});
  std::string content = source.read_all();
  mend_header(content);
  const MemoryFile memory(content, file);
  content = {};

  static std::mutex one_at_a_time;  // EDFlib keeps its open files in one global list
  const std::lock_guard lock(one_at_a_time);
  const auto header = std::make_unique<edf_hdr_struct>();
  if (edfopen_file_readonly(memory.path().c_str(), header.get(), EDFLIB_DO_NOT_READ_ANNOTATIONS) != 0)
    refuse(file, open_error(header->filetype));
  const std::unique_ptr<edf_hdr_struct, void (*)(edf_hdr_struct*)> closing(
      header.get(), [](edf_hdr_struct* open) { edfclose_file(open->handle); });

  const int channel = find_channel(*header, options.channel, file);
  const edf_param_struct& signal = header->signalparam[channel];
  const auto samples = static_cast<std::size_t>(std::max(signal.smp_in_file, 0LL));
  if (samples == 0 || signal.smp_in_datarecord <= 0 || header->datarecord_duration <= 0)
    refuse(file, "no data rows");
  if (samples > most_rows())
    refuse(file, fmt::format("has {} samples: too many for this machine's memory", samples));

  Table table;
  table.axis.unit = options.time_unit.empty() ? "s" : options.time_unit;
  table.time_name = "time";
  table.value_name = table.value_column = trimmed(signal.label);
  table.value.resize(samples);
  constexpr std::size_t kBlock = 1 << 20;
  for (std::size_t at = 0; at < samples; at += kBlock) {
    const auto count = static_cast<int>(std::min(kBlock, samples - at));
    if (edfread_physical_samples(header->handle, channel, count, table.value.data() + at) != count)
      refuse(file, "cannot be read to its end: is it cut off?");
  }
  // Sample i is at i · duration / samples of a record: whole tenths of microseconds before the one division.
  const double scale = 1e7 * static_cast<double>(unit_seconds(table.axis.unit)) *
                       static_cast<double>(signal.smp_in_datarecord);
  table.time.resize(samples);
  for (std::size_t i = 0; i < samples; ++i)
    table.time[i] = static_cast<double>(i) * static_cast<double>(header->datarecord_duration) / scale;
  for (int i = 0; i < header->edfsignals; ++i)
    if (i != channel) table.unused.emplace_back(trimmed(header->signalparam[i].label));
  return table;
}

}  // namespace bandgp
