import Foundation
import LocalSubstitutionCache
import TestSupport
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
            ("https://h/a?x=Ab3d//E5gH7jK9mN1pQ2rS", "https://h/a?x=masked"),
            ("https://h/a?u=dGhpcyBpcyBub3Qgc28gc2VjcmV0%3D", "https://h/a?u=masked"),
            ("https://h/a?next=https%3A%2F%2Fh%2F%3Ftoken%3Dabc", "https://h/a?next=masked"),
            (
                "https://h/invoice.pdf?t=dGhpcyBpcyBub3Qgc28gc2VjcmV0",
                "https://h/invoice.pdf?t=masked"
            ),
            (
                "https://h/a.css?id=123e4567-e89b-12d3-a456-426614174000", "https://h/a.css?id=masked"
            ),
            ("https://h/a?code=1&state=2", "https://h/a?code=masked&state=masked"),
            ("https://h/a.mp4?md5=9f86d081884c7d659a2feaa0c55ad015", "https://h/a.mp4?md5=masked"),
        ]
    )
    func masked(url: String, expected: String) { #expect(SecretMask.masked(url) == expected) }

    @Test(
        "Values that are not personal or secret stay",
        arguments: [
            "https://h/", "https://h/a?", "https://h/a?country_code=US", "https://h/a?=%5B%5D=%7B%20%7D%7C%5C",
            "https://h/a?v=9f86d081884c7d659a2feaa0c55ad015",
            "https://h/a?page=2&size=100",
            "https://h/css?family=Roboto:wght@400;700&display=swap",
            "https://h/a?file=placeholder-image-1234567890.png",
            "https://h/a?q=internationalization", "https://h/a?fields=id,name,created", "https://h/a?&&=&x",
            "https://h/a?token=",
            "https://h/a?next=https%3A%2F%2Fh%2Fb", "https://h/a?date=2026-11-24T10:00:00Z", "not a url", "",
        ]
    )
    func kept(url: String) { #expect(SecretMask.masked(url) == url) }

    @Test(
        "No spelling of a name and no encoding shows a secret",
        arguments: [
            "?token=%22%22hunter2", "?token+=hunter2", "?token%00=hunter2", "?token%09=hunter2",
            "?token*=hunter2", "?token~=hunter2", "?verification_code=hunter2", "?access_code=hunter2",
            "?TOKEN=hunter2", "?%74oken=hunter2", "?t%6Fken=hunter2", "?%2574oken=hunter2", "?%252574oken=hunter2",
            "?%u0074oken=hunter2", "?tok%C2%ADen=hunter2", "?to-ken=hunter2", "?tok.en=hunter2", "?ſecret=hunter2",
            "?ＴＯＫＥＮ=hunter2", "?%C5%BFecret=hunter2", "?user[password]=hunter2", "?user%5Bpw%5D=hunter2",
            "?userPw=hunter2", "?a=1;token=hunter2", "?a=1&amp;token=hunter2", "?a=1%26token%3Dhunter2",
            "?id=1,token=hunter2", "?a=%00token%3Dhunter2", "?a?token=hunter2", "?a&token&hunter2",
            "?a=token%26hunter2", "?=hunter2", "?token=a,hunter2", "?token=a;hunter2", "?token=a?hunter2",
            "?token=a/hunter2", "?token='hunter2'", "?token=%22a%22hunter2", "?token==hunter2",
            "?a&#61;1&pw&#61;hunter2",
            "?next=https%3A%2F%2Fh%2F%3Ftoken%3Dhunter2", "?next=https%253A%252F%252Fh%252F%253Ftoken%253Dhunter2",
            "?next=https%3A%2F%2Fuser%3Ahunter2%40h%2F", "?next=%2Flogin%3Fpassword%3Dhunter2%26a%3Db",
            "?data=%7B%22password%22%3A%22hunter2%22%7D", "?data={%22a%22:{%22pin%22:%22hunter2%22}}",
            "?data=%7B%5C%22password%5C%22%3A%5C%22hunter2%5C%22%7D",
            "?data=%7B%22\\u0070assword%22%3A%22hunter2%22%7D",
            "?q=st=1700000000~acl=/*~hmac=hunter2", "?data=[%7B%22name%22:%22password%22,%22value%22:%22hunter2%22%7D]",
            "?name=password&value=hunter2",
            "?%22password%22:%22hunter2%22", "?q=password:hunter2", "?h=Bearer%20hunter2", "?h=Bearer+hunter2",
            "?h=Basic%20aHVudGVyMg", "?h=Authorization:%20Basic%20hunter2",
            "?h=Digest%20username=%22a%22,response=%22hunter2%22",
            "#access_token=hunter2", "#access_token=a/hunter2", "#a=b&token=a;b?c/hunter2", "#/b?token=a/hunter2",
            "?a=b#token=hunter2", "?a=b#token=a/hunter2", "#token=a#hunter2",
            ";jsessionid=hunter2", ";jsessionid=hunter2/b?c=d",
            ";%6Asessionid=hunter2", "/token=hunter2/b", "/b%3Ftoken%3Dhunter2/c", "/b;a=1;pw=hunter2",
            "/b&token=hunter2", "?time=10:30&password=a@hunter2", "?from=2026-11-27T00:00:00Z&password=hunter2@x",
            "?data=%7B%22a%22:1,%22password%22:%22a@hunter2%22%7D", "?q=a:b&x=1&token=a@b@hunter2", "?u=joe&p=hunter2",
            "?state=ab&code=hunter2hunter2", "?iss=https://h&code=hunter2hunter2",
            "?mode=resetPassword&oobCode=hunter2",
            "?code=hunter2aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaAzFuaaaa==",
            "?action=rp&key=hunter2aaaaaaaaaaaa&login=joe",
            "?auth_date=1700000000&hash=hunter2aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "?ks=hunter2aaaaaaaaaaaaaaaaaaaaaaaaaaa", "?sk=hunter2aaaaaaaaaaaaaaaaaaaaaaaaa", "?SAMLart=hunter2",
            "?appid=hunter2aaaaaaaaaaaaaaaaaaaaaaaaa", "?ak=hunter2aaaaaaaaaaaaaaaaa",
            ";stok=hunter2/b", "/bot123456:hunter2/getMe", "/eyJfcmFpbHMiOnsicGFzc3dvcmQiOiJodW50ZXIyIn19/a",
        ]
    )
    func spellings(tail: String) {
        let other = tail.hasPrefix("?") ? "http://h:8080/?x=1&y=2&" + tail.dropFirst() : "//h/a/b.php" + tail
        for url in ["https://h/a" + tail, other] {
            let masked = SecretMask.masked(url)
            #expect(!masked.contains("hunter2") && !masked.contains("aHVudGVyMg"), "\(url) → \(masked)")
            let text = SecretMask.masked(text: "The nearest is \"\(url)\" (manifest.json:1), which differs.")
            #expect(!text.contains("hunter2") && !text.contains("aHVudGVyMg"), "\(text)")
            #expect(text.hasPrefix("The nearest is ") && text.hasSuffix("which differs."), "\(text)")
        }
    }

    @Test(
        "A signed object in a path is a secret, unless it names a picture",
        arguments: [
            #"{"_rails":{"data":12,"exp":"2026-11-27T12:00:00Z","pur":"User\npassword_reset\n900"}}"#,
            #"{"_rails":{"data":1,"pur":"user/magic_link"}}"#, #"{"uid":1,"purpose":"reset","exp":1700000000}"#,
            #"{"email":"joe@example.com","list":3}"#, #"{"url":"https://joe:hunter2@h/"}"#,
            #"{"iv":"AAECAwQFBgcICQ","value":"cGxhaW4","mac":"9f86d081884c7d65"}"#,
        ]
    )
    func signed(object: String) {
        for tail in ["", "--5d41402abc4b2a76b9719d911017c592a1", "/edit"] {
            let word = Data(object.utf8).base64EncodedString().replacing("=", with: "")
            let url = "https://h/reset/\(word)\(tail)"
            #expect(SecretMask.isCertain(in: url) && !SecretMask.masked(url).contains(word.prefix(12)), "\(url)")
        }
        #expect(SecretMask.isCertain(in: "https://h/password/reset/41036fe9629a9f4eb895c90307d644358ee57c9dd050e34b"))
        #expect(SecretMask.isCertain(in: "https://h/a?next=/invitations/41036fe9629a9f4eb895c90307d64435/accept"))
        #expect(SecretMask.isCertain(in: "https://h/a?u=https%3A%2F%2Fh%2Freset%2F41036fe9629a9f4eb895c90307d64435"))
        #expect(!SecretMask.isCertain(in: "https://h/css/reset/normalize.css"))
        #expect(SecretMask.isCertain(in: "https://h/activate/eyJ1aWQiOjF9:1abcde:Ab3dE5gH7jK9mN1pQ3rS/"))
    }

    @Test(
        "The random part of a link that is sent to one person is a secret",
        arguments: [
            "/reset/MQ/c8v0xi-9f86d081884c7d659a2feaa0c55ad015/", "/reset//9f86d081884c7d659a2feaa0c55ad015",
            "/user/reset/1/1764250000/k3uZQqk9Bv7xWm2LpRt5yAa1c8Vd0VoUw_/login",
            "/lostpassword/reset/form/AbCd3fGh1jKlMnOpQr5tU/anna",
            "/accounts/password/reset/key/1-c8v0xi-9f86d081884c7d659a2feaa0c55ad015/",
            "/account/recover/confirm/123/9f86d081884c7d659a2feaa0c55ad015/",
            "/reset/public/Ab3dE5gH7jK9mN1pQ2rS", "/verify-email/Ab3dE5gH7jK9mN1pQ2rS",
            "/u/activate-account/9f86d081884c7d659a2feaa0c55ad015",
            "/session/email-login/9f86d081884c7d659a2feaa0c55ad015",
            "/wiki/Special:ConfirmEmail/9f86d081884c7d659a2feaa0c55ad015",
            "/calendar/ical/u%40example.com/private-9f86d081884c7d659a2feaa0c55ad015/basic.ics",
            "/p/1/playManifest/entryId/0_a/ks/djJ8MTIzfAbCd3fGh1jKlMnOpQr5tU/a.mp4",
            "/feeds/calendars/user_RcoYVOeuxsNidrtJiEH0sd4fSIFLWlCchET0tDY6.ics",
            "/_next/data/bUiLd/reset-password/k3uZQqk9T1mS8vJ2xWcR4yB7nL0pF5hD6gA.json",
            "/session/k3uZQqk9T1mS8vJ2xWcR4yB7nL0pF5hD6gA.json", "/verify/k3uZQqk9T1mS8vJ2xWcR4yB7nL0pF5hD6gA.html",
            "/a/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjMifQ.k3uZQqk9T1mS8vJ2xWcR4yB7nL0pF5hD6gA.json",
        ]
    )
    func links(path: String) throws {
        let secret = try #require(path.split(separator: "/").max { $0.count < $1.count })
        for url in ["https://h\(path)", "https://h/a?next=\(path.replacing("/", with: "%2F"))"] {
            let masked = SecretMask.masked(url)
            #expect(!masked.contains(secret) && SecretMask.isCertain(in: url), "\(masked)")
            #expect(masked.hasPrefix("https://h/a?next=") || masked == url.replacing(secret, with: "masked"))
            #expect(!SecretMask.shown("it sent \(url) to").contains(secret))
        }
    }

    @Test(
        "Of the random parts of a link, each is a secret",
        arguments: [
            "/calendar/ical/c_5d41402abc4b2a76b9719d911017c592%40group.calendar.google.com/private-hunter2/basic.ics",
            "/owa/calendar/5d41402abc4b2a76b9719d911017c592@example.com/hunter2/calendar.ics",
            "/calendar/5be8d432f8dc74493aaf53e6/69c558a7d79162569df9a98a/hunter2.ics",
            "/unsubscribe/aB3dE5fG7hJ9kL2mN4pQ6r/aB3dE5fG7hJ9kL2mN4pQ6s/hunter2",
        ]
    )
    func severalParts(path: String) {
        let secret = "9f86d081884c7d659a2feaa0c55ad015"
        let url = "https://h\(path.replacing("hunter2", with: secret))"
        #expect(!SecretMask.masked(url).contains(secret) && !SecretMask.shown("it sent \(url) to").contains(secret))
    }

    @Test(
        "A parameter is masked for its name",
        arguments: [
            "pass", "passphrase", "passcode", "pw", "pwd", "passwd", "passwort", "passkey", "pswd", "kennwort", "mdp",
            "mot_de_passe", "contraseña", "clave", "senha", "bearer", "private_key", "privateKey", "licensekey",
            "api-key",
            "x-api-key", "api_token", "appkey", "subscription-key", "Ocp-Apim-Subscription-Key", "x-functions-key",
            "client_secret", "consumer_secret", "ticket", "login", "user", "email", "user_email", "cred", "creds",
            "credentials", "session", "session-id", "sid", "connect.sid", "PHPSESSID", "ASPSESSIONIDABC", "JSESSIONID",
            "auth", "oauth_verifier", "X-Auth", "authorization", "id_token", "refresh_token", "code", "code_verifier",
            "state", "nonce", "sig", "sign", "signature", "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token",
            "X-Goog-Signature", "GoogleAccessId", "AWSAccessKeyId", "hdnea", "hdnts", "hdntl", "__token__", "hmac",
            "SAMLResponse", "saml", "csrf", "_csrf", "XSRF-TOKEN", "__RequestVerificationToken", "otp", "totp", "pin",
            "jwt", "wstoken", "mkt_tok", "sas_token", "AccountKey", "SharedAccessKey", "connectionString", "cvv",
            "iban", "tan", "lsid", "X-Remote-User", "X-Client-Cert", "sms_code", "mfa", "X-MFA", "2fa_code",
            "device_code", "user_code", "backup-code", "security_code", "cardnumber", "passord", "heslo", "stok",
            "seedPhrase", "npm_token", "hf_token", "npm_config_password",
        ]
    )
    func names(name: String) {
        #expect(SecretMask.masked("https://h/a?\(name)=s3&b=c") == "https://h/a?\(name)=masked&b=c")
    }

    @Test(
        "A value is masked for its form, whatever the name",
        arguments: [
            "eyJhbGciOiJIUzI1NiJ9.e30.x", "%65yJhbGciOiJIUzI1NiJ9.e30.x", "pk.eyJ1IjoiYSJ9.x", "AKIAIOSFODNN7EXAMPLE",
            "ghp_abc1", "github_pat_11ABC", "glpat-abc", "xoxb-12-ab", "sk_live_abc", "rk_test_abc", "whsec_abc",
            "AIzaSyA", "ya29.a0", "GOCSPX-ab", "sk-proj-abc", "sk-ant-api03-abc", "npm_abc", "SG.abc.def", "dop_v1_ab",
            "shpat_ab", "pypi-AgE", "hf_abc", "hvs.CAES", "figd_abc", "glsa_abc", "PMAK-abc", "AGE-SECRET-KEY-1ABC",
            "v2.local.abc", "-----BEGIN%20PRIVATE%20KEY-----%0AMIIE", "id:1|eyJhbGciOiJIUzI1NiJ9.e30.x",
            "1700000000:5d41402abc4b2a76b9719d911017c592",
            "12|5d41402abc4b2a76b9719d911017c592", "5d41402abc4b2a76b9719d911017c592S3CR3T",
            "Ym9iOmh1bnRlcjI6c2VjcmV0", "123e4567-e89b-12d3-a456-426614174000",
        ]
    )
    func forms(value: String) {
        for name in ["q", "v", "u"] where name != "v" || !value.hasPrefix("12") {
            #expect(SecretMask.masked("https://h/a?\(name)=\(value)&b=c") == "https://h/a?\(name)=masked&b=c")
        }
        #expect(SecretMask.masked("https://h/a?\(value)&b=c") == "https://h/a?masked&b=c")
    }

    @Test("The digest in a signed URL is its signature")
    func signed() {
        let digest = "5d41402abc4b2a76b9719d911017c592"
        for name in ["hash", "h", "v"] {
            #expect(
                SecretMask.masked("https://h/a.mp4?expires=1&\(name)=\(digest)")
                    == "https://h/a.mp4?expires=1&\(name)=masked"
            )
            #expect(
                SecretMask.masked("https://h/a.mp4?a=1&\(name)=\(digest)") == "https://h/a.mp4?a=1&\(name)=\(digest)"
            )
        }
    }

    @Test(
        "A secret is certain, and personal, whatever the name of its parameter",
        arguments: [
            "token", "apikey", "code", "state", "user", "key", "sig", "invite", "x", "email", "a=1;login", "nonce",
        ]
    )
    func inside(name: String) {
        let values = [
            Self.token, "Bearer%20\(Self.token)", "ghp_16C7e42F292c6912E7", "sk_live_a1b2c3d4e5f6",
            "%7B%22password%22%3A%22\(Self.token)%22%7D", "bob;password=hunter2", "https://h/?passwd=hunter2",
            "A1b2C3d4E5f6G7h8,passwd=hunter2", "npm_modules-ghp_16C7e42F292c6912E7", "a@b.c%26password=hunter2",
            "%22%22,x-password:hunter2", "https%3A%2F%2Fuser%3Ahunter2%40h2.example%2F",
        ]
        for value in values {
            let url = "https://h/a?\(name)=\(value)"
            #expect(SecretMask.isCertain(in: url), "\(url)")
            #expect(!SecretMask.shown("it is \(url)").contains("hunter2"), "\(url)")
            #expect(!SecretMask.findings(in: url).personal.isEmpty, "\(url)")
        }
    }

    @Test(
        "A key or signature that a site gives to every visitor is not for one person, and neither is a colon with an @",
        arguments: [
            "/theme/brand:dark@site.css", "/npm/react:dom@next/a.css", "?time=12:30@berlin", "?url=//cdn@2x/a.png",
            "/css2?family=Inter:wght@400..700", "?u=https://h:8080/@anna", "?sig=12:30@berlin",
            "/maps/api/js?key=AIzaSyD4iE2xVSpkLLOXoyqT-RuPwURN3ddScAI&callback=initMap",
            "?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature=a1B2c3D4e5F6&Expires=1",
            "?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE",
            "?hdnts=exp=1700000000~acl=/*~hmac=0a1b2c3d4e5f60718293a4b5c6d7e8f9", "/shop?state=NY&code=SALE20",
        ]
    )
    func noPassword(rest: String) {
        #expect(SecretMask.findings(in: "https://h\(rest)").personal == [])
    }

    @Test("An object is not certainly a secret because of its name, but a member of it may be")
    func objects() {
        #expect(!SecretMask.isCertain(in: "{\"sessions\": [{\"title\": \"Keynote\"}], \"tokens\": {\"a\": \"#fff\"}}"))
        #expect(SecretMask.isCertain(in: "{\"session\": {\"title\": \"a\", \"pin\": \"1234\"}}"))
    }

    private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjMifQ.abc9sig"

    @Test(
        "The URLs of ordinary files and pages stay readable",
        arguments: [
            "/app.8f3a9c1d2e4b5f60.js", "/static/js/2.9f86d081.chunk.js", "/css/site.css?v=8f3a", "/site.css?ver=6.4.2",
            "/a.css?v=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU", "/font.woff?af7ae505a9eed503f8b8e6982036873e",
            "/jquery-3.7.1.min.js?key=value", "/a.js?1700000000", "/a.js?t=1700000000000", "/a.png?w=640&h=480&dpr=2",
            "/a/123e4567-e89b-12d3-a456-426614174000/photo.jpg", "/a/5d41402abc4b2a76b9719d911017c592",
            "/css2?family=Material+Symbols+Outlined:opsz,wght,FILL,GRAD@20..48,100..700,0..1,-50..200",
            "/css?family=Open+Sans+Condensed:300,700|Roboto+Slab&subset=latin,latin-ext",
            "/_next/image?url=%2F_next%2Fstatic%2Fmedia%2Fhero.4fb1f2e3.png&w=640&q=75",
            "/image?src=https%3A%2F%2Fcdn.example.com%2FImages%2F2024%2F05%2FPhoto1.jpg&fit=crop",
            "/share?url=https%3A%2F%2Fexample.com%2FArticles%2F2024%2F05%2FSomeTitle",
            "/list?sort=name&key=name&page=2&author=jane&lang=en-GB", "/search?q=the+secret+garden&page=3",
            "/feed?after=2026-11-24T10:00:00.000Z", "/tiles/12/2200/1343.png?style=OutdoorMap",
            "/keyboard.html?layout=de&monkey=ape&design=flat&signal=4", "/a?fields=id,name,author,keywords",
            "/combo?yui/3.18.1/build/yui/yui-min.js&3.18.1/build/loader/loader-min.js", "/a?utm_source=mail&utm_id=12",
            "/photo?imwidth=1200&crop=faces,edges", "/login", "/SG.html", "/glc_report.pdf", "/npm_modules/a.js",
            "/fonts/eyJ.woff", "/sl.Budget", "/sk-or-cz/", "/search?q=basic+auth2", "/search?q=oauth+2.0+spec",
            "/search?q=token+2024&title=basic+2026", "/search?q=digest+june2024", "/search?q=bearer+bonds",
            "/app.css?id=68b329da9893e34099c7d8ad5cb9c940", "/a.js?cache=68b329da9893e34099c7d8ad5cb9c940",
            "/a.js?a=b&_=68b329da9893e34099c7d8ad5cb9c940", "/auth/token.css", "/session/42", "/a/key/value.json",
            "/graphql?operationName=GetHomePageRecommendations", "/a?page=GettingStartedWithSwiftUI",
            "/a?fields=firstName,lastName,dateOfBirthInUTC", "/odata?$select=DisplayName,UserPrincipalName",
            "/a?font=SourceSansProSemiBold", "/a?layers=TopoBaseMapGrayScale", "/pypi-logo.svg", "/sbp_logo.png",
            "/xapp-icon.png", "/hvs.png", "/hf_logo_2024_white.svg", "/npm_package_v12345/x.js",
            "/glc_2024_banner_12.jpg", "/img/Signature%20iPhone.png", "/courses/Basic%20JavaScript/cover.png",
            "/search?q=basic+JavaScript",
            "/rails/active_storage/blobs/redirect/eyJfcmFpbHMiOnsiZGF0YSI6MTIzNCwicHVyIjoiYmxvYl9pZCJ9fQ==--5d41402abc4b2a76b9719d911017c592aabbccdd/logo.png",
            "/rails/active_storage/blobs/eyJfcmFpbHMiOnsiZGF0YSI6MTIzNCwicHVyIjoiYmxvYl9pZCJ9fQ--5d41402abc4b2a76b9719d911017c592aabbccdd/logo.png",
            "/eyJidWNrZXQiOiJiIiwia2V5IjoiYS5qcGciLCJlZGl0cyI6eyJyZXNpemUiOnsid2lkdGgiOjIwMH19fQ==",
            "/bundles/site?v=ZpX0x7gFTpFvJDTVXOYQvCOGSKlX9aBHu0ug6TbQDJ41",
            "/a.js?dpl=dpl_9sKWQdBfXyUqZJ2mT4nLh7VcRe1P", "/a?ixid=M3wxMjA3fDB8MHxwaG90by1wYWdlfHx8fGVufDB8fHx8fA",
            "/css/css_a.css?delta=0&include=eJxLTMkvKEktSo3PSU1MSS0q1k9Jzc3XLwEAmVsKOQ", "/forum?u=2&p=17",
            "/a?time=10:30&contact=info@example.com&page=2",
            "/l/font?kit=KFOmCnqEu92Fr1Mu4mxP5Lh2a9Q&v=v47",
            "/v/t39/1_2_n.jpg?_nc_cat=1&_nc_sid=f907e8&_nc_ohc=Q7kNvgHyB2cXp9dLm4",
            "/vi/abc/hqdefault.jpg?sqp=-oaymwEcCNACELwBSFXyq4qpAw4IARUAAIhCGAFwAcABBg==&rs=AOn4CLDkQ7xV2bNm9pLr",
            "/2045001--bodo-glimt-vs-tottenham/", "/gsk_annualreport2024.pdf", "/conf/app.v1.local.json",
            "/docs/ghs_labels2024.pdf",
            "/eyJidWNrZXQiOiJiIiwia2V5IjoicHJvZHVjdHMvMTIzNDUiLCJlZGl0cyI6eyJhIjoxfX0=",
            "/api.js?render=6LeIxAcTAAAAAJcZVRqyHh71UMIEGNQ_MXjiZKhI",
            "/latest/dex/tokens/0x6982508145454Ce325dDbE47a25d4ec3d2311933",
            "/token/0x6982508145454Ce325dDbE47a25d4ec3d2311933", "/pin/react@v17.0.1-yH0aYV1FOvoIPeKbHxg5/a.js",
            "/oauth_google/img_2aBcDeFgHiJkLmNoPqRsTuVwXyZ", "/gwc/1.0.0/topp:states@EPSG:900913@png/3/1/4.png",
            "/js/jquery-3.5.1.min.dc5e7f18c8.js?site=5f3e9c1a2b4d6e8f0a1b2c3d",
            "/_static/??-eJyNjctOwzAQRX8IZ5qSqlkgvg&cssminify=yes",
            "/l/font?kit=KFOmCnqEu92Fr1Mu4mxP5Lh2a9Q&skey=a0a0114a1dcab3ac&v=v30", "/a.js?gtm_auth=aB3dE5fG7hJ9kL2m",
            "/beach/calendar/photos/IMG_20241105.jpg", "/reset/normalize-8.0.1/normalize.css",
            "/confirm/static/main.9f86d081884c7d65.chunk.js", "/calendar/event/123e4567-e89b-12d3-a456-426614174000",
            "/calendar/ical/c_9f86d081884c7d659a2feaa0c55ad015%40group.calendar.google.com/public/basic.ics",
            "/gtm.js?id=GTM-ABCD123&gtm_auth=aB3dE5fG7hJ9kL2m&gtm_preview=env-5&gtm_cookies_win=x",
            "/fontsource/fonts/inter:vf@latest/latin-wght-normal.woff2",
            "/gwc/1.0.0/dem%3ARGB_Terrain@WebMercatorQuad@png/1/2/3.png",
            "/graphql?query=query%20Q(%24id%3AID!)%20%7Ba(id%3A%24id)%20%40include(if%3Atrue)%7Bb%7D%7D",
            "/graphql?query=query%20Q(%24id%3AID!)%20%7Ba(id%3A%24id)%20%40include(if%3Atrue)%7Bb%7D%7D&b=c",
            "/query/production?query=*%5B%7B%22n%22%3A%20coalesce(%40-%3Ename)%7D%5D",
            "/s/l/%7B%22mode%22%3A%22PROD%22%2C%22a%22%3A%22APPLICATION%40markup%3A%22%7D/app.css",
        ]
    )
    func ordinary(path: String) {
        // The host's name also contains words of secrets: Cookiebot has a random part after such a host.
        let url = "https://\(path.contains("?") ? "cdn" : "consent.cookiebot").example.com\(path)"
        #expect(SecretMask.masked(url) == url)
        #expect(SecretMask.masked(text: "\"\(url)\" (line 1)") == "\"\(url)\" (line 1)")
    }

    @Test(
        "A secret in a text is masked, and its sentence stays",
        arguments: [
            ("Authorization: Basic aHVu\r\nX: y", "Authorization: masked\r\nX: y"),
            ("Cookie: a=b; c=d", "Cookie: masked"), ("X-API-Key: k1", "X-API-Key: masked"),
            ("{\"password\": \"a, b\", \"x\": 1}", "{\"password\": \"masked\", \"x\": 1}"),
            ("{\"a\": 1, \"pin\": 1234}", "{\"a\": 1, \"pin\": masked"),
            ("a=1&password=x;y&b=2", "a=1&password=masked&b=2"),
            ("it sent Bearer abc123 to h", "it sent Bearer masked to h"), ("a ghp_abc b", "a masked b"),
            ("{\"tokens\":[\"a\", \"b]\"], \"x\": 1}", "{\"tokens\":[masked], \"x\": 1}"),
            ("{\"session\" : {\"id\": [{}], \"b\": 1}, \"x\": 1}", "{\"session\" : {masked}, \"x\": 1}"),
            ("{\"token\":\n \"a\", \"b\": 1}", "{\"token\":\n \"masked\", \"b\": 1}"),
            ("h/token/Ab3dE5gH7jK9mN1pQ2/a.css is new", "h/token/masked/a.css is new"),
            ("tokens/ButtonManifestV2Final.json:1:5: error", "tokens/ButtonManifestV2Final.json:1:5: error"),
            ("see session/aB3dE5fG7hJ9kL2m.png.", "see session/aB3dE5fG7hJ9kL2m.png."),
            ("token = ab/cd;e?f#g h", "token = masked h"), ("GET /a token= ab/cd", "GET /a token= masked"),
            ("/a,token = ab/cd h", "/a,token = masked h"), ("/a token=\"ab/cd\" h", "/a token=\"masked\" h"),
            ("/a;token=\"ab/cd\" h", "/a;token=\"masked\" h"),
            ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", "masked"),
            (
                "form-data; name=\"password\"\r\n\r\nhunter2\r\n--b", "form-data; name=\"password\"\r\n\r\nmasked\n--b"
            ),
            ("W/\"5d41402abc4b2a76b9719d911017c592\"", "W/\"5d41402abc4b2a76b9719d911017c592\""),
            (
                "The token has expired, so sign in: the password is wrong.",
                "The token has expired, so sign in: the password is wrong."
            ),
            (
                "Basic authentication is not supported (key: value)",
                "Basic authentication is not supported (key: value)"
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"
            ),
        ]
    )
    func texts(text: String, expected: String) { #expect(SecretMask.masked(text: text) == expected) }

    @Test(
        "In a message, only what is surely a secret is masked, and nothing that is to be typed",
        arguments: [
            ("it sent Basic YTpwYXNz", "it sent Basic masked"),
            ("\"ftp://h/?password=x\", and only http:", "\"ftp://h/?password=masked\", and only http:"),
            ("https://h/a?token=abc, which", "https://h/a?token=masked, which"),
            ("https://h/session: 2 files", "https://h/session: 2 files"),
            ("https://h/session: https://h/b?token=hunter2", "https://h/session: masked"),
            ("\"https://h/oauth/token\": \"Bearer hunter2\"", "\"https://h/oauth/token\": \"masked\""),
            ("\"https://h/token\": \"a.txt\"", "\"https://h/token\": \"a.txt\""),
            ("https://h/SG.html and \"ghp_a…\"", "https://h/SG.html and \"ghp_a…\""),
            (
                "https://h/session: 2 files, \"https://h/pin\":\"a\"",
                "https://h/session: 2 files, \"https://h/pin\":\"a\""
            ),
            ("add https://h/reset/token:ab12 is", "add https://h/reset/token:masked is"),
            ("https://h/:ghp_16C7e42F292c6912E7 is", "https://h/:masked is"),
            ("it sent {\"session\":{\"id\":\"ab\"}}", "it sent {\"session\":{masked}}"),
            ("it sent {\"a\":[{\"b\":\"ab\"}]}", "it sent {\"a\":[{\"b\":\"ab\"}]}"),
            ("it sent a=https://h/b&client_secret=hunter2/a==", "it sent a=https://h/b&client_secret=masked"),
            ("{\"url\":\"//h/b\",\"pin\":\"a/b c\"}", "{\"url\":\"//h/b\",\"pin\":\"masked\"}"),
            ("password: hunter2", "password: masked"), ("https://h/a?state=x&code=y", "https://h/a?state=x&code=y"),
            ("https://h/a?state=x&code=abcdefghij", "https://h/a?state=x&code=masked"),
            ("at 10:30 it sent token=a@b to h", "at 10:30 it sent token=masked to h"),
            ("headers[\"X-Auth-Token\"] = \"hunter2\"", "headers[\"X-Auth-Token\"] = \"masked\""),
            (
                "<input name=\"csrf_token\" id=\"a\" value=\"hunter2\">",
                "<input name=\"csrf_token\" id=\"a\" value=\"masked\">"
            ),
            ("it sent <a:token b=\"c\">hunter2</a:token>", "it sent <a:token b=\"c\">masked</a:token>"),
            ("it sent \"<password>hunter2…\" to", "it sent \"<password>masked…\" to"),
            ("it sent \"<password>hunter2</pass…\" to", "it sent \"<password>masked</pass…\" to"),
            ("it sent \"%3Cpin%3Ehunter2%3C%2…\" to", "it sent \"%3Cpin%3Emasked\" to"),
            ("it sent \"<a:pin>hunter2</a…\" to", "it sent \"<a:pin>masked</a…\" to"),
            ("write <token> for it, and <password/> or </pin>", "write <token> for it, and <password/> or </pin>"),
            ("<session><title>A</title></session>", "<session>masked</session>"),
            ("<key>CFBundleName</key><string>App</string>", "<key>CFBundleName</key><string>App</string>"),
            ("<input name=\"password\"> <b>Hello</b>", "<input name=\"password\"> <b>Hello</b>"),
            ("use: substitute add 'https://h/?token=x'", "use: substitute add 'https://h/?token=x'"),
            ("substitute add: https://h/?token=x is", "substitute add: https://h/?token=masked is"),
            ("a?pin=1; did you mean \"//h/?pin=1\"?", "a?pin=masked; did you mean \"//h/?pin=masked\"?"),
        ]
    )
    func messages(text: String, expected: String) {
        #expect(SecretMask.shown(text) == expected)
        #expect(SecretMask.shown(expected) == expected)
    }

    @Test("The depth of a URL takes no stack, and its length only linear time")
    func depth() async throws {
        try await onThread(stackSize: 512 << 10) {
            for part in [
                "?a=", "?next=%3Fa%3D", "&a=%2526b%253Dc", ";a,b=", "{\"a\":", "key=name&", "Bearer ", "token+",
                "a;v=1f,", "[=", "%5B=", "[%3D", "[= ", "eyJ-", "/npm_a.", "<token>", "<token><![CDATA[", "<a:",
                "<token>…",
            ] {
                let growth = Growth.whenEightfold(1000) { count in
                    let url = "https://h/a?" + String(repeating: part, count: count) + "&token=hunter2"
                    #expect(!SecretMask.masked(url).contains("hunter2"))
                    #expect(!SecretMask.masked(text: url).contains("hunter2"))
                }
                #expect(growth < Growth.limit, "\(part)")
            }
        }
    }

    @Test("The tool's own sentences pass through the mask as they are")
    func own() throws {
        var count = 0
        for module in ["SubstituteCheckKit", "SubstituteKit", "SubstitutionChecking"] {
            let folder = Repository.folder.appendingPathComponent("Sources/\(module)")
            let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            for case let file as URL in files where file.pathExtension == "swift" {
                for literal in try String(contentsOf: file, encoding: .utf8).matches(of: /"((?:[^"\\\n]|\\.)+)"/) {
                    let sentence = String(literal.1).replacing("\\\"", with: "\"")
                    guard sentence.contains(" ") else { continue }
                    count += 1
                    #expect(SecretMask.shown(sentence) == sentence, "\(file.lastPathComponent)")
                }
            }
        }
        #expect(count > 1000)
    }

    @Test("No generated URL shows a secret", arguments: 1...20)
    func planted(seed: UInt64) {
        for each in PlantedSecret.all(seed: seed) {
            let masked = SecretMask.masked("https://\(each.userInfo.map { $0 + "@" } ?? "")h\(each.tail)")
            #expect(!masked.contains(each.secret), "\(masked)")
            // A body as it is, a URL in a sentence, and one in quotation marks, as most messages have it.
            let sentence = "GET https://h\(each.tail) failed"
            let texts = [each.body, sentence].compactMap(\.self).flatMap {
                [SecretMask.masked(text: $0), SecretMask.shown($0)]
            }
            for shown in texts + [SecretMask.shown(quoted(sentence, limit: .max))] {
                #expect(!shown.contains(each.secret), "\(shown)")
            }
        }
    }

    @Test("A text keeps what stands around a secret with an \"@\"")
    func surroundings() {
        #expect(
            SecretMask.masked("https://h/?origin=http://localhost:3000&password=a@b&c=d")
                == "https://h/?origin=http://localhost:3000&password=masked&c=d"
        )
        #expect(SecretMask.masked("https://h/?u=https://token:a@h/b&c=d") == "https://h/?u=https://h/b&c=d")
        let object = "%7B%22u%22%3A%22https%3A%2F%2Fh%22%2C%22t%22%3A1%2C%22pin%22%3A%22a%40b%22%7D"
        let masked = SecretMask.masked("https://h/?data=\(object)&c=d")
        #expect(masked == "https://h/?data=masked&c=d" && SecretMask.isMasked(masked))
    }
}
