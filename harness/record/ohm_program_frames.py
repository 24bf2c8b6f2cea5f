"""The frames of the program's own functions, of which the variables keep memory alive (ohm_holders)."""


def program_frames_of(files, frame):
    """[(frame, whether it is of a model's call)] of the program's own, this one last."""
    frames = []
    while frame is not None:
        code = frame.f_code
        if files.is_program(code.co_filename):
            frames.insert(0, (frame, False))
        elif code.co_name == "_call_impl":
            frames = [(inner, True) for inner, _ in frames]
        frame = frame.f_back
    return frames


def frames_of_error(files, error):
    """The same, of the frames that it has left."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        if files.is_program(trace.tb_frame.f_code.co_filename):
            frames.append((trace.tb_frame, False))
        trace = trace.tb_next
    return frames
