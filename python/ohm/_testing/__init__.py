"""The parts of the pytest plugin. Most are imported once a test uses the GPU, or asks for more: a
session of tests without any pays for little."""

import os

# The folder that pytest was started in: a test may change to another.
STARTED_IN = os.getcwd()

# What `ohm exec` sets (allocator_shim/interpose/gpu_variable.h).
GPU_VARIABLE = "OHM_GPU"

# What restarting.early() set beside that, for the plugin to know; others do not see it.
EARLY_VARIABLE = "OHM_PYTEST_RESTARTED"
