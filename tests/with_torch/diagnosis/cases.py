"""Jobs after public bug reports, with the cause and the line that are right (cases/*.py; of several files:
a folder with job.py)."""
from pathlib import Path

from fixes import fixed_files
from more_cases import MORE_CASES
from jobs import EXPANDABLE, Job

FOLDER = Path(__file__).parent / "cases"

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
    # As users write them.
    "hook_keeps_outputs": (("growth", "kept"), (12,), ("--limit", "1GiB"), {}),
    "meter_of_tensors": (("growth", "kept"), (11,), ("--limit", "1GiB"), {}),
    "replay_buffer": (("growth", "kept"), (17,), ("--limit", "1GiB"), {}),
    "state_without_detach": (("growth", "kept"), (23,), ("--limit", "1GiB"), {}),
    "cached_masks": (("growth", "kept"), (9,), ("--limit", "1GiB"), {}),
    "teacher_with_gradients": (("without no_grad",), (10,), ("--limit", "8GiB"), {}),
    "resumed_optimizer": (("twice",), (14,), ("--limit", "8GiB"), {}),
    "exceptions_with_frames": (("growth", "kept"), (19,), ("--limit", "1GiB"), {}),
    "cache_in_module": (("growth", "kept"), (14,), ("--limit", "1GiB"), {}),
    "validation_losses": (("growth", "kept"), (22,), ("--limit", "1GiB"), {}),
    "predictions_on_gpu": (("growth", "kept"), (13,), ("--limit", "1GiB"), {}),
    "losses_beside_lbfgs": (("growth", "kept"), (19,), ("--limit", "1GiB"), {}),
    "hook_with_closure": (("growth", "kept"), (10,), ("--limit", "1GiB"), {}),
    "global_list": (("growth", "kept"), (9,), ("--limit", "1GiB"), {}),
    "list_as_argument": (("growth", "kept"), (8,), ("--limit", "1GiB"), {}),
    "list_comprehension": (("growth", "kept"), (7,), ("--limit", "1GiB"), {}),
    "summed_graphs": (("growth", "kept"), (18,), ("--limit", "1GiB"), {}),
    "step_for_both": (("without no_grad",), (12,), ("--limit", "8GiB"), {}),
    "checkpoint_in_attribute": (("twice",), (15,), ("--limit", "4GiB"), {}),
    "best_state": (("twice",), (17,), ("--limit", "4GiB"), {}),
    "states_of_epochs": (("growth", "kept"), (15,), ("--limit", "1GiB"), {}),
    "losses_by_name": (("growth", "kept"), (23,), ("--limit", "1GiB"), {}),
    "dataset_on_gpu": (("growth", "kept"), (15,), ("--limit", "1GiB"), {}),
    "bounded_buffer": ((), (), ("--limit", "2GiB"), {}),
    "sorted_lengths": ((), (), ("--limit", "4GiB"), {}),
    "gan": ((), (), ("--limit", "4GiB"), {}),
    "gradient_norms": ((), (), ("--limit", "4GiB"), {}),
    "model_too_large": (("full",), (16,), ("--limit", "1GiB"), {}),
    "batch_too_large_for_transformer": (("full",), (), ("--limit", "2GiB"), {}),
    "checkpointing": ((), (), ("--limit", "4GiB"), {}),
    "outputs_on_cpu": ((), (), ("--limit", "4GiB"), {}),
    "frozen_features": ((), (), ("--limit", "4GiB"), {}),
    "window_of_losses": ((), (), ("--limit", "2GiB"), {}),
    "rollouts": ((), (), ("--limit", "4GiB"), {}),
    "averaged_model": ((), (), ("--limit", "4GiB"), {}),
    "cloned_layers": ((), (), ("--limit", "4GiB"), {}),
    "restored_weights": ((), (), ("--limit", "4GiB"), {}),
    "assigned_checkpoint": ((), (), ("--limit", "4GiB"), {}),
    "cache_of_few_sizes": ((), (), ("--limit", "4GiB"), {}),
    "class_attribute": (("growth", "kept"), (10,), ("--limit", "1GiB"), {}),
    "validation_step_outputs": (("growth", "kept"), (18,), ("--limit", "1GiB"), {}),
    "metric_state": (("growth", "kept"), (11,), ("--limit", "1GiB"), {}),
    "running_sum": (("growth", "kept"), (17,), ("--limit", "1GiB"), {}),
    "weights_of_steps": (("growth", "kept"), (13,), ("--limit", "1GiB"), {}),
    "concatenated_cache": (("growth", "kept"), (17, 18), ("--limit", "1GiB"), {}),
    "metrics_of_a_trainer": (("growth", "kept"), (14,), ("--limit", "2GiB"), {}),
    "outputs_by_name": (("growth", "kept"), (11,), ("--limit", "2GiB"), {}),
    "schedulers_keep_optimizers": (("growth", "kept"), (14,), ("--limit", "1GiB"), {}),
    "hyperparameter_search": (("growth", "kept"), (18,), ("--limit", "2GiB"), {}),
    "copies_of_models": (("growth", "kept"), (14,), ("--limit", "2GiB"), {}),
    "callbacks_capture": (("growth", "kept"), (13,), ("--limit", "1GiB"), {}),
    "prefetch_queue": (("growth", "kept"), (13,), ("--limit", "1GiB"), {}),
    "ppo_keeps_rollouts": (("growth", "kept"), (10,), ("--limit", "1GiB"), {}),
    "unfreeze": (("full",), (), ("--limit", "1GiB"), {}),
    "step_in_backward": (("full",), (), ("--limit", "1GiB"), {}),
    "ensemble": ((), (), ("--limit", "4GiB"), {}),
    "dqn": ((), (), ("--limit", "4GiB"), {}),
    "curriculum": ((), (), ("--limit", "4GiB"), {}),
    "distillation": ((), (), ("--limit", "6GiB"), {}),
    "accuracy_with_gradients": (("without no_grad",), (10,), ("--limit", "8GiB"), {}),
    # That do not run out of memory.
    "confidences_in_function": (("growth",), (11,), (), {}),
    "probe_in_inference": (("growth",), (8,), (), {}),
    "cache_over_requests": (("growth",), (14,), (), {}),
    "session_state": (("growth",), (20,), (), {}),
    "embeddings_concatenated": (("growth",), (12,), (), {}),
    "images_now_and_then": (("growth",), (22,), (), {}),
    "lstm_state_in_evaluation": (("growth",), (21,), (), {}),
    "callback_of_a_library": (("growth",), (39,), (), {}),
    "waiting_generators": (("growth",), (19,), (), {}),
    "cached_embeddings": (("growth",), (12,), (), {}),
    "tracks_of_a_detector": (("growth",), (14,), (), {}),
    "weights_returned": (("twice",), (20,), (), {}),
    "nested_validation": (("without no_grad",), (14,), (), {}),
    "cache_of_a_window": ((), (), (), {}),
    "cache_cleared": ((), (), (), {}),
    "last_outputs": ((), (), (), {}),
    "outputs_of_an_epoch": ((), (), (), {}),
    "batches_on_gpu": ((), (), (), {}),
    "generated_tokens": ((), (), (), {}),
    "state_of_chunks": ((), (), (), {}),
}


def files_of(name):
    folder = FOLDER / name
    if not folder.is_dir():
        return {"job.py": (FOLDER / f"{name}.py").read_text()}
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*.py"))}


def cases():
    found = []
    for name, (causes, lines, options, environment) in (CASES | MORE_CASES).items():
        files = files_of(name)
        better = fixed_files(name, files)
        found.append(Job(name, causes, files["job.py"], better.get("job.py", ""), lines, options, environment,
                         files=files, fixed_files=better))
    return found
