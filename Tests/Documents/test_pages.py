"""Tests of what is read from a page. Run with: python3 -m unittest discover Tests/Documents"""

import unittest

from pages import LEFT_OUT, lines_of, looks_in_browser, through_package_manager, waits_for


class Lines(unittest.TestCase):
    def lines(self, text):
        return [line for kind, line in lines_of(text) if kind == "line"]

    def test_blocks(self):
        text = "a\n```sh\nsubstitute init   # begins\n\ncat x | substitute check -\n```\n```json\n{}\n```\n```swift\nlet a = 1\n```\n"
        self.assertEqual(lines_of(text), [
            ("line", "substitute init"), ("line", "cat x | substitute check -"), ("manifest", "{}\n")])

    def test_words_in_a_sentence(self):
        self.assertEqual(self.lines("`substitute check`, `substitute\ncheck`, `swift run Demo` and `bash .ci/run`"),
                         ["substitute check", "swift run Demo", "bash .ci/run"])

    def test_words_that_are_no_lines(self):
        for words in ("substitute", "substitute add", "swift package substitute explain", "substitute add URL…", "swift package -v",
                      "manifest.json", "swift build"):
            self.assertEqual(self.lines(f"`{words}`"), [], words)


class Forms(unittest.TestCase):
    def test_package_manager(self):
        self.assertEqual(through_package_manager("substitute check a", True), "swift package substitute check a")
        self.assertEqual(through_package_manager("substitute init", False), "swift package substitute-edit init")
        self.assertRegex(through_package_manager("substitute init", True), r"^swift package --allow-writing.* all substitute-edit init$")

    def test_waiting(self):
        for line in ("substitute check --watch", "substitute preview --serve", "swift package substitute-edit browse a", "swift run Showcase"):
            self.assertTrue(waits_for(line), line)
        for line in ("substitute check", "substitute preview", "swift run Demo", "swift run Showcase --record app.har"):
            self.assertFalse(waits_for(line), line)

    def test_browsers(self):
        for line in ("substitute verify", "substitute verify -o verified", "substitute browse https://example.com/"):
            self.assertTrue(looks_in_browser(line), line)
        for line in ("substitute add --in-browser https://example.com/", "substitute check", "substitute help verify"):
            self.assertFalse(looks_in_browser(line), line)

    def test_reasons(self):
        self.assertLessEqual(len(LEFT_OUT), 10)
        self.assertTrue(all(LEFT_OUT.values()))
