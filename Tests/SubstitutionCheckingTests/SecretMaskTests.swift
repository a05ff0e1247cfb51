import Testing

@testable import SubstitutionChecking

@Suite("Secrets in URLs")
struct SecretMaskTests {
    @Test(
        "Values that may be secret are masked",
        arguments: [
            ("https://anna:geheim@h/a", "https://h/a"),
            ("https://h/a#access_token=abc", "https://h/a"),
            ("https://h/a?access_token=abc", "https://h/a?access_token=masked"),
            ("https://h/a?ApiKey=1&x=2", "https://h/a?ApiKey=masked&x=2"),
            (
                "https://h/a?X-Amz-Signature=ab&X-Amz-Date=20260101T000000Z",
                "https://h/a?X-Amz-Signature=masked&X-Amz-Date=20260101T000000Z"
            ),
            ("https://h/a?q=eyJhbGciOiJub25lIn0.e30.", "https://h/a?q=masked"),
            ("https://h/a?eyJhbGciOiJub25lIn0.e30.", "https://h/a?masked"),
            ("https://h/a?id=9f86d081884c7d659a2feaa0c55ad015", "https://h/a?id=masked"),
            ("https://h/a?id=123e4567-e89b-12d3-a456-426614174000", "https://h/a?id=masked"),
            ("https://h/a?u=AbCdEfGhIjKlMnOp", "https://h/a?u=masked"),
            ("https://h/a?u=dGhpcyBpcyBub3Qgc28gc2VjcmV0%3D", "https://h/a?u=masked"),
            ("https://h/a?next=https%3A%2F%2Fh%2F%3Ftoken%3Dabc", "https://h/a?next=masked"),
            ("https://h/a?code=1&state=2", "https://h/a?code=masked&state=masked"),
        ]
    )
    func masked(url: String, expected: String) { #expect(SecretMask.masked(url) == expected) }

    @Test(
        "Values that are not personal or secret stay",
        arguments: [
            "https://h/", "https://h/a?", "https://h/a?v=9f86d081884c7d659a2feaa0c55ad015",
            "https://h/a?page=2&size=100",
            "https://h/css?family=Roboto:wght@400;700&display=swap",
            "https://h/a?file=placeholder-image-1234567890.png",
            "https://h/a?q=internationalization", "https://h/a?fields=id,name,created", "https://h/a?&&=&x",
            "https://h/a?token=",
            "https://h/a?next=https%3A%2F%2Fh%2Fb", "https://h/a?date=2026-11-24T10:00:00Z", "not a url", "",
        ]
    )
    func kept(url: String) { #expect(SecretMask.masked(url) == url) }
}
