/// Punctuation of other scripts that looks like punctuation of ASCII.
enum Lookalike {
    /// Returns the text with the punctuation of ASCII.
    static func plain(_ text: String) -> String {
        String(text.map { marks[$0] ?? $0 })
    }

    /// Returns the character of ASCII that a character looks like; nil if there is none.
    static func plain(_ character: Character) -> Character? { marks[character] }

    private static let marks: [Character: Character] = {
        var marks: [Character: Character] = [
            "。": ".", "｡": ".", "․": ".", "、": ",", "،": ",", "؛": ";", "؟": "?", "∶": ":", "꞉": ":", "ː": ":",
            "︰": ":",
            "⁄": "/", "∕": "/", "⧸": "/", "╱": "/", "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-",
            "﹣": "-",
            "٪": "%", "﹪": "%", "［": "[", "］": "]", "｛": "{", "｝": "}", "【": "[", "】": "]", "⟨": "<", "⟩": ">",
        ]
        // These are the full-width forms of "!" to "~" (Unicode, Halfwidth and Fullwidth Forms).
        for value in UInt32(0xFF01)...0xFF5E {
            if let wide = Unicode.Scalar(value), let plain = Unicode.Scalar(value - 0xFEE0) {
                marks[Character(wide)] = Character(plain)
            }
        }
        return marks
    }()
}
