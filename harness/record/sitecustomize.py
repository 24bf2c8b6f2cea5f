"""What Python imports when it starts: ohm exec and ohm record put this folder at the front of
PYTHONPATH. What the environment asks for waits for PyTorch here; then the environment's own
sitecustomize is imported, if there is one, as if this one were not there."""
import os
import sys

import ohm_console


def _start():
    folder = os.path.dirname(os.path.abspath(__file__))
    try:
        import ohm_protocol as protocol

        if protocol.PROTOCOL_VARIABLE in os.environ:
            protocol.refuse_other_version(os.environ[protocol.PROTOCOL_VARIABLE])
        import ohm_state

        ohm_state.offer()
        import ohm_imports

        ohm_imports.before_import("torch", _grant_values)
        ohm_imports.when_imported("torch._dynamo.trace_rules", _leave_out_of_graphs)
        if os.environ.get(protocol.RECORD_VARIABLE):
            import ohm_recorder

            recorder = ohm_recorder.Recorder(os.environ[protocol.RECORD_VARIABLE])
            recorder.record_when_torch_is_imported()
        if os.environ.get(protocol.RECORD_FILE_VARIABLE):
            import ohm_job_recorder

            path = os.environ[protocol.RECORD_FILE_VARIABLE]
            job_recorder = ohm_job_recorder.JobRecorder(path)
            job_recorder.record_when_torch_is_imported()
        is_failed = os.environ.get(protocol.FAULT_VARIABLE)
        if is_failed or os.environ.get(protocol.ONE_THREAD_VARIABLE):
            import ohm_requests

            ohm_requests.prepare_when_torch_is_imported()
        if os.environ.get(protocol.SWEEP_VARIABLE):
            import ohm_sweeper

            ohm_sweeper.sweep_when_torch_is_imported(os.environ[protocol.SWEEP_VARIABLE])
        if os.environ.get(protocol.WATCH_VARIABLE):
            import ohm_watched

            ohm_watched.watch(os.environ[protocol.WATCH_VARIABLE])
    except Exception as error:  # it never keeps a program from starting
        ohm_console.say(f"the program's memory is not recorded: {error!r}")
    # Children find the folder in the environment; this program must not find it.
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or os.curdir) != folder]
    del sys.modules[__name__]
    try:
        import sitecustomize  # the environment's own
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules[__name__] = _this_module


def _grant_values():
    """Many modules: programs without PyTorch, as tools that a job starts are, do without."""
    try:
        import ohm_values

        ohm_values.grant_when_imported()
    except Exception as error:  # it never keeps a program from going on
        ohm_console.say(f"values on the GPU are not known: {error!r}")


def _leave_out_of_graphs(rules):
    """Files of this folder run between a program's calls: torch.compile must not compile them, too."""
    if hasattr(rules, "SKIP_DIRS") and hasattr(rules, "_recompile_re"):
        rules.SKIP_DIRS.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ""))
        rules._recompile_re()


_this_module = sys.modules[__name__]
_start()
