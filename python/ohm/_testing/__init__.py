"""The parts of the pytest plugin (ohm.pytest_plugin)."""
