#!/usr/bin/env python3
"""Holds the operators of PyTorch's own list, their samples and gradients, to what the CPU computes.

    check_operators.py OHM [OPERATORS...]

To be started as tests/with_torch/run does. Each sample (torch.testing's op_db) runs on a virtual GPU with
known values, and again where the first tensor is unknown: whatever counts as known afterwards has to have
the CPU's values. With --values cpu everything is computed.
"""
import collections
import itertools
import os
import subprocess
import sys
import warnings

MOST_SAMPLES = 4  # of an operator
TOLERANCE = {"rtol": 1e-3, "atol": 1e-4, "equal_nan": True}
# Their values are those of whatever lies in memory, or drawn.
WITHOUT_VALUES = "empty empty_like new_empty new_empty_strided empty_strided empty_permuted".split()
DRAWN = """bernoulli cauchy exponential geometric log_normal multinomial normal uniform dropout rand rrelu
    fractional_max_pool scaled_dot_product_attention multi_head_attention_forward""".split()


class Comparison:
    """In a process of ohm exec. mode: of --values."""

    def __init__(self, mode):
        import torch  # ohm exec brings its modules with it
        import ohm_values
        from torch.utils import _pytree
        self.torch, self.values, self.tree, self.mode = torch, ohm_values, _pytree, mode
        self.counts = collections.Counter()
        self.complaints = []

    def run(self, names):
        from torch.testing._internal.common_methods_invocations import op_db
        for operator in op_db:
            is_left_out = operator.name in WITHOUT_VALUES or any(d in operator.name for d in DRAWN)
            if not is_left_out and (not names or operator.name in names):
                self._compare(operator)

    def _compare(self, operator):
        kinds = [k for k in (self.torch.float32, self.torch.int64) if k in operator.dtypes]
        if not kinds:
            self.counts["operators of other dtypes"] += 1
            return
        differentiated = operator.supports_autograd and kinds[0] is self.torch.float32
        samples = operator.sample_inputs("cpu", kinds[0], requires_grad=differentiated)
        for sample in itertools.islice(samples, MOST_SAMPLES):
            given = (sample.input, sample.args, sample.kwargs)
            for case in ("known", "unknown") if self.mode == "known" else ("known",):
                self._compare_sample(operator, given, case)

    def _compare_sample(self, operator, given, case):
        on_host, host_leaves = self._copied(given, "cpu")
        try:
            expected = operator(on_host[0], *on_host[1], **on_host[2])
        except Exception:  # an operator of the GPU alone
            return
        on_device, device_leaves = self._copied(given, "cuda", case == "unknown")
        reads = self.values.reads_noted()
        try:
            found = operator(on_device[0], *on_device[1], **on_device[2])
        except Exception:  # one of the CPU alone, or unknown sizes that do not fit
            self.counts[f"samples that fail, {case}"] += 1
            return
        self.counts[f"samples, {case}"] += 1
        if self.values.reads_noted() != reads:  # a finding: what follows from it may be anything
            self.counts[f"samples that read unknown values, {case}"] += 1
            return
        self._compare_all(operator, case, "result", found, expected)
        gradients = [self._gradients(*both) for both in ((found, device_leaves), (expected, host_leaves))]
        if None not in gradients:
            self.counts[f"gradients, {case}"] += 1
            self._compare_all(operator, case, "gradient", *gradients)

    def _copied(self, given, device, is_first_unknown=False):
        """(copies of the arguments, those of them that gradients are asked for)."""
        leaves, floats = [], 0

        def copy(value):
            nonlocal floats
            if not isinstance(value, self.torch.Tensor):
                return self.torch.device(device) if isinstance(value, self.torch.device) else value
            made = value.detach().clone().to(device)
            floats += made.is_floating_point()
            if is_first_unknown and floats == 1 and made.is_floating_point():
                made = self.torch.randn_like(made)  # drawn on the GPU: unknown
            if value.requires_grad:
                leaves.append(made.requires_grad_())
            return made

        sample, arguments, named = self.tree.tree_map(copy, given)
        named = {k: device if k == "device" else v for k, v in named.items()}
        return (sample, arguments, named), leaves

    def _gradients(self, result, leaves):
        """None: there are none."""
        outputs = [t for t in self.tree.tree_leaves(result)
                   if isinstance(t, self.torch.Tensor) and t.requires_grad
                   and t.layout is self.torch.strided]
        if not outputs or not leaves:
            return None
        seeds = [self.torch.ones_like(t) for t in outputs]
        try:
            return self.torch.autograd.grad(outputs, leaves, seeds, allow_unused=True)
        except RuntimeError:
            return None

    def _compare_all(self, operator, case, what, found, expected):
        pairs = zip(self.tree.tree_leaves(found), self.tree.tree_leaves(expected))
        for tensor, other in pairs:
            if not isinstance(tensor, self.torch.Tensor) or tensor.layout is not self.torch.strided:
                continue
            if self.values.is_unknown(tensor):
                self.counts[f"{what}s unknown, {case}"] += 1
                continue
            try:
                self.torch.testing.assert_close(tensor.detach().cpu(), other.detach(), **TOLERANCE)
            except AssertionError as error:
                reason = str(error).splitlines()[0]
                self.complaints.append(f"{operator.formatted_name}, {case}: {what}: {reason}")


def compare(mode, names):
    warnings.simplefilter("ignore")
    comparison = Comparison(mode)
    comparison.run(names)
    for complaint in comparison.complaints:
        print("WRONG", complaint)
    for what, count in sorted(comparison.counts.items()):
        print(f"  {count:6,} {what}")
    print(f"--values {mode}: {len(comparison.complaints)} wrong")
    return 1 if comparison.complaints or not comparison.counts["samples, known"] else 0


def main():
    ohm, *names = sys.argv[1:]
    environment = {**os.environ, "LD_PRELOAD": ""}
    failed = [mode for mode in ("known", "cpu") if subprocess.run(
        [ohm, "exec", "--gpu", "l4-24g", "--no-record", "--values", mode, "--", "python", __file__,
         "--compare", mode, *names], env=environment, stdin=subprocess.DEVNULL).returncode]
    if failed:
        sys.exit(f"failed: --values {' and '.join(failed)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compare"]:
        sys.exit(compare(sys.argv[2], sys.argv[3:]))
    main()
