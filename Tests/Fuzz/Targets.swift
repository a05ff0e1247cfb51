// The script `run` compiles this file together with the library's modules, so that internal code can be fuzzed.
import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionChecking
@testable import SubstitutionRules

/// The function that libFuzzer calls; the environment variable `FUZZ_TARGET` names the target.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target(start.map { Data(bytes: $0, count: count) } ?? Data())
    return 0
}

private let target: @Sendable (Data) -> Void =
    switch ProcessInfo.processInfo.environment["FUZZ_TARGET"] {
    case "manifest": fuzzManifest
    case "identity": fuzzIdentity
    case "range": fuzzRange
    case "mediatype": fuzzMediaType
    case "archive": fuzzArchive
    case "page": fuzzPage
    case let name: fatalError("FUZZ_TARGET names no target: \(name ?? "nothing")")
    }

/// Traps if the condition is false; libFuzzer expects a crash for each failure.
private func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    guard !condition else { return }
    fatalError(message())
}

// MARK: - The manifest

/// An empty folder, used as the folder of the manifest's files.
private let folder = {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
}()

private func fuzzManifest(_ data: Data) {
    let (document, strict) = (RepairingJSONParser.parse(data), JSONParser.parse(data))
    require(document.isValid == strict.isValid, "the parsers differ: \(document.errors), \(strict.errors)")
    if document.errors.isEmpty {
        compareWithFoundation(document.value, data)
        compareWithFoundation(strict.value, data)
    }
    let plain = SubstitutionManifest(data, name: "manifest.json")
    let manifest = plain.checked
    require(
        plain.findings.contains { $0.severity == .error } == manifest.findings.contains { $0.severity == .error },
        "only one reader finds errors"
    )
    // If the data contains a "/", an entry may name a folder, which a full check would scan. So check only the text.
    // Without a "/", a full check is cheap, because files with fuzzed names do not exist.
    let issues =
        data.contains(UInt8(ascii: "/"))
        ? manifest.source.issues(manifest.findings) : manifest.check(in: folder, on: Date()).issues
    require(document.errors.isEmpty || issues.contains { $0.severity == .error }, "an error without an issue")
    let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for issue in issues {
        require((1...max(1, lines.count)).contains(issue.line), "line \(issue.line) of \(lines.count)")
        // If something is missing at the end of a line, the issue is at the column after the last byte.
        let length = lines.isEmpty ? 0 : lines[issue.line - 1].count
        require((1...length + 1).contains(issue.column), "column \(issue.column) of \(length) in line \(issue.line)")
        require(!issue.message.unicodeScalars.contains { $0.value < 0x20 }, "a control character in \(issue.message)")
    }
}

/// Compares the value with Foundation's value for the same text.
///
/// Foundation must accept every text that the parser accepts, with the same value. It may accept more texts.
private func compareWithFoundation(_ value: JSONValue, _ data: Data) {
    // Skip texts with numbers, because Foundation rejects numbers that it cannot represent. Skip texts with a byte
    // order mark, too. Foundation skips the mark in some positions only. It also skips the mark at the beginning of a
    // string, where the mark is an ordinary character (RFC 8259 §7).
    if isSpecial(value) || data.range(of: Data([0xEF, 0xBB, 0xBF])) != nil { return }
    guard let other = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) else {
        fatalError("Foundation refuses what the parser accepts")
    }
    require(value.plain == other as? NSObject, "Foundation reads it otherwise")
}

/// True for a value with a number, or with two members of one name, of which Foundation keeps only one.
private func isSpecial(_ value: JSONValue) -> Bool {
    switch value.kind {
    case .number: true
    case .array(let values): values.contains(where: isSpecial)
    case .object(let members):
        Set(members.map(\.name)).count < members.count || members.contains { isSpecial($0.value) }
    case .null, .bool, .string, .unreadable: false
    }
}

// MARK: - URLs

private func fuzzIdentity(_ data: Data) {
    let text = String(decoding: data, as: UTF8.self)
    // Foundation has parsed the URL of every request, so also test what Foundation makes of the text.
    if let url = URL(string: text), let identity = try? URLIdentity(url.absoluteString) { check(identity) }
    guard let identity = try? URLIdentity(text) else { return }
    check(identity)
    // The case of the scheme and the host does not matter, and neither does percent-encoding of unreserved characters
    // (RFC 3986 §6.2.2). Search scalars, because a "/" and a combining mark after the "/" form one `Character`.
    guard let separator = text.unicodeScalars.firstRange(of: "://".unicodeScalars) else { return }
    let rest = text.unicodeScalars[separator.upperBound...]
    let authority = rest.prefix { !"/?#".unicodeScalars.contains($0) }
    let tail = Substring(rest.dropFirst(authority.count))
    let scheme = String(text.unicodeScalars[..<separator.lowerBound])
    let upper = asciiUppercased(scheme) + "://" + asciiUppercased(String(authority)) + tail
    require((try? URLIdentity(upper)) == identity, "another identity in upper case: \(upper)")
    let encoded = tail.unicodeScalars.map { scalar in
        let isUnreserved =
            scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-._~".unicodeScalars.contains(scalar))
        return isUnreserved ? "%" + String(scalar.value, radix: 16) : String(scalar)
    }
    // Skip a text that contains "%", because it is percent-encoded already. Skip a text that contains "#", because its
    // fragment is dropped. Skip a text that is not ASCII, too: `URLIdentity` composes a letter and the accent after the
    // letter to one character (NFC), but not if the letter is percent-encoded.
    if !tail.utf8.contains(UInt8(ascii: "%")), !tail.utf8.contains(UInt8(ascii: "#")),
        tail.utf8.allSatisfy({ $0 < 0x80 })
    {
        let text = text[..<tail.startIndex] + encoded.joined()
        require((try? URLIdentity(String(text))) == identity, "another identity when encoded: \(text)")
    }
}

private func check(_ identity: URLIdentity) {
    let again = try? URLIdentity(identity.description)
    require(again == identity, "not idempotent: \(identity) → \(again.map { "\($0)" } ?? "nothing")")
    require(identity.description.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "not plain: \(identity)")
    require(!identity.path.contains("/../") && !identity.path.contains("/./"), "dot segments: \(identity)")
}

private func asciiUppercased(_ text: String) -> String {
    String(decoding: text.utf8.map { (97...122).contains($0) ? $0 - 32 : $0 }, as: UTF8.self)
}

// MARK: - Headers

private func fuzzRange(_ data: Data) {
    let header = String(decoding: data, as: UTF8.self)
    for length in [0, 1, 5, 1000, Int.max] {
        guard case .part(let range) = ByteRange(header, length: length) else { continue }
        require(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= length, "\(range) of \(length)")
    }
}

private func fuzzMediaType(_ data: Data) {
    let text = String(decoding: data, as: UTF8.self)
    _ = MediaType(fileName: text)
    guard let type = MediaType(text) else { return }
    // The spaces that the description adds may make it longer than a type may be.
    if type.description.utf8.count <= 1000 {
        require(MediaType(type.description) == type, "not the same when read again: \(type)")
    }
    require(type.description.utf8.allSatisfy { $0 == 0x09 || (0x20...0x7E).contains($0) || $0 >= 0x80 }, "\(type)")
}

// MARK: - The archive

private func fuzzArchive(_ data: Data) {
    checkCopy(data)
    // Most of the decoder runs only if the checksum is right, so also try the data with the right checksum.
    let head = Data(data.prefix { $0 != UInt8(ascii: "\n") })
    let body = Data(data.dropFirst(head.count))
    checkCopy(ArchivedCopy.line(head, body) + head + Data("\n".utf8) + body)
}

private func checkCopy(_ data: Data) {
    guard let copy = ArchivedCopy(decoding: data) else { return }
    _ = copy.answer(after: .offline)?.response.response.url
    guard let encoded = try? copy.encoded() else { return }
    let again = ArchivedCopy(decoding: encoded)
    require(again?.body == copy.body && again?.url == copy.url, "not the same when written again")
}

// MARK: - Web pages

private let rewriter = URL(string: "https://h/").map { url in
    PageRewriter(
        url: url,
        isMapped: { $0.utf8.count % 2 == 0 },
        isForwarded: { $0.authority.utf8.count % 2 == 0 },
        isMappedPrefix: { $0.utf8.count % 2 == 0 }
    )
}

/// Returns a page's structure, such as tag and attribute names, or the number of addresses in a stylesheet.
private func outline(_ text: Data, _ type: MediaType) -> [String] {
    if type.essence == "text/css" { return ["\(ReferenceScanner.references(inStylesheet: text).count)"] }
    var outline: [String] = []
    PageScanner.read(Array(text)) { tag, style in
        let addresses = style.map { ReferenceScanner.references(inStylesheet: $0.bytes).count } ?? 0
        outline.append("\(tag.name) \(tag.attributes.map(\.name)) \(addresses)")
    }
    let maps = PageScanner.references(in: Array(text)).importMaps.map {
        text[text.startIndex + $0.lowerBound..<text.startIndex + $0.upperBound]
    }
    return outline + maps.map { JSONParser.parse($0).errors.isEmpty ? "JSON" : "no JSON" }
}

private func fuzzPage(_ data: Data) {
    for type in ["text/html", "text/css"].compactMap({ MediaType($0) }) {
        guard let rewritten = rewriter?.rewritten(data, type).body else { continue }
        require(rewritten != data, "nothing is written in \(type)")
        // Rewriting changes only addresses and policies. The page must keep its tags, attributes and styles.
        require(outline(data, type) == outline(rewritten, type), "another structure in \(type)")
    }
    // A header field is text, so skip data that is not UTF-8. The translated policy must contain every word of the
    // page's own policy.
    guard let site = WebOrigin("https://h/"), let policy = String(data: data, encoding: .utf8) else { return }
    let translated = ContentPolicy.translated(policy, for: site)
    let words = policy.split { $0.isWhitespace || ";,".contains($0) }
    for word in words.prefix(50) { require(translated.contains(word), "\(word) is lost in \(translated)") }
}
