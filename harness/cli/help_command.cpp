#include "harness/cli/help_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "allocator_shim/base/nearest_name.h"
#include "harness/cli/man_page.h"
#include "harness/cli/terminal.h"
#include "harness/scenario/scenario_names.h"

namespace ohm::cli {

namespace {

struct HelpArguments {
  std::string command;
  bool man = false;
};

std::vector<std::string> names_of(const std::vector<DescribedCommand>& commands) {
  std::vector<std::string> names;
  for (const DescribedCommand& command : commands) names.push_back(command.name);
  return names;
}

int help(const HelpArguments& arguments, const Environment& environment) {
  // `ohm help NAME` alone is spelled_with_help().
  if (!arguments.man) throw UsageError("name one command, as in ohm help run");
  const std::vector<DescribedCommand> commands = environment.commands();
  if (arguments.command.empty() || arguments.command == "ohm") {
    write_stdout(man_page(commands));
    return 0;
  }
  const auto found =
      std::find_if(commands.begin(), commands.end(),
                   [&](const DescribedCommand& row) { return row.name == arguments.command; });
  if (found == commands.end()) {
    throw UsageError(unknown_command(arguments.command, names_of(commands)));
  }
  write_stdout(man_page(*found));
  return 0;
}

}  // namespace

std::string unknown_command(const std::string& name, const std::vector<std::string>& known) {
  const bool is_file = name.ends_with(".lua") || engine::scenario_file(name) != name;
  return fmt::format(
      "unknown command \"{}\"{}", name,
      is_file ? fmt::format(" (did you mean ohm run {}?)", name) : did_you_mean(name, known));
}

std::vector<const char*> spelled_with_help(int argc, const char* const* argv) {
  constexpr int kMostWords = 3;
  std::vector<const char*> words(argv, argv + argc);
  const bool asks = argc >= 2 && argc <= kMostWords && argv[1] == std::string_view("help");
  if (!asks || (argc == kMostWords && argv[2][0] == '-')) return words;
  words.erase(words.begin() + 1);
  words.push_back("--help");
  return words;
}

std::function<int()> setup_help(const OptionParser& parser, const Environment& environment) {
  const auto arguments = std::make_shared<HelpArguments>();
  parser.add_option("COMMAND", arguments->command, "A command; ohm itself, where none is named")
      .type_name("")
      .completes(Completion::commands);
  parser.add_flag("--man", arguments->man, "Print the man page in the language of man(7)");
  return [arguments, &environment] { return help(*arguments, environment); };
}

}  // namespace ohm::cli
