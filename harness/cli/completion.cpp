#include "harness/cli/completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocator_shim/device/gpu_profile.h"
#include "harness/scenario/scenario_names.h"

namespace ohm::cli {

namespace {

using Words = std::vector<std::string>;

const DescribedCommand* find_command(std::span<const DescribedCommand> commands,
                                     const std::string& name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const DescribedCommand& row) { return row.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

/// The option that takes the next word as its value.
const DescribedOption* find_valued(const DescribedCommand& command, const std::string& flag) {
  for (const DescribedOption& option : command.options) {
    const bool has_flag =
        std::find(option.flags.begin(), option.flags.end(), flag) != option.flags.end();
    if (has_flag && !option.value.empty()) return &option;
  }
  return nullptr;
}

/// The argument that the last word is: options and their values are left out.
const DescribedOption* argument_at(const DescribedCommand& command, const Words& words) {
  std::size_t before = 0;
  for (std::size_t i = 2; i + 1 < words.size(); ++i) {
    if (!words[i].starts_with("-")) {
      ++before;
    } else if (const DescribedOption* option = find_valued(command, words[i])) {
      if (!option->may_lack_value) ++i;
    }
  }
  const DescribedOption* last = nullptr;
  for (const DescribedOption& option : command.options) {
    if (!option.is_argument()) continue;
    last = &option;
    if (option.is_repeatable || before == 0) return last;
    --before;
  }
  return nullptr;
}

void offer_value(const CompletedValue& value, std::span<const DescribedCommand> commands,
                 const std::string& prefix, Offers& offers) {
  const auto add = [&](std::string text, std::string help) {
    offers.words.push_back({prefix + std::move(text), std::move(help)});
  };
  switch (value.kind) {
    case Completion::scenarios:
      for (std::string& name : engine::scenario_names()) add(std::move(name), "scenario");
      offers.files = true;
      return;
    case Completion::gpus:
      for (const GpuProfile& gpu : gpu_profiles()) add(std::string(gpu.name), "GPU");
      return;
    case Completion::commands:
      for (const DescribedCommand& row : commands) add(row.name, row.help);
      return;
    case Completion::words:
      for (const std::string& word : value.words) add(word, "");
      return;
    case Completion::files:
      offers.files = true;
      return;
  }
}

void offer_flags(const DescribedCommand& command, Offers& offers) {
  for (const DescribedOption& option : command.options) {
    for (const std::string& flag : option.flags) offers.words.push_back({flag, option.help});
  }
}

/// Joins "--gpu", "=", "l4", which bash makes of --gpu=l4: the value follows its option.
Words without_equals(const Words& words) {
  Words joined;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_sign = words[i] == "=" && i > 0 && words[i - 1].starts_with("--");
    if (!is_sign) {
      joined.push_back(words[i]);
    } else if (i + 1 == words.size()) {
      joined.emplace_back();
    }
  }
  return joined;
}

Offers offers_of(const DescribedCommand& command, std::span<const DescribedCommand> commands,
                 const Words& words) {
  Offers offers;
  const std::string& typed = words.back();
  const std::size_t equals = typed.find('=');
  if (typed.starts_with("--") && equals != std::string::npos) {
    if (const DescribedOption* option = find_valued(command, typed.substr(0, equals))) {
      offer_value(option->completed, commands, typed.substr(0, equals + 1), offers);
    }
  } else if (const DescribedOption* option = find_valued(command, words[words.size() - 2])) {
    offer_value(option->completed, commands, "", offers);
  } else if (typed.starts_with("-")) {
    offer_flags(command, offers);
  } else if (const DescribedOption* argument = argument_at(command, words)) {
    offer_value(argument->completed, commands, "", offers);
  } else if (command.starts_program) {
    offers.words.push_back({"--", "the program follows"});
  }
  return offers;
}

}  // namespace

Offers offers_for(std::span<const DescribedCommand> commands,
                  const std::vector<std::string>& words) {
  Offers offers;
  const Words joined = without_equals(words);
  if (joined.size() < 2) return offers;
  if (joined.size() == 2) {
    offer_value({Completion::commands}, commands, "", offers);
    for (const char* flag : {"--help", "--version"}) offers.words.push_back({flag, ""});
  } else if (const DescribedCommand* command = find_command(commands, joined[1])) {
    const auto separator = std::find(words.begin(), words.end() - 1, "--");
    if (command->starts_program && separator != words.end() - 1) {
      offers.program = static_cast<std::size_t>(separator - words.begin()) + 1;
      return offers;
    }
    offers = offers_of(*command, commands, joined);
  }
  std::erase_if(offers.words,
                [&](const Offer& offer) { return !offer.text.starts_with(joined.back()); });
  return offers;
}

std::string offers_text(const Offers& offers) {
  std::string text;
  for (const Offer& offer : offers.words) {
    text +=
        offer.help.empty() ? offer.text + "\n" : fmt::format("{}\t{}\n", offer.text, offer.help);
  }
  if (offers.files) text += ":files\n";
  if (offers.program != 0) text += fmt::format(":program {}\n", offers.program);
  return text;
}

}  // namespace ohm::cli
