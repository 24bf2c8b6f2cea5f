#include "harness/cli/application.h"
#include "harness/lua/scenario_loader.h"

int main(int argc, char** argv) {
  return ohm::cli::run_application(argc, argv, {ohm::lua::load_scenario});
}
