package import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The file that stands in for a URL, as responses tell of it (RFC 9110 §3.2).
package struct Representation {
    private let substitutions: [Substitution]
    private let index: Int
    private let contents: FileContents

    /// Represents one of `substitutions`, without a copy of it.
    init(_ substitutions: [Substitution], _ index: Int, _ contents: FileContents) {
        (self.substitutions, self.index, self.contents) = (substitutions, index, contents)
    }

    package var substitution: Substitution { substitutions[index] }

    /// The whole answer to a GET of `url`; nil when Foundation refuses to make a response.
    func whole(for url: URL) -> CachedURLResponse? {
        response(url, status: 200, fields: fields, data: contents.data)
    }

    /// The head of the answer to a HEAD of `url`; `Range` is ignored there (RFC 9110 §14.2).
    func head(for url: URL) -> CachedURLResponse? {
        response(url, status: 200, fields: fields, data: Data())
    }

    /// The part that a GET of `url` asks for, or nil when the whole is to be sent.
    ///
    /// RFC 9110 §14.2 allows the whole everywhere; it is sent when `If-Range` does not match, and for every range that
    /// cannot be satisfied.
    func part(for request: URLRequest, url: URL) -> CachedURLResponse? {
        guard case .part(let range) = range(of: request) else { return nil }
        let part = part(range)
        return response(url, status: part.status, fields: part.fields, data: part.data)
    }

    /// The answer to a GET or HEAD of somebody who joins no parts to what others sent before: exactly what it asks for.
    ///
    /// - Returns: 200, 206 or 416 (RFC 9110 §15.5.17), with the fields and bytes of each.
    package func exactly(for request: URLRequest) -> Answer {
        if request.fileMethod == .head { return Answer(status: 200, fields: fields, data: Data()) }
        switch range(of: request) {
        case .whole: return Answer(status: 200, fields: fields, data: contents.data)
        case .part(let range): return part(range)
        case .unsatisfiable:
            var fields = fields
            fields["Content-Range"] = "bytes */\(contents.data.count)"
            fields["Content-Length"] = "0"
            return Answer(status: 416, fields: fields, data: Data())
        }
    }

    /// What is told, before it has a URL.
    package struct Answer {
        package var status: Int
        package var fields: [String: String]
        package var data: Data
    }

    private func part(_ range: Range<Int>) -> Answer {
        var fields = fields
        fields["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(contents.data.count)"
        fields["Content-Length"] = String(range.count)
        return Answer(status: 206, fields: fields, data: contents.data(in: range))
    }

    private func range(of request: URLRequest) -> ByteRange {
        guard let header = request.value(forHTTPHeaderField: "Range") else { return .whole }
        // §13.1.5: strong comparison. A date cannot match, because no response has Last-Modified.
        if let condition = request.value(forHTTPHeaderField: "If-Range"), condition != contents.entityTag {
            return .whole
        }
        return ByteRange(header, length: contents.data.count)
    }

    private func response(_ url: URL, status: Int, fields: [String: String], data: Data) -> CachedURLResponse? {
        HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields).map {
            CachedURLResponse(response: $0, data: data)
        }
    }

    /// The header fields of the whole answer.
    private var fields: [String: String] {
        let substitution = substitution
        // Room for these, for what the entry adds, and for what a part needs.
        var fields = [String: String](minimumCapacity: 8 + substitution.entry.headers.count)
        fields["Access-Control-Allow-Origin"] = "*"
        fields["Content-Length"] = String(contents.data.count)
        fields["Content-Type"] = substitution.mediaType.description
        // No Last-Modified: a client would send the date of the app's build to the real server.
        if substitution.entry.conditions.isEmpty {
            fields["Accept-Ranges"] = "bytes"
            // Without it a response may be revalidated; a year is the longest that RFC 2616 §14.21 recommended.
            fields["Cache-Control"] = "max-age=31536000"
            fields["Cache-Status"] = CacheStatus.hit(detail: substitution.file)
            fields["ETag"] = contents.entityTag
        } else {
            // It stands in for one load: nobody is told to keep it, and it has no tag to resume by.
            fields["Cache-Control"] = "no-store"
        }
        for (name, value) in substitution.entry.headers {
            if name.lowercased() == "access-control-allow-origin" {
                fields["Access-Control-Allow-Origin"] = value
            } else {
                fields[name] = value
            }
        }
        return fields
    }
}
