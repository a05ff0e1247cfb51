import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Substitution {
    /// The whole answer to a GET of `url`; nil when Foundation refuses to make a response.
    func response(with contents: FileContents, for url: URL) -> CachedURLResponse? {
        response(url, status: 200, fields: fields(contents), data: contents.data)
    }

    /// The head of the answer to a HEAD of `url`.
    func head(with contents: FileContents, for url: URL) -> CachedURLResponse? {
        response(url, status: 200, fields: fields(contents), data: Data())
    }

    /// The part that a GET of `url` asks for, or nil when the whole is to be sent.
    ///
    /// RFC 9110 §14.2 allows the whole everywhere; it is sent when `If-Range` does not match, and for every range that
    /// cannot be satisfied.
    func part(of contents: FileContents, for request: URLRequest, url: URL) -> CachedURLResponse? {
        guard let range = Self.range(of: request, tag: contents.entityTag, length: contents.data.count) else {
            return nil
        }
        var fields = fields(contents)
        fields["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(contents.data.count)"
        fields["Content-Length"] = String(range.count)
        return response(url, status: 206, fields: fields, data: contents.data(in: range))
    }

    private static func range(
        of request: URLRequest,
        tag: @autoclosure () -> String,
        length: Int
    ) -> Range<Int>? {
        guard let header = request.value(forHTTPHeaderField: "Range") else { return nil }
        // §13.1.5: strong comparison. A date cannot match, because no Last-Modified is ever sent.
        if let condition = request.value(forHTTPHeaderField: "If-Range"), condition != tag() { return nil }
        return ByteRange.requested(by: header, length: length)
    }

    private func response(_ url: URL, status: Int, fields: [String: String], data: Data) -> CachedURLResponse? {
        HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields).map {
            CachedURLResponse(response: $0, data: data)
        }
    }

    /// The header fields of the whole answer.
    func fields(_ contents: FileContents) -> [String: String] {
        var fields = [
            "Accept-Ranges": "bytes",
            "Access-Control-Allow-Origin": "*",
            // Without it a response may be revalidated; a year is the longest that RFC 2616 §14.21 recommended.
            "Cache-Control": "max-age=31536000",
            "Cache-Status": cacheStatus,
            "Content-Length": String(contents.data.count),
            "Content-Type": mediaType.description,
            "ETag": contents.entityTag,
        ]
        for (name, value) in headers {
            if name.lowercased() == "access-control-allow-origin" {
                fields["Access-Control-Allow-Origin"] = value
            } else {
                fields[name] = value
            }
        }
        return fields
    }

    /// RFC 9211: a hit, and in `detail` (§2.8) the file, so that an inspector shows where the bytes came from.
    private var cacheStatus: String {
        // An sf-string (RFC 8941 §3.3.3) holds printable ASCII.
        let isPlain = reference.path.utf8.allSatisfy { (0x20..<0x7F).contains($0) && !"\"\\".utf8.contains($0) }
        let file = isPlain ? reference.path : Self.escaped(reference.path)
        return "LocalSubstitutionCache; hit; detail=\"\(file)\""
    }

    private static func escaped(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case " "..."~": String(scalar)
            default: String(scalar).addingPercentEncoding(withAllowedCharacters: []) ?? "?"
            }
        }
        return scalars.joined()
    }
}

extension FileContents {
    /// A strong validator (RFC 9110 §8.8.3) of size and modification time, for `If-Range`.
    var entityTag: String {
        "\"\(String(data.count, radix: 16))-\(String(modified, radix: 16))\""
    }
}
