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
    let contents: FileContents
    /// The row's URL as Foundation spells it.
    private let spelling: String
    let isNetworkFirst: Bool
    /// The response to a GET whose URL is spelled as in the manifest; nil until it is built.
    ///
    /// The responses of a network-first entry are built when they are needed, because each says what the network sent.
    ///
    /// Only accessed inside the lock ``building``.
    private var response: CachedURLResponse?
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

    /// Builds the response to a GET whose URL is spelled as in the manifest, unless it is already built.
    ///
    /// - Returns: The same instance on every call, on any thread; nil if Foundation cannot create the response. No
    ///   such case is known, because URL and header fields were checked before.
    func prepare() -> CachedURLResponse? {
        if let response = Self.building.withLock({ response }) { return response }
        let built = URL(string: spelling).flatMap { whole().response(for: $0) }
        return Self.building.withLock {
            // If another thread has built the response meanwhile, keep that response: it may already be in use.
            if response == nil { response = built }
            return response
        }
    }

    /// A response that has no URL yet.
    package struct ResponseParts {
        package var status = 200
        package var fields: [String: String]
        package var data: Data

        /// Returns the response to a request for `url`; nil if Foundation refuses to create it.
        func response(for url: URL) -> CachedURLResponse? {
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields).map {
                CachedURLResponse(response: $0, data: data)
            }
        }
    }

    /// Returns the response with the whole file or, for a HEAD, without its bytes.
    package func whole(isHead: Bool = false) -> ResponseParts {
        ResponseParts(fields: fields, data: isHead ? Data() : contents.data)
    }

    /// Returns the response with a range of the file's bytes.
    package func part(_ range: Range<Int>) -> ResponseParts {
        var fields = fields
        fields["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(contents.data.count)"
        fields["Content-Length"] = String(range.count)
        return ResponseParts(status: 206, fields: fields, data: contents.data(in: range))
    }

    /// Returns the range of the file's bytes that a GET asks for; the whole file if `If-Range` does not match.
    package func range(of request: URLRequest) -> ByteRange {
        guard let header = request.value(forHTTPHeaderField: "Range") else { return .whole }
        // RFC 9110 §13.1.5 demands a strong comparison. A date cannot match, because no response has `Last-Modified`.
        if let condition = request.value(forHTTPHeaderField: "If-Range"), condition != contents.entityTag {
            return .whole
        }
        return ByteRange(header, length: contents.data.count)
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
            fields["Cache-Status"] = CacheStatus.hit(detail: substitution.path)
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
