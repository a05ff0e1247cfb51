import LocalSubstitutionArchive
import Testing

@Suite("Cache-Control")
struct CacheControlTests {
    @Test(
        "The names of a list's directives are returned in lower case",
        arguments: [
            ("", []), (" , ,", []), ("no-store", ["no-store"]), ("No-Store , max-age=5", ["no-store", "max-age"]),
            ("no-store=\"x\"", ["no-store"]), ("private=\"a, b\\\"c\", x", ["private", "x"]),
            ("max-age=\"5\"", ["max-age"]),
        ]
    )
    func directives(field: String, names: [String]) {
        #expect(CacheControl.directives(field) == names)
    }

    @Test(
        "Text that is not a list of directives is refused",
        arguments: [
            "max-age=0;no-store", "max-age=", "=5", "a b", "private=\"a", "private=\"a\\", "no-store;", "é", "a==b",
            "\"a\"",
            "max-age = 5",
        ]
    )
    func malformed(field: String) {
        #expect(CacheControl.directives(field) == nil)
    }
}
