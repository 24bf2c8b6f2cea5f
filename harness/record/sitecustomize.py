"""What Python imports when it starts: ohm exec and ohm record put this folder at the front of
PYTHONPATH. What the environment asks for waits for PyTorch here; then the environment's own
sitecustomize is imported, if there is one, as if this one were not there."""
import os
import sys


def _start():
    folder = os.path.dirname(os.path.abspath(__file__))
    try:
        import ohm_state

        ohm_state.offer()
        import ohm_values

        ohm_values.grant_when_imported()
        if os.environ.get("OHM_RECORD"):
            import ohm_recorder

            ohm_recorder.Recorder(os.environ["OHM_RECORD"]).record_when_torch_is_imported()
        if os.environ.get("OHM_RECORD_FILE"):
            import ohm_job_recorder

            job_recorder = ohm_job_recorder.JobRecorder(os.environ["OHM_RECORD_FILE"])
            job_recorder.record_when_torch_is_imported()
        if os.environ.get("OHM_FAULT") or os.environ.get("OHM_ONE_THREAD"):
            import ohm_requests

            ohm_requests.prepare_when_torch_is_imported()
        if os.environ.get("OHM_SWEEP"):
            import ohm_sweeper

            ohm_sweeper.sweep_when_torch_is_imported(os.environ["OHM_SWEEP"])
    except Exception as error:  # it never keeps a program from starting
        sys.stderr.write(f"ohm: the program's memory is not recorded: {error!r}\n")
    # Children find the folder in the environment; this program must not find it.
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or os.curdir) != folder]
    del sys.modules[__name__]
    try:
        import sitecustomize  # the environment's own
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules[__name__] = _this_module


_this_module = sys.modules[__name__]
_start()
