"""What the documents show: their command lines, and how each of them is run."""

import re

# The beginnings of lines that are not run, with the reasons.
LEFT_OUT = {
    "swift test": "the suite itself",
    "UPDATE_GOLDEN_FILES=1 swift test": "the suite itself",
    "bash .ci/run": "runs this script",
    "bash .ci/long": "takes hours",
    "bash Tests/Fuzz/run": "a step of .ci/run, for a minute and more",
    "APPLE_SDK=$(xcrun": "needs a Mac",
    "APPLE_SDK=~/sdks": "needs an SDK of Apple's",
    "WITHOUT_PLUGINS=1 swift run -c release": "a step of .ci/run, in short",
    "open DemoApp": "needs a Mac",
}

# Commands that the package manager runs without asking for permission, as the article "Guide for designers" says.
READING = {"check", "explain", "completions", "help", "--help", "--version"}
PERMISSIONS = "--allow-writing-to-package-directory --allow-network-connections all"


def without_comment(line):
    return re.sub(r"\s+# .*$", "", line).strip()


def lines_of(text):
    """Returns the command lines and the manifests of a page, in order."""
    found = []
    for match in re.finditer(r"(?ms)^```(\w*)\n(.*?)^```$|`([^`]+)`", text):
        if match.group(1) == "sh":
            found += [("line", without_comment(line)) for line in match.group(2).splitlines() if line.strip()]
        elif match.group(1) == "json":
            found.append(("manifest", match.group(2)))
        elif match.group(3):
            line = " ".join(match.group(3).split())
            # A command's name alone is not a command line if the command needs arguments.
            name = re.fullmatch(r"(?:swift package )?substitute(?:-edit)?(?: (?:add|explain|extension))?", line)
            begins = re.match(r"(substitute|swift (package|run|test)|bash) \S", line)
            is_whole = begins and not name and "…" not in line and not re.fullmatch(r"swift package -\w", line)
            if is_whole and ("line", line) not in found:
                found.append(("line", line))
    return found


def waits_for(line):
    """Returns the text that shows that a line is running, if it runs until it is stopped; a false value otherwise."""
    if "--watch" in line:
        return "no errors"
    if re.search(r"substitute(-edit)? browse", line):
        return "https://example.com/"
    return ("--serve" in line or line == "swift run Showcase") and "Open http"


def looks_in_browser(line):
    """True for a line that starts browsers for seconds, and after which the next lines find the package as it was."""
    return re.match(r"substitute (browse|verify)\b", line) is not None


def through_package_manager(line, in_script):
    """Returns a line in the form that the article gives for use without installing the tool."""
    words = line.split(" ", 1)
    verb = "substitute" if words[1].split()[0] in READING else "substitute-edit"
    flags = f" {PERMISSIONS}" if in_script and verb == "substitute-edit" else ""
    return f"swift package{flags} {verb} {words[1]}"
