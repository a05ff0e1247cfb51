/// The words of earlier versions, which mean the same until 1.0, and which no help names.
enum OldWords {
    /// The commands, each with the words that replace it.
    static let commands = [
        "capture": ["add", "--in-browser"], "import": ["add", "--recording"], "outdated": ["update", "--dry-run"],
        "list": ["preview", "--format", "text"], "webextension": ["extension"], "schema": ["init", "--schema"],
    ]

    /// The options, keyed by the command as it was called, each with the name that replaces it.
    static let options: [String: [String: String]] = [
        "add": ["--host": "also-host", "-r": "with-references"],
        "capture": ["--host": "only-host"], "import": ["--host": "only-host"],
        "outdated": ["-a": "all"],
        "check": [
            "--budget": "max-total", "-b": "max-total", "-s": "strict", "-a": "all", "-w": "watch", "-f": "folder",
        ],
        "list": ["--unused-limit": "max-unused", "-u": "used"], "preview": ["-s": "serve", "-u": "used"],
        "explain": ["-r": "require"],
        "verify": ["--require": "at-least", "-r": "at-least", "--report": "output"],
        "webextension": ["-p": "pages"],
    ]
}
