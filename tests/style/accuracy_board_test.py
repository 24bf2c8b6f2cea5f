"""The board of published figures: which run counts, and that interrupted boards go on."""
import pathlib
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(TESTS / "comparisons" / "accuracy"))

import board  # noqa: E402


class Runner:
    """Runs nothing; fails from the given job on."""

    def __init__(self, most):
        self.most = most
        self.names = []

    def finished(self, job):
        if len(self.names) == self.most:
            raise KeyboardInterrupt
        self.names.append(board.name_of(job))
        return {"name": board.name_of(job), "seconds": 1.0, "fits": True, "reserved": 1,
                "fits_in_its_own": True, "fits_in_less": False}


class Board(unittest.TestCase):
    def test_names_of_published_jobs_differ(self):
        names = [board.name_of(job) for job in board.published_jobs()]
        self.assertGreater(len(names), 40)
        self.assertEqual(len(names), len(set(names)))

    def test_the_second_run_is_whole_mebibytes(self):
        """The published error is a ratio: what it gives back must be what NVML counts."""
        for job in board.published_jobs():
            if job["second_run"] is not None:
                distance = job["second_run"] % board.MIB
                self.assertIn(distance, (0, 1, board.MIB - 1), board.name_of(job))
                self.assertLessEqual(job["second_run"], job["estimate"])

    def test_the_nearer_run_counts(self):
        job = {"first_run": 1000, "second_run": 500}
        self.assertEqual(board.error_percent(job, 510), 2)
        self.assertEqual(board.error_percent(job, 990), -1)
        self.assertEqual(board.error_percent({"first_run": 1000, "second_run": None}, 510), -49)

    def test_an_interrupted_board_goes_on(self):
        jobs = board.published_jobs()[:4]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.jsonl"
            first = Runner(2)
            with self.assertRaises(KeyboardInterrupt):
                board.run_jobs(jobs, first, path, None)
            path.write_text(path.read_text() + '{"name": "cut of')
            second = Runner(9)
            results = board.run_jobs(jobs, second, path, None)
            self.assertEqual(first.names + second.names, [board.name_of(job) for job in jobs])
            self.assertEqual(len(results), 4)
            self.assertEqual(board.known_results(path).keys(), results.keys())

    def test_no_time_runs_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(9)
            path = pathlib.Path(folder) / "results.jsonl"
            self.assertEqual(board.run_jobs(board.published_jobs(), runner, path, 0), {})
            self.assertEqual(runner.names, [])


if __name__ == "__main__":
    unittest.main()
