#include "allocator_shim/interpose/host/record_file.h"

#include <fcntl.h>

#include <array>
#include <charconv>

namespace ohm::interpose::host {

void RecordFile::write(const RecordPlace& place) {
  RecordWriter().write(place, "host", [this](RecordWriter& out) { write_to(out); });
}

void RecordFile::write(const FixedPath& path) {
  const UnlimitedFiles unlimited;
  const int file = open(path.text(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  RecordWriter().write(file, [this](RecordWriter& out) { write_to(out); });
}

void RecordFile::write_to(RecordWriter& out) {
  out.text("{");
  write_process(out);
  write_failure(out);
  out.modules(process_.sites.modules());
  write_sites(out);
  out.text("}\n");
}

void RecordFile::write_process(RecordWriter& out) {
  out.program();
  out.text(process_.has_ended ? ",\"ended\":true" : ",\"ended\":false");
  out.member("requests", static_cast<std::int64_t>(process_.requests));
  out.member("failed", static_cast<std::int64_t>(process_.failed));
  out.member("live_bytes", process_.live_bytes);
  out.member("peak_bytes", process_.peak_bytes);
}

void RecordFile::write_failure(RecordWriter& out) {
  const Failure& failure = process_.failure;
  if (failure.why == Refusal::none) return;
  out.text(",\"failure\":{\"is_limit\":");
  out.text(failure.why == Refusal::limit ? "true" : "false");
  out.member("request", static_cast<std::int64_t>(failure.request));
  out.member("bytes", static_cast<std::int64_t>(failure.bytes));
  out.member("live_bytes", failure.live_bytes);
  out.text(",");
  out.frames(process_.sites.frames_of(process_.sites[failure.site]));
  out.text("}");
}

void RecordFile::write_sites(RecordWriter& out) {
  out.text(",\"sites\":[");
  bool is_first = true;
  for (Site& site : process_.sites.sites()) {
    const SiteBytes at_peak = site.peak_number == process_.peak_number ? site.at_peak : site.live;
    if (which_sites_ == RecordedSites::holders && at_peak.bytes <= 0 && site.at_failure.bytes <= 0)
      continue;
    if (!is_first) out.text(",\n");
    is_first = false;
    Site shown = site;
    shown.at_peak = at_peak;
    write_site(out, shown);
  }
  out.text("]");
}

void RecordFile::write_site(RecordWriter& out, const Site& site) {
  out.text("{\"point\":");
  // As text: JSON's numbers have 53 bits.
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), site.point, 16);
  out.quoted({digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
  out.member("requests", static_cast<std::int64_t>(site.requests));
  out.member("peak_bytes", site.at_peak.bytes);
  out.member("peak_blocks", site.at_peak.blocks);
  out.member("failure_bytes", site.at_failure.bytes);
  out.member("failure_blocks", site.at_failure.blocks);
  out.text(",");
  out.frames(process_.sites.frames_of(site));
  out.text("}");
}

}  // namespace ohm::interpose::host
