"""GPU out-of-memory bugs without the GPU: the Python side of the `ohm` command."""
