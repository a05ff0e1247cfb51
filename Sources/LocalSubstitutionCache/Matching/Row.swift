package import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A URL, and the representation (RFC 9110 §3.2) of the file that answers for it.
///
/// A row is a class, so that a lookup retains one reference instead of every string of a substitution.
// CachedURLResponse is immutable, but Foundation on Linux does not declare it Sendable.
package final class Row: @unchecked Sendable {
    /// The whole array, because that avoids a copy of the substitution.
    private let substitutions: [Substitution]
    private let index: Int
    private let contents: FileContents
    /// The row's URL as Foundation spells it.
    private let spelling: String
    let isNetworkFirst: Bool
    /// The response to a GET whose URL is spelled as in the manifest; nil until it is built.
    ///
    /// The response of a network-first entry lacks the `Cache-Status` field, which depends on the network's response.
    ///
    /// The property is written once, inside the lock ``building``. Until all responses of the table are built, it is
    /// read only inside this lock. Afterwards it may also be read outside the lock.
    private(set) var response: CachedURLResponse?
    /// A lock that all rows share; it is held only while one reference is read or written.
    private static let building = NSLock()

    /// Creates a row for the substitution at `index`; its response is built later.
    init(_ substitutions: [Substitution], _ index: Int, _ contents: FileContents, _ spelling: String) {
        (self.substitutions, self.index, self.contents, self.spelling) = (
            substitutions, index, contents, spelling
        )
        isNetworkFirst = !substitutions[index].entry.conditions.isEmpty
    }

    package var substitution: Substitution { substitutions[index] }

    /// The conditions under which the file answers instead of the network; empty if it always answers.
    var conditions: [Substitution.Condition] { substitution.conditions }

    /// Builds the response to a GET whose URL is spelled as in the manifest, unless it is already built.
    ///
    /// - Returns: The same instance on every call, on any thread; nil if Foundation cannot create the response. No
    ///   such case is known, because URL and header fields were checked before.
    func prepare() -> CachedURLResponse? {
        if let response = Self.building.withLock({ response }) { return response }
        let built = URL(string: spelling).flatMap(whole)
        return Self.building.withLock {
            // If another thread has built the response meanwhile, keep that response: it may already be in use
            // outside the lock.
            if response == nil { response = built }
            return response
        }
    }

    /// Returns the response to a GET of `url` with the whole file; nil if Foundation refuses to create a response.
    func whole(for url: URL) -> CachedURLResponse? {
        response(url, status: 200, fields: fields, data: contents.data)
    }

    /// Returns the response to a HEAD of `url`; a HEAD ignores `Range` (RFC 9110 §14.2).
    func head(for url: URL) -> CachedURLResponse? {
        response(url, status: 200, fields: fields, data: Data())
    }

    /// Returns the response with the byte range that a GET of `url` asks for; nil if the whole file is to be sent.
    ///
    /// RFC 9110 §14.2 always allows sending the whole file. The whole file is sent if `If-Range` does not match, or if
    /// the range cannot be satisfied.
    func part(for request: URLRequest, url: URL) -> CachedURLResponse? {
        guard case .part(let range) = range(of: request) else { return nil }
        let part = part(range)
        return response(url, status: part.status, fields: part.fields, data: part.data)
    }

    /// Returns exactly the requested range, or a 416 if the file does not hold the range.
    ///
    /// This is for clients that never append the range to bytes from another source.
    ///
    /// - Returns: A 200, 206 or 416 (RFC 9110 §15.5.17), with its header fields and bytes.
    package func exactly(for request: URLRequest) -> ResponseParts {
        if request.fileMethod == .head {
            return ResponseParts(status: 200, fields: fields, data: Data())
        }
        switch range(of: request) {
        case .whole: return ResponseParts(status: 200, fields: fields, data: contents.data)
        case .part(let range): return part(range)
        case .unsatisfiable:
            var fields = fields
            fields["Content-Range"] = "bytes */\(contents.data.count)"
            fields["Content-Length"] = "0"
            return ResponseParts(status: 416, fields: fields, data: Data())
        }
    }

    /// The status, header fields and body of a response that has no URL yet.
    package struct ResponseParts {
        package var status: Int
        package var fields: [String: String]
        package var data: Data
    }

    private func part(_ range: Range<Int>) -> ResponseParts {
        var fields = fields
        fields["Content-Range"] =
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(contents.data.count)"
        fields["Content-Length"] = String(range.count)
        return ResponseParts(status: 206, fields: fields, data: contents.data(in: range))
    }

    private func range(of request: URLRequest) -> ByteRange {
        guard let header = request.value(forHTTPHeaderField: "Range") else { return .whole }
        // RFC 9110 §13.1.5 demands a strong comparison. A date cannot match, because no response has `Last-Modified`.
        if let condition = request.value(forHTTPHeaderField: "If-Range"),
            condition != contents.entityTag
        {
            return .whole
        }
        return ByteRange(header, length: contents.data.count)
    }

    private func response(_ url: URL, status: Int, fields: [String: String], data: Data)
        -> CachedURLResponse?
    {
        HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields).map {
            CachedURLResponse(response: $0, data: data)
        }
    }

    /// The header fields of a response with the whole file.
    private var fields: [String: String] {
        let substitution = substitution
        // Reserve room for the fields below, for the fields of the entry, and for those of a byte range.
        var fields = [String: String](minimumCapacity: 8 + substitution.entry.headers.count)
        fields["Access-Control-Allow-Origin"] = "*"
        fields["Content-Length"] = String(contents.data.count)
        fields["Content-Type"] = substitution.mediaType
        // There is no `Last-Modified`: its date would be the date of the app's build, and a client would send that date
        // to the real server.
        if substitution.entry.conditions.isEmpty {
            fields["Accept-Ranges"] = "bytes"
            // Without this field, a client may revalidate the response. One year is the maximum that RFC 2616 §14.21
            // recommended.
            fields["Cache-Control"] = "max-age=31536000"
            fields["Cache-Status"] = CacheStatus.hit(detail: substitution.file)
            fields["ETag"] = contents.entityTag
        } else {
            // For a network-first entry, each load queries the network first. So the file's response is for this load
            // only, and no cache may store the response. Without an ETag, no client can resume the load after an
            // interruption.
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
