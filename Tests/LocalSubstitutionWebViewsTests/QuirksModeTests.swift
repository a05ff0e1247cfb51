import Testing

@testable import SubstitutionRules

@Suite("Quirks mode")
struct QuirksModeTests {
    @Test(
        "A doctype selects quirks mode as in HTML §13.2.6.4.1",
        arguments: [
            ("html", false), (" HTML ", false), ("", true), ("svg", true),
            ("html SYSTEM \"about:legacy-compat\"", false),
            ("html system", true), ("html public", true), ("html other", true), ("html public 'html'", true),
            ("html public \"\"", false), ("html public \"-//w3c//dtd html 4.0//en", true),
            (
                "html PUBLIC\"-//W3C//DTD XHTML 1.0 Strict//EN\"\"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd\"",
                false
            ),
            ("html PUBLIC \"-//W3C//DTD XHTML+RDFa 1.0//EN\" \"http://www.w3.org/MarkUp/DTD/xhtml-rdfa-1.dtd\"", false),
            ("html PUBLIC \"-//W3C//DTD XHTML Basic 1.1//EN\"", false),
            ("HTML PUBLIC '-//W3C//DTD HTML 4.0//EN'", false),
            ("HTML PUBLIC\r\n\"-//W3C//DTD HTML 4.0 Transitional//EN\"", true),
            ("HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\"", false),
            ("HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\"", true),
            ("HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\" \"loose.dtd\"", false),
            ("HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\" junk", true),
            ("HTML PUBLIC \"-//IETF//DTD HTML 3.2 Final//EN\"", true),
            ("html SYSTEM \"http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd\"", true),
        ]
    )
    func doctype(words: String, isQuirky: Bool) {
        #expect(QuirksMode.isSelected(byDoctype: words) == isQuirky)
        // Outside quirks mode, the table closes the paragraph. In quirks mode, the paragraph stays open, so `</desc>`
        // closes nothing. The `title` is then an HTML element, which holds text and no image.
        var sources: [String] = []
        let body = "<svg><desc><p><table></table></desc><title><img src=a.png></title></svg>"
        PageScanner.read(Array("<!DOCTYPE \(words)>\(body)".utf8)) { tag, _ in
            sources += tag.attributes.filter { $0.name == "src" }.map(\.value.string)
        }
        #expect(sources == (isQuirky ? [] : ["a.png"]))
    }
}
