#include "harness/machine/call_notes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "reports/history/call_tree.h"

namespace ohm::engine {

void CallNotes::note(const Machine& machine, std::string_view module) {
  if (machine.events().size() == 0) return;
  std::vector<FrameId> frames;
  for (const Machine::ProgramFrame& frame : machine.program_stack()) {
    frames.push_back(tables_.intern(
        StackFrame{tables_.intern(frame.file), tables_.intern(frame.function), frame.line}));
  }
  std::reverse(frames.begin(), frames.end());
  const Place place = {tables_.intern(frames), tables_.intern(module)};
  const std::uint64_t key = std::uint64_t{place.stack} << 32U | place.module;
  const auto [known, is_new] =
      place_ids_.try_emplace(key, static_cast<std::uint32_t>(places_.size()));
  if (is_new) places_.push_back(place);
  notes_.push_back({static_cast<std::uint32_t>(machine.events().size() - 1), known->second});
}

void CallNotes::add_to(MemoryHistory& history) const {
  const reports::UserFiles scenarios;
  reports::CallTree calls(tables_, scenarios);
  std::vector<HistorySite> sites;
  std::unordered_map<std::uint64_t, std::uint32_t> site_ids;
  for (DeviceMemoryHistory& device : history.devices) {
    for (HistoryBlock& block : device.blocks) {
      const auto note =
          std::lower_bound(notes_.begin(), notes_.end(), block.begin,
                           [](const Note& one, std::uint32_t event) { return one.event < event; });
      const bool is_noted = note != notes_.end() && note->event == block.begin;
      const std::uint32_t place = is_noted ? note->place : 0;
      const std::uint64_t key = std::uint64_t{block.site} << 32U | place;
      const auto [known, is_new] =
          site_ids.try_emplace(key, static_cast<std::uint32_t>(sites.size()));
      if (is_new) {
        HistorySite& site = sites.emplace_back(history.sites[block.site]);
        site.call = calls.of(places_[place].stack);
        site.module = tables_.text(places_[place].module);
      }
      block.site = known->second;
    }
  }
  history.sites = std::move(sites);
  calls.move_to(history);
}

}  // namespace ohm::engine
