public import Foundation

/// A manifest as it is written: entries with their places, before any file has been looked at.
///
/// Reading proves that the text is JSON. Everything else that is wrong is kept as ``ManifestIssue``s and reported by
/// ``substitutions(in:on:)``, together with what is wrong with the files, so that one run tells all.
///
/// ```swift
/// let manifest = try SubstitutionManifest(contentsOf: folder.appendingPathComponent("manifest.json"))
/// for issue in manifest.issues(in: folder) { print(issue) }
/// ```
public struct SubstitutionManifest: Sendable {
    /// One key of the manifest and its value.
    ///
    /// What could not be read is nil and has its issue.
    struct Entry: Sendable {
        let key: Located<String>
        var pattern: URLPattern?
        var file: Located<String>?
        var type: MediaType?
        /// Name → value; a nil value removes the header.
        var headers: [String: String?] = [:]
        var query = QueryRule.exact
        var conditions: [Condition] = []
        var until: Located<CalendarDay>?
    }

    /// Something of the manifest with the offset of its first byte.
    struct Located<Value: Sendable>: Sendable {
        let value: Value
        let offset: Int
    }

    let source: SourceText
    let entries: [Entry]
    let findings: [Finding]
    /// The manifest's own file, when it came from one: a folder entry does not ship it.
    let url: URL?

    /// Reads a manifest file.
    ///
    /// - Parameter url: A file URL. Its path stands in the messages as given.
    /// - Throws: ``ManifestError`` when the file cannot be read or is not JSON.
    public init(contentsOf url: URL) throws(ManifestError) {
        try self.init(Self.text(of: url, name: url.path), name: url.path, url: url)
    }

    /// The bytes of a manifest file.
    static func text(of url: URL, name: String) throws(ManifestError) -> Data {
        guard url.isFileURL else {
            throw ManifestError(
                unreadable: name,
                because: "\(quoted(url.absoluteString)) is not a file URL; download the manifest and its files first"
            )
        }
        do {
            return try FileContents(of: OpenedFile(url.path, followsLink: true), reading: .copied).data
        } catch {
            let isFolder = error == .isFolder
            let reason = isFolder ? "\(quoted(name)) is a folder, not a manifest" : error.reason(for: name)
            throw ManifestError(unreadable: name, because: reason)
        }
    }

    /// Reads a manifest from memory.
    ///
    /// - Parameters:
    ///   - data: The text, in UTF-8.
    ///   - name: What the messages call the file.
    /// - Throws: ``ManifestError`` when the text is not JSON.
    public init(_ data: Data, name: String) throws(ManifestError) {
        try self.init(data, name: name, url: nil)
    }

    init(_ data: Data, name: String, url: URL?) throws(ManifestError) {
        let source = SourceText(name: name, bytes: data)
        do {
            var reader = ManifestReader()
            reader.read(try JSONParser.parse(data), source: source)
            (entries, findings) = (reader.entries, reader.findings)
        } catch {
            let finding = Finding(offset: error.offset, severity: .error, code: error.code, message: error.message)
            throw ManifestError(source.issues([finding]))
        }
        self.source = source
        self.url = url
    }

    /// What the manifest maps: one element for each URL and file, folders expanded.
    ///
    /// Looks at the files' names and kinds, not into them. Entries whose `until` has passed are checked and left out.
    /// Cost: a few system calls a file.
    ///
    /// - Parameters:
    ///   - folder: The folder that the files lie in.
    ///   - date: The moment that `until` is compared with.
    /// - Returns: The substitutions, explicit entries in the order of the manifest, files of a folder by name.
    /// - Throws: ``ManifestError`` with every error of the manifest and its files; also when `folder` is no file URL.
    public func substitutions(in folder: URL, on date: Date = Date()) throws(ManifestError) -> [Substitution] {
        try proved(in: folder, on: date).current
    }

    /// What is mapped, what was until its day had passed, and the folder in which the files were found.
    func proved(
        in folder: URL,
        on date: Date
    ) throws(ManifestError) -> (current: [Substitution], expired: [Substitution], folder: OpenedFolder) {
        var resolver = ManifestResolver(self, folder: folder)
        resolver.resolve()
        let errors = source.issues(findings + resolver.findings)
        guard errors.isEmpty, let files = resolver.files else { throw ManifestError(errors) }
        let today = CalendarDay(date)
        let isExpired = { (substitution: Substitution) in substitution.until.map { $0 < today } ?? false }
        // Mostly none is, and then the array need not be copied.
        let expired = resolver.substitutions.filter(isExpired)
        let current = expired.isEmpty ? resolver.substitutions : resolver.substitutions.filter { !isExpired($0) }
        return (current, expired, files.opened)
    }

    /// Everything that is wrong with the manifest and its files, warnings included, in the order of the file.
    ///
    /// Unused files and entries that never answer are looked for only when there is no error: the file that a wrong
    /// entry means would seem unused. Cost: reads every text file whole.
    ///
    /// - Parameters:
    ///   - folder: The folder that the files lie in.
    ///   - date: The moment that `until` is compared with.
    /// - Returns: The issues; empty when the manifest is as it should be.
    public func issues(in folder: URL, on date: Date = Date()) -> [ManifestIssue] {
        check(in: folder, on: date).issues
    }

    /// Everything that is wrong, and what is mapped as far as it could be found out.
    func check(in folder: URL, on date: Date) -> (issues: [ManifestIssue], substitutions: [Substitution]) {
        var resolver = ManifestResolver(self, folder: folder)
        resolver.resolve()
        resolver.warn(on: CalendarDay(date))
        return (source.issues(findings + resolver.findings), resolver.substitutions)
    }
}

extension ManifestError {
    /// The one issue of a manifest that could not be read at all.
    init(unreadable path: String, because reason: String) {
        self.init([
            ManifestIssue(
                severity: .error,
                code: .unreadableManifest,
                message: reason,
                file: path,
                line: 1,
                column: 1
            )
        ])
    }
}
