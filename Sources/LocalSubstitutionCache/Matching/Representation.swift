package import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The representation (RFC 9110 §3.2) of a file that answers for a URL.
package struct Representation {
    private let substitutions: [Substitution]
    private let index: Int
    private let contents: FileContents

    /// Represents one of `substitutions`, without copying it.
    init(_ substitutions: [Substitution], _ index: Int, _ contents: FileContents) {
        (self.substitutions, self.index, self.contents) = (substitutions, index, contents)
    }

    package var substitution: Substitution { substitutions[index] }

    /// Returns the whole response to a GET of `url`; nil if Foundation refuses to create a response.
    func whole(for url: URL) -> CachedURLResponse? {
        response(url, status: 200, fields: fields, data: contents.data)
    }

    /// Returns the response to a HEAD of `url`; a HEAD ignores `Range` (RFC 9110 §14.2).
    func head(for url: URL) -> CachedURLResponse? {
        response(url, status: 200, fields: fields, data: Data())
    }

    /// Returns the byte range that a GET of `url` asks for, or nil if the whole file is to be sent.
    ///
    /// RFC 9110 §14.2 always allows the whole file. It is sent if `If-Range` does not match, and for every range that
    /// cannot be satisfied.
    func part(for request: URLRequest, url: URL) -> CachedURLResponse? {
        guard case .part(let range) = range(of: request) else { return nil }
        let part = part(range)
        return response(url, status: part.status, fields: part.fields, data: part.data)
    }

    /// Returns the response for a client that never appends it to another source's bytes: the exact range, or 416.
    ///
    /// - Returns: A 200, 206 or 416 (RFC 9110 §15.5.17), with its header fields and bytes.
    package func exactly(for request: URLRequest) -> ResponseParts {
        if request.fileMethod == .head { return ResponseParts(status: 200, fields: fields, data: Data()) }
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
        fields["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(contents.data.count)"
        fields["Content-Length"] = String(range.count)
        return ResponseParts(status: 206, fields: fields, data: contents.data(in: range))
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

    /// The header fields of the whole response.
    private var fields: [String: String] {
        let substitution = substitution
        // Room for these fields, for those that the entry adds, and for those of a byte range.
        var fields = [String: String](minimumCapacity: 8 + substitution.entry.headers.count)
        fields["Access-Control-Allow-Origin"] = "*"
        fields["Content-Length"] = String(contents.data.count)
        fields["Content-Type"] = substitution.mediaType.description
        // No Last-Modified: a client would send the date of the app's build to the real server.
        if substitution.entry.conditions.isEmpty {
            fields["Accept-Ranges"] = "bytes"
            // Without this field, a client may revalidate the response. RFC 2616 §14.21 recommended at most a year.
            fields["Cache-Control"] = "max-age=31536000"
            fields["Cache-Status"] = CacheStatus.hit(detail: substitution.file)
            fields["ETag"] = contents.entityTag
        } else {
            // The file answers for one load only: no cache may store it, and without an ETag no client can resume it.
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
