// The result of ohm verify-device: plain data, from which all that is printed is made.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/exit_code.h"
#include "reports/model/fields.h"
#include "reports/model/shard_result.h"

namespace ohm {

/// One event that the other side does not have at its place.
struct EventDifference {
  bool is_on_card = false;   ///< false: on the virtual GPU alone
  std::int64_t ordinal = 0;  ///< among the events of its side
  std::string event;         ///< "segment_alloc cuda:0 20.00 MiB (20,971,520 bytes) for matmul …"
  std::int64_t bytes = 0;

  static constexpr const char* kSchemaName = "event_difference";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = EventDifference;
    visit("is_on_card", &T::is_on_card, "false: on the virtual GPU alone.");
    visit("ordinal", &T::ordinal, "Index among the events of its side, from 0.");
    visit("event", &T::event);
    visit("bytes", &T::bytes);
  }
};

/// Memory that a library took on the card and that is not modelled: no difference of the allocator.
struct LibraryWorkspace {
  std::string op;  ///< that it was for
  std::int64_t largest_bytes = 0;
  std::int64_t calls = 0;

  static constexpr const char* kSchemaName = "workspace";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = LibraryWorkspace;
    visit("op", &T::op);
    visit("largest_bytes", &T::largest_bytes);
    visit("calls", &T::calls);
  }
};

/// What cuDNN was given for a convolution.
struct ConvolutionWorkspace {
  std::string convolution;  ///< what was computed, of which sizes
  std::int64_t bytes = 0;

  static constexpr const char* kSchemaName = "convolution_workspace";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ConvolutionWorkspace;
    visit("convolution", &T::convolution, "The convolution and its sizes.");
    visit("bytes", &T::bytes);
  }
};

/// Values that the card gave to the host.
struct HostTraffic {
  std::string op;  ///< that has no kernel; empty: the program itself
  std::int64_t times = 0;
  std::int64_t bytes = 0;

  static constexpr const char* kSchemaName = "host_traffic";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HostTraffic;
    visit("op", &T::op, "Empty: the program itself.");
    visit("times", &T::times);
    visit("bytes", &T::bytes);
  }
};

enum class VerificationOutcome : std::uint8_t { same, differs, error };

inline constexpr std::array<std::string_view, 3> kVerificationOutcomeNames = {"same", "differs",
                                                                              "error"};

constexpr std::string_view name_of(VerificationOutcome outcome) {
  return kVerificationOutcomeNames[static_cast<std::size_t>(outcome)];
}
constexpr std::size_t word_count(VerificationOutcome /*of*/) {
  return kVerificationOutcomeNames.size();
}

/// What became of one variant on virtual GPUs and on the card.
struct VerifiedVariant {
  std::string name;  ///< "scenario.variant", or the file of a scenario that cannot be loaded
  std::int64_t virtual_events = 0;
  std::int64_t card_events = 0;
  std::int64_t virtual_peak_bytes = 0;  ///< allocated, the largest of all GPUs
  std::int64_t card_peak_bytes = 0;
  std::vector<EventDifference> differences;  ///< the first kMaxDifferences
  std::int64_t other_differences = 0;        ///< that are not listed
  std::vector<HostTraffic> to_host;          ///< by op
  std::vector<LibraryWorkspace> workspaces;  ///< on the card alone, by op
  std::vector<ConvolutionWorkspace> convolution_workspaces;
  /// The first returned value that the card computed otherwise, within the tolerance of its dtype;
  /// empty: none, or nothing was computed.
  std::string value_difference;
  std::string error;  ///< why there is no comparison; empty: there is one

  static constexpr std::size_t kMaxDifferences = 20;

  bool has_same_events() const { return error.empty() && differences.empty(); }
  bool agrees() const { return has_same_events() && value_difference.empty(); }

  static VerificationOutcome outcome(const VerifiedVariant& of) {
    if (!of.error.empty()) return VerificationOutcome::error;
    return of.agrees() ? VerificationOutcome::same : VerificationOutcome::differs;
  }

  static constexpr const char* kSchemaName = "variant";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = VerifiedVariant;
    visit("name", &T::name, "scenario.variant, or the file of a scenario that cannot be loaded.");
    visit("outcome", &outcome);
    visit("virtual_events", &T::virtual_events);
    visit("card_events", &T::card_events);
    visit("virtual_peak_bytes", &T::virtual_peak_bytes,
          "Peak allocated memory, the largest of all GPUs.");
    visit("card_peak_bytes", &T::card_peak_bytes);
    visit("differences", &T::differences, "First event that the other side does not have.");
    visit("other_differences", &T::other_differences, "Number of differences that are not listed.");
    visit("to_host", &T::to_host, "Values copied from the card to the host, by op.");
    visit("workspaces", &T::workspaces, "Workspaces of libraries, on the card only, by op.");
    visit("convolution_workspaces", &T::convolution_workspaces,
          "Workspace that cuDNN was given, by convolution.");
    visit("value_difference", &T::value_difference, Presence::optional,
          "First returned value that differs on the card; absent: none.");
    visit("error", &T::error, Presence::optional, "Why there is no comparison; absent: there is.");
  }
};

struct CardDevice {
  std::string name;                ///< "NVIDIA H200"
  std::string compute_capability;  ///< "9.0"
  std::int64_t memory_bytes = 0;

  static constexpr const char* kSchemaName = "device";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = CardDevice;
    visit("name", &T::name);
    visit("compute_capability", &T::compute_capability);
    visit("memory_bytes", &T::memory_bytes);
  }
};

/// One of NVIDIA's libraries, as it is there.
struct CardLibrary {
  std::string name;     ///< "cuBLAS"
  std::string version;  ///< empty where it is missing
  std::string missing;  ///< why the host computes instead; empty where it is there

  static constexpr const char* kSchemaName = "library";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = CardLibrary;
    visit("name", &T::name);
    visit("version", &T::version, "Version of the library; empty if it is missing.");
    visit("missing", &T::missing, Presence::optional, "Why the host computes instead.");
  }
};

/// What variants were compared on. Two machines with equal ones are the same card.
struct VerifiedCard {
  std::vector<CardDevice> devices;  ///< in the driver's order: GPUs of scenarios are shared out
  std::string driver;               ///< the version of CUDA that it is for: "13.0"
  std::vector<CardLibrary> libraries;
  std::string kernels_missing;  ///< why this build's cannot run there; empty: they can

  bool has_everything() const {
    return kernels_missing.empty() &&
           std::all_of(libraries.begin(), libraries.end(),
                       [](const CardLibrary& library) { return library.missing.empty(); });
  }

  static constexpr const char* kSchemaName = "card";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = VerifiedCard;
    visit("devices", &T::devices, "All GPUs of the machine, in the driver's order.");
    visit("driver", &T::driver, "The CUDA version that it supports.");
    visit("libraries", &T::libraries);
    visit("kernels_missing", &T::kernels_missing, Presence::optional,
          "Why the kernels of this build cannot run there, and the host computes.");
  }
};

/// The variants on one card.
struct CardVerification {
  VerifiedCard card;
  std::vector<VerifiedVariant> variants;

  /// Those of all variants, by op.
  static std::vector<LibraryWorkspace> workspaces(const CardVerification& of) {
    std::vector<LibraryWorkspace> all;
    for (const VerifiedVariant& variant : of.variants) {
      for (const LibraryWorkspace& more : variant.workspaces) {
        LibraryWorkspace& sum = with_op(all, more.op);
        sum.largest_bytes = std::max(sum.largest_bytes, more.largest_bytes);
        sum.calls += more.calls;
      }
    }
    return all;
  }
  /// Those of all variants, by convolution, the largest of each.
  static std::vector<ConvolutionWorkspace> convolution_workspaces(const CardVerification& of) {
    std::map<std::string, std::int64_t> all;
    for (const VerifiedVariant& variant : of.variants) {
      for (const ConvolutionWorkspace& one : variant.convolution_workspaces) {
        std::int64_t& bytes = all[one.convolution];
        bytes = std::max(bytes, one.bytes);
      }
    }
    std::vector<ConvolutionWorkspace> rows;
    for (const auto& [convolution, bytes] : all) rows.push_back({convolution, bytes});
    return rows;
  }
  /// That of all variants, by op, the most often first.
  static std::vector<HostTraffic> to_host(const CardVerification& of) {
    std::vector<HostTraffic> all;
    for (const VerifiedVariant& variant : of.variants) {
      for (const HostTraffic& more : variant.to_host) {
        HostTraffic& sum = with_op(all, more.op);
        sum.times += more.times;
        sum.bytes += more.bytes;
      }
    }
    std::sort(all.begin(), all.end(), [](const HostTraffic& a, const HostTraffic& b) {
      return a.times != b.times ? a.times > b.times : a.op < b.op;
    });
    return all;
  }

  static constexpr const char* kSchemaName = "verified_card";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = CardVerification;
    visit("card", &T::card);
    visit("variants", &T::variants);
    visit("workspaces", &workspaces, "Of all variants, by op.");
    visit("to_host", &to_host, "Of all variants, by op, the most often first.");
  }

 private:
  template <class Row>
  static Row& with_op(std::vector<Row>& rows, const std::string& op) {
    const auto known =
        std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.op == op; });
    if (known != rows.end()) return *known;
    rows.emplace_back().op = op;
    return rows.back();
  }
};

/// What the variants depend on, beside the card.
struct VerificationWork {
  std::map<std::string, std::string> settings;
  std::vector<ShardInput> inputs;  ///< in the order given, then what they require

  static constexpr const char* kSchemaName = "work";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = VerificationWork;
    visit("settings", &T::settings, "Settings, by the names of the options.");
    visit("inputs", &T::inputs,
          "The files that were given, in that order, then the modules that they require.");
  }
};

struct VerificationResult {
  std::vector<CardVerification> cards;  ///< one; of merged results several, all of them different
  VerificationWork work;
  std::optional<ShardResult> shard;  ///< its number alone; absent: all variants
  ExitReason exit_reason = ExitReason::passed;

  static constexpr const char* kSchemaName = "verification";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = VerificationResult;
    visit("cards", &T::cards, "What was compared on each card.");
    visit("work", &T::work, "What the comparison depends on except the card: equal for all cards.");
    visit("shard", &T::shard, Presence::optional,
          "Which part of the variants was compared (--shard); absent when all were.");
    visit("exit_reason", &T::exit_reason);
  }
};

/// What differs outweighs what was not compared, as the host computed instead.
inline ExitReason exit_reason_of(const VerificationResult& result) {
  const std::vector<CardVerification>& cards = result.cards;
  const auto any = [&](const auto& holds) {
    return std::any_of(cards.begin(), cards.end(), holds);
  };
  if (!result.shard && !any([](const auto& one) { return !one.variants.empty(); })) {
    return ExitReason::nothing_selected;
  }
  const auto differs = [](const CardVerification& one) {
    return std::any_of(one.variants.begin(), one.variants.end(),
                       [](const VerifiedVariant& variant) { return !variant.agrees(); });
  };
  if (any(differs)) return ExitReason::failed;
  return any([](const auto& one) { return !one.card.has_everything(); }) ? ExitReason::unavailable
                                                                         : ExitReason::passed;
}

}  // namespace ohm
