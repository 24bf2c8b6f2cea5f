#!/usr/bin/env python3
"""stack_budget_test.py FOLDER: stacks that ohm record gives to requests which were made without."""
import sys
import types
import unittest

sys.path.insert(0, sys.argv.pop(1))
sys.dont_write_bytecode = True
import ohm_stack_budget  # noqa: E402

LINE = [{"name": "train", "filename": "train.py", "line": 7}]


def step(time_us, sizes, has_stacks, returned=True):
    """A request for each size, at its own address, and its return."""
    trace = []
    for number, size in enumerate(sizes):
        frames = [{**LINE[0], "line": number}] if has_stacks else []
        trace.append({"action": "alloc", "addr": number, "size": size, "time_us": time_us,
                      "frames": frames})
        if returned:
            trace.append({"action": "free_completed", "addr": number, "size": size,
                          "time_us": time_us})
    return trace


def filled(first, second, ends):
    """Lines of the second one's requests; None: it has no stack."""
    snapshot = {"device_traces": [first + second], "segments": []}
    ohm_stack_budget.fill_stacks(snapshot, ends)
    frames = [entry["frames"] for entry in second if entry["action"] == "alloc"]
    return [stack[0]["line"] if stack else None for stack in frames]


class Twins(unittest.TestCase):
    BOTH = [(10, True), (20, False)]

    def test_the_same_step_has_the_same_stacks(self):
        self.assertEqual([0, 1], filled(step(5, [512, 1024], True), step(15, [512, 1024], False),
                                        self.BOTH))

    def test_sizes_may_stand_for_others(self):
        self.assertEqual([0, 1, 2], filled(step(5, [512, 1024, 512], True),
                                           step(15, [256, 2048, 256], False), self.BOTH))

    def test_a_size_does_not_stand_for_two(self):
        self.assertEqual([None] * 3, filled(step(5, [512, 1024, 512], True),
                                            step(15, [512, 1024, 256], False), self.BOTH))

    def test_another_order_of_returns_is_another_step(self):
        self.assertEqual([None] * 2, filled(step(5, [512, 1024], True),
                                            step(15, [512, 1024], False, returned=False),
                                            self.BOTH))

    def test_a_step_that_has_not_ended_is_a_beginning(self):
        self.assertEqual([0], filled(step(5, [512, 1024], True), step(15, [512], False),
                                     [(10, True)]))

    def test_what_is_alive_has_the_stack_of_its_request(self):
        block = {"address": 1, "size": 1024, "state": "active_allocated", "frames": []}
        trace = step(5, [512, 1024], True, returned=False)
        ohm_stack_budget.fill_stacks(
            {"device_traces": [trace], "segments": [{"device": 0, "blocks": [block]}]},
            [(10, True)])
        self.assertEqual(1, block["frames"][0]["line"])

    def test_failed_requests_have_their_stacks_from_the_last_on(self):
        failed = [{"action": "oom", "time_us": time, "frames": []} for time in (1, 2)]
        ohm_stack_budget.fill_errors({"device_traces": [failed]}, [LINE])
        self.assertEqual([[], LINE], [entry["frames"] for entry in failed])


class Budget(unittest.TestCase):
    def test_stacks_are_taken_in_fewer_steps_where_requests_are_many(self):
        for requests_of_a_step, all_have_stacks in ((0, True), (10**12, False)):
            torch, chosen = stand_in(requests_of_a_step), []
            budget = ohm_stack_budget.StackBudget(torch, chosen.append, 1000)
            for _ in range(100):
                torch.requests += requests_of_a_step
                budget.on_step()
            had_stacks = [had for _, had in budget.ends]
            self.assertEqual([True] * ohm_stack_budget.FIRST_STEPS,
                             had_stacks[: ohm_stack_budget.FIRST_STEPS])
            self.assertEqual(all_have_stacks, all(had_stacks))
            self.assertEqual(all_have_stacks, chosen == [])


def stand_in(requests):
    torch = types.SimpleNamespace(requests=requests)
    torch.cuda = types.SimpleNamespace(device_count=lambda: 1)
    torch._C = types.SimpleNamespace(
        _cuda_memoryStats=lambda device: {"allocation": {"all": {"allocated": torch.requests}}},
        _profiler=types.SimpleNamespace(gather_traceback=lambda *_: sum(range(100))))
    return torch


if __name__ == "__main__":
    unittest.main()
