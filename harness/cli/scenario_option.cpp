#include "harness/cli/scenario_option.h"

#include "harness/scenario/scenario_names.h"

namespace ohm::cli {

void add_scenario_files(const OptionParser& parser, std::vector<std::string>& files,
                        const std::string& help, const std::string& argument) {
  const auto read = [&files](const std::vector<std::string>& words) {
    for (const std::string& word : words) files.push_back(engine::scenario_file(word));
  };
  parser.add_option_function(argument, read, help).type_name("").completes(Completion::scenarios);
}

}  // namespace ohm::cli
