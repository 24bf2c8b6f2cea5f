"""What is said of the session as a whole, by the process that prints: the table, and the baseline."""
from __future__ import annotations

import os
from typing import Any, Dict, List, Set

import pytest

import ohm._testing as testing
from ohm._testing import table
from ohm._testing.history import relative

WORKER_KEY = "ohm_collected"


class Summary:
    """Figures come with reports, from workers of xdist, too; those of a test's last run count."""

    def __init__(self, config: Any, known: Any, most_rows: int):
        self.config = config
        self.baseline = known
        self.most_rows = most_rows
        self.rows: Dict[str, Dict[str, Any]] = {}
        self.failed: Set[str] = set()
        self.collected: Set[str] = set()
        self._said: List[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.passed and not report.user_properties and not self.failed:
            return
        test = report.nodeid
        if report.when == "setup":
            self.failed.discard(test)
        if not report.passed:
            self.failed.add(test)
        if report.when == "teardown" and report.user_properties:
            row = table.properties_of(report)
            if row:
                self.rows[test] = row

    def pytest_collection_finish(self, session: Any) -> None:
        self.collected.update(item.nodeid for item in session.items)

    def pytest_deselected(self, items: Any) -> None:
        self.collected.update(item.nodeid for item in items)

    @pytest.hookimpl(optionalhook=True)  # of xdist
    def pytest_testnodedown(self, node: Any) -> None:
        self.collected.update(getattr(node, "workeroutput", {}).get(WORKER_KEY, []))

    def pytest_sessionfinish(self, session: Any) -> None:
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output[WORKER_KEY] = sorted(self.collected)
        elif self.baseline is not None:
            if self.config.option.ohm_update_baseline:
                self._update(session)
            else:
                self._said = self._compare()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        table.write_table(terminalreporter, self.rows, self.most_rows,
                          os.environ.get(testing.GPU_VARIABLE, ""))
        for line in self._said:
            terminalreporter.write_line(line)

    # ---- the baseline ----

    def _compare(self) -> List[str]:
        from ohm._testing.baseline import FIGURES

        said = []
        for test in sorted(self.rows):
            for line in self.baseline.increases(test, self.rows[test], FIGURES):
                said.append(f"ohm: {test}: {line}")
        new = sorted(set(self.rows) - set(self.baseline.rows))
        if new:
            said.append(f"ohm: {len(new)} tests are not in {relative(self.baseline.path)}; "
                        "--ohm-update-baseline adds them")
        return said

    def _update(self, session: Any) -> None:
        from ohm._testing.baseline import FIGURES

        allows = self.config.option.ohm_allow_unknown_values
        unknown = [test for test, row in self.rows.items()
                   if row.get("unknown_values") and not allows]
        measured = {test: {name: row.get(name, 0) for name in FIGURES}
                    for test, row in self.rows.items()
                    if test not in self.failed and test not in unknown}
        try:
            changed, dropped = self.baseline.write(measured, self._is_gone)
        except OSError as error:
            self._said = [f"ohm: the baseline is not written: {error}"]
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            return
        self._said = [f"ohm: {relative(self.baseline.path)} has {changed} changed and {dropped} fewer of "
                      f"{len(measured)} measured tests"]
        if unknown:
            self._said.append(f"ohm: {len(unknown)} tests depend on values that were not computed, and are "
                              "not stored (--ohm-values cpu, or --ohm-allow-unknown-values)")

    def _is_gone(self, test: str) -> bool:
        """Its file is gone, or was collected as a whole without it."""
        file = test.partition("::")[0]
        if not os.path.exists(os.path.join(str(self.config.rootpath), file)):
            return True
        names_tests = any("::" in str(argument) for argument in self.config.args)
        return (not names_tests and test not in self.collected
                and any(other.partition("::")[0] == file for other in self.collected))
