"""The protocol between ohm and these files: environment variables, which say what to do, and messages,
which are files of JSON in a folder that one of the variables names.

harness/exec/python_protocol.h says the same for the other side, and explains each variable; a test
compares the two.
"""
import os

# One more with every change of what is below.
VERSION = 2

PROTOCOL_VARIABLE = "OHM_PROTOCOL"
RECORD_VARIABLE = "OHM_RECORD"
VALUES_VARIABLE = "OHM_VALUES"
ASSUME_SELECTED_VARIABLE = "OHM_ASSUME_SELECTED"
ONE_THREAD_VARIABLE = "OHM_ONE_THREAD"
FAULT_VARIABLE = "OHM_FAULT"
SWEEP_VARIABLE = "OHM_SWEEP"
WATCH_VARIABLE = "OHM_WATCH"
RECORD_FILE_VARIABLE = "OHM_RECORD_FILE"
RECORD_NAMES_VARIABLE = "OHM_RECORD_NAMES"
RECORD_EVENTS_VARIABLE = "OHM_RECORD_EVENTS"
RECORD_STEPS_VARIABLE = "OHM_RECORD_STEPS"
RECORD_ALL_STEPS_VARIABLE = "OHM_RECORD_ALL_STEPS"
RECORD_NO_STACKS_VARIABLE = "OHM_RECORD_NO_STACKS"
RECORD_MODULES_VARIABLE = "OHM_RECORD_MODULES"

# One a line: its name and its members. "?": it may be absent. ":NAME": it is None, such a message, or a
# list of them. A message that is a file has the version as "protocol", too.
MESSAGES = """
job engine faults:fault copy_seconds level check scratch jobs
fault call persistent
process pid arguments torch
requests sizes places rows:place outcome:outcome seconds
place hash function file line stack
outcome error?:error calls? failures? printed_before? more_when_again? circling? ooms? left_bytes? peak_bytes? checked? check_error? not_computed?
error type message file line out_of_memory
ends ends:end
end fault status overdue
watch check places lose?:loss
loss kind rank step
ended pid rank restarts uses_cuda time own_mistake error?:error values? not_computed? check_error?
record pid arguments folder user_folders? rank torch ended most_events devices:device error:error held?:held unknown_values?:unknown_value not_computed? problems
device name capacity_bytes peak_allocated_bytes peak_reserved_bytes allocated_at_end_bytes num_ooms num_alloc_retries num_device_alloc modelled
held device moment bytes holders:holder call:call step_calls?
holder variable function file line bytes graph_bytes blocks tensors scalars kind is_in_model is_concatenated is_differentiated path
call file line function training gradients trains
unknown_value kind file line detail count order
"""


def message_of(members):
    """The message as a file has it: with the version."""
    return {**members, "protocol": VERSION}


def checked_message(message):
    """The message, if it is of this version; else raises RuntimeError."""
    refuse_other_version(message.get("protocol"))
    return message


def refuse_other_version(spoken):
    if str(spoken) != str(VERSION):
        raise RuntimeError(
            f"ohm speaks protocol {spoken}, and its Python files in {os.path.dirname(__file__)} speak "
            f"{VERSION}: they are of another installation; start the command without its PYTHONPATH")
