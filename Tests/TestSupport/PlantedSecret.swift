package import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A request in which a secret is planted, for the test that no file and no message shows it.
package struct PlantedSecret: Sendable, CustomStringConvertible {
    package let secret: String
    /// The text after the host of the request's URL.
    package let tail: String
    /// The header fields of the request.
    package let fields: [String: String]
    package let body: String?
    /// The user name and password of the URL; nil if it has none.
    package let userInfo: String?

    package var description: String { "\(userInfo ?? "") \(tail) \(fields) \(body ?? "")" }

    /// Returns whether a text shows the secret, plain or in base64.
    package func isShown(in data: Data) -> Bool {
        [Data(secret.utf8), Data(Data(secret.utf8).base64EncodedString().dropLast(3).utf8)].contains {
            data.range(of: $0) != nil
        }
    }

    /// Returns the request to a server.
    package func request(to server: URL) -> URLRequest? {
        let text = server.absoluteString.replacingOccurrences(
            of: "://",
            with: "://" + (userInfo.map { $0 + "@" } ?? "")
        )
        guard let url = URL(string: text + tail) else { return nil }
        var request = URLRequest(url: url, timeoutInterval: 300)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }

    /// Returns a request for each of the shapes, with names, secrets and encodings of its own.
    package static func all(seed: UInt64) -> [PlantedSecret] {
        var numbers = Numbers(state: seed)
        var path = 0
        func encoded(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
        }
        func make(_ shape: (_ name: String, _ secret: String) -> (String, [String: String], String?, String?)) -> Self {
            let names = [
                "token", "password", "access_token", "passphrase", "pw", "sid", "jsessionid", "api_key",
                "client_secret",
                "X-Amz-Signature", "sig", "otp", "bearer", "private_key", "id_token", "authorization", "sessionId",
            ]
            let secret =
                "hush\(numbers.next() % 90000 + 10000)x" + (Bool.random(using: &numbers) ? "A7bC9dE2fG4hK" : "")
            let (tail, fields, body, user) = shape(names.randomElement(using: &numbers) ?? "", secret)
            path += 1
            return Self(secret: secret, tail: "/p\(path)\(tail)", fields: fields, body: body, userInfo: user)
        }
        let tails: [(String, String) -> String] = [
            { "?\($0)=\($1)" }, { "?a=b&\($0)=\($1)" }, { "?\($0)=\($1)&a=b" }, { "?\($0.uppercased())=\($1)" },
            { "?%\(String($0.utf8.first ?? 0, radix: 16))\($0.dropFirst())=\($1)" },
            { "?%25\(String($0.utf8.first ?? 0, radix: 16))\($0.dropFirst())=\($1)" },
            { "?a=1;\($0)=\($1)" }, { "?id=1,\($0)=\($1)" }, { "?a=1&amp;\($0)=\($1)" }, { "?a=1?\($0)=\($1)" },
            { "?a&\($0)&\($1)" }, { "?a=1%26\($0)%3D\($1)" }, { "?user%5B\($0)%5D=\($1)" }, { "?user.\($0)=\($1)" },
            { "?next=" + encoded("https://h/?\($0)=\($1)") }, { "?next=" + encoded(encoded("https://h/?\($0)=\($1)")) },
            { "?next=" + encoded("https://anna:\($1)@h/?\($0)") }, { "?q=" + encoded("\u{0}\($0)=\($1)") },
            { "?data=" + encoded("{\"a\":{\"\($0)\":\"\($1)\"}}") },
            { "?data=" + encoded("{\"a\":\"{\\\"\($0)\\\":\\\"\($1)\\\"}\"}") },
            { "?data=" + encoded("[{\"name\":\"\($0)\",\"value\":\"\($1)\"}]") }, { "?name=\($0)&value=\($1)" },
            { "?x=" + encoded("<r><n:\($0) a=\"1\">\($1)</n:\($0)></r>") },
            { "?x=" + encoded("<\($0)><![CDATA[\($1)]]></\($0)>") },
            { "?x=" + encoded("&lt;\($0)&gt;\($1)&lt;/\($0)&gt;") },
            { "?q=" + encoded("\($0): \($1)") }, { "?\($0)=a;\($1)" }, { "?\($0)=a,\($1)" }, { "?\($0)=a/\($1)" },
            { "?\($0)=" + encoded("\"a b\(1)\" \($1)") }, { "#\($0)=\($1)" }, { "?a=b#\($0)=\($1)" },
            { ";\($0)=\($1)" }, { ";\($0)=\($1)/a?b=c" }, { "/\($0)=\($1)/a" }, { "/a%3F\($0)%3D\($1)/b" },
            { _, secret in "?h=Bearer%20\(secret)" }, { _, secret in "?h=Bearer+\(secret)" },
            { _, secret in "?h=" + encoded("Authorization: Basic \(secret)") }, { _, secret in "?q=eyJ\(secret)" },
            { _, secret in "?q=ghp_\(secret)" }, { _, secret in "?q=sk_live_\(secret)" },
            { _, secret in "?v=xoxb-\(secret)" },
            { _, secret in "?hdnea=st=1700000000~exp=1700003600~acl=/*~hmac=\(secret)" },
            { _, secret in "/eyJ\(secret)/a" },
            { _, secret in "?pem=-----BEGIN%20PRIVATE%20KEY-----%0A\(secret)" },
            { _, secret in "?=a&\(encoded("ｔｏｋｅｎ"))=\(secret)" },
            { "?time=10:30&\($0)=a@\($1)" }, { "?x=" + encoded("{\"a\":1,\"\($0)\":\"a@\($1)\"}") },
            { "?origin=http://localhost:3000&\($0)=a@\($1)" }, { "?s=https:&\($0)=a:a@\($1)" },
            { "?next=" + encoded("/a?u=http://h:80&\($0)=a@\($1)") },
            { "?a=" + encoded("{\"u\":\"http://h\",\"\($0)\":\"a@\($1)\"}") },
            { "?data=" + encoded("{\"a\":\"{\\\"\($0)\\\":\\\"a b \($1)\\\"}\"}") },
            { _, secret in "?u=anna&v=1.16&p=\(secret)" }, { _, secret in "?code=\(secret)&state=ab" },
            { _, secret in "/;stok=\(secret)/a" }, { _, secret in "/bot123456789:\(secret)/a" },
        ]
        let fields: [(String, String) -> [String: String]] = [
            { ["X-\($0)": $1] }, { _, secret in ["Authorization": "Bearer \(secret)"] },
            { _, secret in ["Authorization": "Digest username=\"a\", response=\"\(secret)\""] },
            { _, secret in ["Cookie": "a=b; c=\(secret)"] }, { ["User-Agent": "App/1.0 (\($0)=\($1))"] },
            { _, secret in ["Accept-Language": "Bearer \(secret)"] }, { ["Referer": "https://h/?\($0)=\($1)"] },
            { _, secret in ["X-Functions-Key": secret] }, { _, secret in ["Accept": "text/html;q=0.9, eyJ\(secret)"] },
        ]
        let bodies: [(String, String) -> String] = [
            { "a=b&\($0)=\($1)" }, { "{\"a\": {\"\($0)\": \"\($1)\"}}" },
            { _, secret in "grant=a%26token%3D\(secret)" }, { "<a><\($0)>\($1)</\($0)></a>" },
            { "<dict><key>\($0)</key>\n<string>\($1)</string></dict>" },
            { "<name>\($0)</name><value><string>\($1)</string></value>" },
            { "<param name=\"\($0)\">\($1)</param>" }, { "<\($0) value=\"\($1)\"/>" },
            { "<input name=\"\($0)\" id=\"a\" value=\"\($1)\">" }, { "headers[\"\($0)\"] = \"\($1)\"" },
            { "<\($0)>\n <![CDATA[a]b\($1)]]>\n</\($0)>" },
            { "{\"a\": \"{\\\"\($0)\\\": \\\"a b \($1)\\\"}\"}" }, { "{url: 'http://h:80', \($0): 'a@\($1)'}" },
            { "fetch('/a?b=c', {headers: {\($0): 'a b \($1)'}})" },
            { _, secret in "{\"a\": \"{\\\"Authorization\\\": \\\"Bearer \(secret)\\\"}\"}" },
            { _, secret in "[AnyHashable(\"Authorization\"): Bearer \(secret)]" },
            { "{\"\($0)\": \"\\\"\($1)\\\"\"}" }, { "jdbc:a://h:1433;user=sa;\($0)=@\($1)" },
            { "a&&\($0)=\"a b \($1)\"" },
            { _, secret in "{\"a\": \"https://x/?y=1\", \"b\": \"postgres://joe:p&\(secret)@h/db\"}" },
            { _, secret in "Authorization:Bearer \(secret)" }, { _, secret in "{Authorization=Basic \(secret)}" },
            { "<\($0)>a&lt;b<!-- -->\($1)</\($0)>" },
            { "--b\r\nContent-Disposition: form-data; name=\"\($0)\"\r\n\r\n\($1)\r\n--b--" },
        ]
        return tails.map { tail in make { (tail($0, $1), [:], nil, nil) } }
            + fields.map { fields in make { ("", fields($0, $1), nil, nil) } }
            + bodies.map { body in make { ("", [:], body($0, $1), nil) } }
            + [make { ("", [:], nil, "anna:\($1)") }, make { ("", [:], nil, $1) }]
    }
}
