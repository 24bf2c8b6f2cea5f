#include "harness/scenario/script_sources.h"

#include "harness/scenario/required_modules.h"
#include "harness/scenario/source_file.h"

namespace ohm::engine {

ScriptSources read_script_sources(const std::string& path) {
  ScriptSources sources;
  sources.script = read_source_file(path);
  sources.modules = required_modules(path, sources.script);
  return sources;
}

}  // namespace ohm::engine
