// Prints how many mutants of scenarios are noticed: mutation_table SCENARIO.lua...
//
// Those that nothing notices are listed, and the exit code is then 1; progress is on stderr. One
// that is in the file of equivalent mutants does what the original does, for the reason given
// there.
#include <exception>
#include <iostream>

#include "harness/scenario/source_file.h"
#include "tests/harness/sensitivity/mutation_table.h"

int main(int count, char** arguments) {
  using namespace ohm;
  if (count < 2) {
    std::cerr << "mutation_table: no scenario is named: mutation_table SCENARIO.lua...\n";
    return 2;
  }
  try {
    test::MutationTable table{
        test::EquivalentMutants(engine::read_source_file(OHM_EQUIVALENT_MUTANTS))};
    std::size_t told = 0;
    for (int i = 1; i < count; ++i) {
      std::cerr << i << " of " << count - 1 << ": " << arguments[i] << '\n';
      table.add(arguments[i]);
      for (; told < table.missed().size(); ++told) {
        std::cerr << "missed: " << table.missed()[told] << '\n';
      }
    }
    std::cout << table.text();
    return table.missed().empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "mutation_table: " << error.what() << '\n';
    return 2;
  }
}
