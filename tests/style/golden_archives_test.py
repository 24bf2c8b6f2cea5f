#!/usr/bin/env python3
"""Recordings that are stored compressed: what is written is read, and a changed archive is refused.

    golden_archives_test.py CMAKE
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "comparisons"))
sys.dont_write_bytecode = True

import golden_archives

CMAKE = sys.argv.pop()


def unpack_with_cmake(golden, folder):
    return subprocess.run([CMAKE, "-D", f"GOLDEN={golden}", "-D", f"FOLDER={folder}", "-P",
                           str(TESTS / "golden.cmake")], capture_output=True, text=True)


class Archives(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.golden = pathlib.Path(folder.name) / "golden"
        self.unpacked = pathlib.Path(folder.name) / "unpacked"
        (self.golden / "runs/b").mkdir(parents=True)
        (self.golden / "SHA256SUMS").write_text("")
        (self.golden / "runs/b/example.txt").write_text("readable\n")
        golden_archives.pack("runs", {"a/one.txt": b"1\n", "b/two.txt": b"2\n"}, self.golden)

    def archive(self):
        return self.golden / "runs.tar.xz"

    def test_both_readers_find_members_and_readable_files(self):
        expected = {"a/one.txt": "1\n", "b/example.txt": "readable\n", "b/two.txt": "2\n"}
        self.assertEqual(golden_archives.read("runs", self.golden), expected)
        self.assertEqual(unpack_with_cmake(self.golden, self.unpacked).stderr, "")
        files = {str(path.relative_to(self.unpacked / "runs")): path.read_text()
                 for path in (self.unpacked / "runs").rglob("*.txt")}
        self.assertEqual(files, expected)

    def test_a_file_is_written_where_it_is_stored(self):
        golden_archives.write("runs", {"b/example.txt": "new\n", "b/two.txt": "3\n"}, self.golden)
        self.assertEqual((self.golden / "runs/b/example.txt").read_text(), "new\n")
        self.assertEqual(golden_archives.members_of("runs", self.golden),
                         {"a/one.txt": b"1\n", "b/two.txt": b"3\n"})

    def test_the_same_files_make_the_same_archive(self):
        before = self.archive().read_bytes()
        golden_archives.pack("runs", {"b/two.txt": b"2\n", "a/one.txt": b"1\n"}, self.golden)
        self.assertEqual(self.archive().read_bytes(), before)

    def test_what_is_unpacked_follows_the_archive(self):
        unpack_with_cmake(self.golden, self.unpacked)
        golden_archives.pack("runs", {"a/one.txt": b"4\n"}, self.golden)
        (self.golden / "runs/b/example.txt").unlink()
        unpack_with_cmake(self.golden, self.unpacked)
        self.assertEqual([path.name for path in (self.unpacked / "runs").rglob("*.txt")], ["one.txt"])

    def test_both_readers_refuse_another_archive(self):
        self.archive().write_bytes(self.archive().read_bytes() + b"x")
        with self.assertRaisesRegex(golden_archives.HashMismatch, "does not match .*SHA256SUMS"):
            golden_archives.read("runs", self.golden)
        done = unpack_with_cmake(self.golden, self.unpacked)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"runs\.tar\.xz\s+does\s+not\s+match")


class Checkout(unittest.TestCase):
    def test_pins_each_archive(self):
        archives = {str(path.relative_to(golden_archives.GOLDEN))
                    for path in golden_archives.GOLDEN.rglob("*.tar.xz")}
        self.assertEqual(archives, set(golden_archives.pinned_hashes()))
        for archive in archives:
            golden_archives.members_of(archive.removesuffix(".tar.xz"))


unittest.main()
