// A source of harness/gate that used harness/exec, which is above it: it must not link.
#include "harness/exec/child_command.h"

int main() { return ohm::engine::exit_status_text(0, {}).empty() ? 1 : 0; }
