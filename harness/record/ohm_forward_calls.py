"""The call of a model that was running when memory ran out: where the program made it, and whether
the model was training, gradients were on, and a backward pass is to follow."""
from ohm_frame_variables import look_at_variables
from ohm_sources import is_of_library

BACKWARD = frozenset(("backward", "grad", "manual_backward", "training_step", "scale"))


def running_call(torch, files, frames):
    """Of the first of these threads (their innermost frames) that is in a model; None: none is."""
    for frame in frames:
        call = call_in(torch, files, frame)
        if call is not None:
            return call
    return None


def call_in(torch, files, frame):
    outermost, caller = None, None
    names = set()
    is_without_gradients = False
    while frame is not None:
        file, function = frame.f_code.co_filename, frame.f_code.co_name
        is_own = files.is_program(file)
        if function == "_call_impl" and is_of_library(file, torch):
            outermost, caller = frame, None
        elif is_own:
            names.update(frame.f_code.co_names)
            if outermost is not None and caller is None:
                caller = frame
        is_without_gradients = is_without_gradients or function == "decorate_context"
        frame = frame.f_back
    if outermost is None or caller is None:
        return None
    return {"file": caller.f_code.co_filename, "line": caller.f_lineno,
            "function": caller.f_code.co_name, "training": is_training(outermost),
            "gradients": torch.is_grad_enabled(), "trains": bool(names & BACKWARD)}


def is_training(frame):
    module = look_at_variables(frame, lambda variables: variables.get("self"))
    return bool(getattr(module, "training", True))
