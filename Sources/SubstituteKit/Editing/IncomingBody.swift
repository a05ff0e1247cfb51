import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking
import SubstitutionRules

/// A body that a server has sent, before it becomes a file.
///
/// `add` and `update` ask this type whether a body is taken, and under which type.
struct IncomingBody {
    let key: URLPattern
    let bytes: Data
    /// The type that the server sent; nil if it sent none.
    let sent: MediaType?
    /// True if a recorder has decoded the text, so that it is UTF-8 now, whatever the server sent.
    var isDecoded = false
    var sharing = Sharing()

    /// A body that becomes a file.
    struct Accepted {
        /// The type that the server sent, or that the bytes show if the server sent none.
        ///
        /// Nil if the name of the file shows the type.
        let type: MediaType?
        fileprivate let charset: TextCharset?
        /// Sentences about the body, for the user.
        let remarks: [String]
        /// The server's fields that the entry needs as `headers`.
        let headers: [String: String]
        /// True if all bytes are ASCII, which almost every encoding has in common.
        let isASCII: Bool

        /// Explains why an existing entry would show the text with wrong letters.
        ///
        /// - Parameter served: The type under which the entry's file is served.
        /// - Returns: A clause that begins with "it"; nil if the encoding is right, or not known.
        func objection(to served: MediaType) -> String? {
            guard served.takesCharset else { return nil }
            let label: String
            switch charset {
            case .other(let other): label = other
            case .utf8 where !isASCII: label = "utf-8"
            case .utf8, .unknown, nil: return nil
            }
            let present = served.charset ?? "utf-8"
            // The Encoding Standard (§4.2) reads these labels in the same way.
            let western: Set = ["windows-1252", "cp1252", "iso-8859-1", "latin1", "us-ascii", "ascii"]
            guard present != label, !western.isSuperset(of: [present, label]) else { return nil }
            return "it is in \(label), and its entry says \(present); write "
                + "\"type\": \(quoted("\(served.essence); charset=\(label)")) into the entry, and load it again"
        }

        /// Returns the entry's `type` field; nil if the extension of the file shows the type.
        func entryType(in file: String) -> String? {
            let named = MediaType(fileName: file)
            guard let type = type ?? named, type.isConcrete else { return nil }
            switch charset {
            case .other(let label):
                return type.charset == label ? type.description : "\(type.essence); charset=\(label)"
            case .utf8, .unknown, nil:
                if named?.isSame(as: type) == true { return nil }
                return charset == .utf8 && type.charset != nil && !type.isPlain ? type.essence : type.description
            }
        }
    }

    /// Decides whether the body becomes a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file; nil for a path that is derived from the URL.
    ///   - includesPrivate: True to take responses that may be for one person.
    /// - Returns: The type and the remarks with which the body becomes a file.
    /// - Throws: ``ToolError`` with the reason why the body is left out, as a clause.
    @discardableResult
    func accepted(as path: String? = nil, includingPrivate includesPrivate: Bool = false) throws(ToolError) -> Accepted
    {
        let sent = sent.flatMap { $0.isConcrete ? $0 : nil }
        let isNamed = MediaType(fileName: path ?? FileNames.path(for: key, nil)) != nil
        let type = sent ?? (isNamed ? nil : MediaType(sniffing: bytes))
        let path = path ?? FileNames.path(for: key, type)
        if let reason = ContentRules.refusal(of: bytes, named: path, sent: type) { throw ToolError(reason) }
        var remarks: [String] = []
        if let reason = sharing.reason {
            guard includesPrivate else { throw ToolError("\(reason); --include-private takes it") }
            remarks.append("may be for one person: look at it before you ship it")
        }
        if let expiry = SignedQuery.expiry(in: key.query ?? "") {
            remarks.append(
                "its URL expires (\(quoted(expiry))), and then the entry matches no request; use one that stays"
            )
        }
        remarks += [sharing.remark].compactMap(\.self)
        let served = type ?? MediaType(fileName: path)
        let headers = sharing.policies.filter { name, value in
            // A manifest takes no other value, and these two fields have a meaning for pages only.
            value.utf8.count <= 8000 && value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
                && (served?.isHTML == true
                    || !["Content-Security-Policy", "Cross-Origin-Opener-Policy"].contains(name))
        }
        var charset: TextCharset?
        if let served, served.takesCharset || served.canonical.takesCharset {
            charset = isDecoded ? .utf8 : TextCharset(of: bytes, as: served)
        }
        if charset == .unknown {
            remarks.append("is not UTF-8, and its encoding is not known, so letters may look wrong")
        }
        if charset == .utf8, !isDecoded, String(data: bytes, encoding: .utf8) == nil {
            remarks.append("is not UTF-8, though its server says so, so some letters are wrong; save it as UTF-8")
        }
        let isASCII = bytes.allSatisfy { $0 < 0x80 }
        return Accepted(type: type, charset: charset, remarks: remarks, headers: headers, isASCII: isASCII)
    }

    /// Returns the reason why `add` leaves out a body that everybody gets, as a clause; nil if it takes it.
    static func refusal(of bytes: Data, at url: String, sent: MediaType?) -> String? {
        guard let key = try? URLPattern(requested: url) else { return nil }
        do {
            try IncomingBody(key: key, bytes: bytes, sent: sent).accepted()
            return nil
        } catch {
            return error.message
        }
    }

    /// Explains why the body may not replace a file: its bytes are of another kind.
    ///
    /// - Returns: A clause that begins with "it"; nil if the kind is that of the file's name or of its bytes.
    func objection(to old: Substitution) -> String? {
        let head = try? FileSystem.again {
            try FileHandle(forReadingFrom: URL(fileURLWithPath: old.realPath)).read(upToCount: FileFormat.headLength)
        }
        return ContentRules.objection(to: bytes, replacing: head ?? Data(), named: old.path)
    }

    /// Returns the warnings of `check` about the content, as predicates.
    ///
    /// Servers send any text as JSON or XML, so only the extension of the file decides.
    ///
    /// - Parameters:
    ///   - type: The entry's `type`; nil if the extension of the file shows the type.
    ///   - file: The path of the file.
    /// - Returns: The predicates of sentences about the file.
    func remark(as type: String?, in file: String) -> [String] {
        if type?.hasPrefix("text/plain") == true, MediaType(fileName: file)?.essence == "text/css" {
            return ["is sent as text/plain, which browsers take for no stylesheet; remove \"type\" from its entry"]
        }
        let type = type == nil ? MediaType(fileName: file) : nil
        return type.map { ContentRules.remarks(on: bytes, named: file, as: $0) } ?? []
    }
}

extension IncomingBody {
    /// Reads the body of a resource.
    ///
    /// - Throws: ``ToolError`` if the file cannot be read.
    init(_ resource: Resource) throws(ToolError) {
        do {
            bytes = try FileSystem.again { try Data(contentsOf: resource.file, options: .mappedIfSafe) }
        } catch {
            throw ToolError("the loaded file cannot be read: \(FileSystem.reason(error))")
        }
        (key, sent, isDecoded, sharing) = (resource.key, resource.type, resource.isDecoded, resource.sharing)
    }
}
