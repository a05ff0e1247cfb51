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

    /// The whole answer to a GET or HEAD that the network was asked first; a range of it might be joined to what the network
    /// sent before.
    ///
    /// It stands in for this one load, so nobody is told to keep it, and it has no tag to resume by.
    func fallback(with contents: FileContents, for request: URLRequest, after outcome: Outcome) -> CachedURLResponse? {
        guard let url = request.url else { return nil }
        var fields = fields(contents)
        fields["Accept-Ranges"] = nil
        fields["ETag"] = nil
        fields["Cache-Control"] = "no-store"
        fields["Cache-Status"] = CacheStatus.forwarded(outcome, detail: reference.path)
        return response(url, status: 200, fields: fields, data: request.httpMethod == "HEAD" ? Data() : contents.data)
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
        // Room for these, for what the entry adds, and for what a part needs.
        var fields = [String: String](minimumCapacity: 8 + headers.count)
        fields["Accept-Ranges"] = "bytes"
        fields["Access-Control-Allow-Origin"] = "*"
        // Without it a response may be revalidated; a year is the longest that RFC 2616 §14.21 recommended.
        fields["Cache-Control"] = "max-age=31536000"
        fields["Cache-Status"] = CacheStatus.hit(detail: reference.path)
        fields["Content-Length"] = String(contents.data.count)
        fields["Content-Type"] = mediaType.description
        fields["ETag"] = contents.entityTag
        for (name, value) in headers {
            if name.lowercased() == "access-control-allow-origin" {
                fields["Access-Control-Allow-Origin"] = value
            } else {
                fields[name] = value
            }
        }
        return fields
    }
}
