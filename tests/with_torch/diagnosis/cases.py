"""Jobs after public bug reports, with the cause and the line that are right (cases/*.py)."""
from pathlib import Path

from jobs import Job

FOLDER = Path(__file__).parent / "cases"
EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}

# file: (causes, lines, options, environment)
CASES = {
    "exp_full": (("kept",), (4,), ("--limit", "1GiB"), EXPANDABLE),
    "r01e": (("growth",), (6,), ("--limit", "1GiB"), {}),
    "r15_graph_pools": (("private pools",), (), ("--limit", "3GiB"), {}),
    "r20_pin": (("growth", "kept"), (11,), ("--limit", "768MiB"), {}),
    "r24_infer_keep": (("growth",), (7,), ("--limit", "1GiB"), {}),
    "losses_for_a_plot": (("growth",), (12,), ("--limit", "1GiB"), {}),
    "validation_with_gradients": (("without no_grad",), (22,), ("--limit", "8GiB"), {}),
    "weights_loaded_twice": (("twice",), (10,), ("--limit", "8GiB"), {}),
}


def cases():
    return [Job(name, causes, (FOLDER / f"{name}.py").read_text(), lines=lines, options=options,
                environment=environment)
            for name, (causes, lines, options, environment) in CASES.items()]
