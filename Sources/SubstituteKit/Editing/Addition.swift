import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A resource that a server sent, saved in a file.
struct Resource {
    /// The URL of the entry: the requested URL, or the URL of the response.
    var key: URLPattern
    /// The parameters of the query that the entry is to ignore.
    var ignored: [String] = []
    /// The file, in the staging folder; for a resource that is present already, in the manifest's folder.
    let file: URL
    /// The media type that the server sent; for a resource that is present already, the entry's media type.
    let type: MediaType?
    /// The URL of the response, after redirects.
    ///
    /// Relative references in the file resolve against this URL.
    let source: URL
    /// The validators by which the server identifies this version.
    let version: RemoteVersion?
    /// True if a recorder has decoded the text, so that it is UTF-8 now.
    var isDecoded = false
    var sharing = Sharing()
    /// True for the answer to the request for a page, and not to a request by a page's script.
    var isPage = false
}

/// Adds resources to a manifest and its folder: chooses a path for each file, and writes the entries.
struct Addition {
    let manifest: ManifestFile
    private(set) var change: FolderChange
    private var text: ManifestText
    private var names: FileNames
    private var record: RemoteRecord
    private let table: SubstitutionTable
    /// The check of the manifest before any change.
    let check: ManifestCheck
    /// The places of its entries, as ``ManifestCheck/places``.
    private lazy var places = check.places
    private var added: [ManifestText.Entry] = []
    /// True to take responses that may be for one person.
    var includesPrivate = false
    /// The edited files that the changes discard, as paths below the folder.
    private var discarded: Set<String> = []
    /// The files that are replaced, keyed by path, each with the fingerprint of its new bytes.
    private var replaced: [String: Fingerprint] = [:]
    /// The fingerprints of all new bytes, keyed by the real path of the file.
    private var copies: [String: Fingerprint] = [:]
    /// The manifest's `$version`, which may have been raised; 0 if it has none.
    private var version: Int64
    /// The folder in which copies of these files are kept.
    private let temporaryFolder: URL

    /// The outcome of adding a resource.
    enum Outcome {
        /// A new entry with a new file; holds the file's path, and sentences about it for the user.
        case added(String, [String] = [])
        /// An existing entry whose file has new bytes; holds the file's path.
        case replaced(String)
        /// An existing entry that answers the URL already, and is not changed; holds the entry's line.
        case present(Int)
        /// An existing entry whose file was edited, and is kept; holds the state in words, as a clause about "it".
        case kept(RemoteRecord.State, String)
        /// The resource was refused; holds the reason.
        case refused(String)
    }

    /// The reason why a file that several entries name is not replaced.
    static let sharedFile = "several entries name its file; give each its own file"

    /// Reads and checks a manifest.
    ///
    /// - Throws: ``ManifestError`` if the manifest has errors; ``ToolError`` if the record of its files cannot be read.
    init(to manifest: ManifestFile, _ console: Console) throws {
        self.manifest = manifest
        let (folder, date) = (manifest.folder, console.now())
        check = try manifest.checked(on: date)
        table = try SubstitutionTable(check.manifest, folder: folder)
        version = check.manifest.version
        temporaryFolder = console.temporaryFolder
        text = try ManifestText(check.text)
        names = FileNames(in: folder)
        record = try RemoteRecord(in: folder)
        change = FolderChange(manifest.url, name: manifest.name, original: check.text, date: date)
    }

    /// The substitutions of the manifest before any change.
    var substitutions: [Substitution] { check.substitutions }

    private var folder: URL { change.manifest.deletingLastPathComponent() }

    /// Returns the outcome for a URL that the manifest already contains; nil for any other URL.
    ///
    /// The manifest contains a URL if an entry answers the URL, or if the URL is the key of an entry.
    func known(_ key: URLPattern) -> Outcome? {
        if let old = substitution(for: key) {
            return old.isExpired(on: check.date)
                ? .refused("its entry in line \(old.line) has expired; remove it, or set a later day")
                : .present(old.line)
        }
        return text.line(of: key).map { line in
            .refused("the entry in line \(line) is for a folder without an index.html; add one")
        }
    }

    /// Returns the file that already answers a URL, as a resource; nil if no file answers the URL.
    func present(_ key: URLPattern, _ url: URL) -> Resource? {
        substitution(for: key).map { old in
            let file = URL(fileURLWithPath: old.realPath)
            return Resource(key: key, file: file, type: old.type, source: url, version: nil)
        }
    }

    /// Returns the fields with which the file of a URL was loaded; nil if they are not recorded.
    func asked(for key: URLPattern) -> [String: String]? {
        substitution(for: key).flatMap { record.version(of: $0.recordedURL)?.asked }
    }

    /// Returns the substitution that answers a URL before any change.
    private func substitution(for key: URLPattern) -> Substitution? {
        guard let url = URL(string: key.targetURL) else { return nil }
        return table.explain(URLRequest(url: url)).substitution
    }

    /// Adds a resource.
    ///
    /// - Parameters:
    ///   - resource: The resource that a server sent.
    ///   - path: The path for the resource's file; nil to derive a free path from the resource's URL.
    ///   - replaces: True to replace the file of an entry that answers the URL already.
    ///   - discardsEdits: True to replace the file even if it was edited.
    /// - Returns: The outcome; it takes effect when the changes are committed.
    mutating func add(
        _ resource: Resource,
        as path: String? = nil,
        replaces: Bool = false,
        discardsEdits: Bool = false
    ) -> Outcome {
        if let known = known(resource.key) {
            guard replaces, case .present = known, let old = substitution(for: resource.key) else { return known }
            return replace(old, with: resource, as: path, discardsEdits: discardsEdits)
        }
        let (incoming, body, copy): (IncomingBody, IncomingBody.Accepted, Fingerprint)
        do throws(ToolError) {
            incoming = try IncomingBody(resource)
            body = try incoming.accepted(as: path, includingPrivate: includesPrivate)
            copy = try Fingerprint(of: resource.file, named: "the loaded file")
        } catch {
            return .refused(error.message)
        }
        let isSame = isSame(as: resource)
        let file: String
        if let path {
            guard !names.isTaken(path) || isSame(path) else {
                return .refused("\(quoted(path)) already exists, with other content; name another path")
            }
            names.markTaken(path)
            file = path
        } else {
            file = names.path(FileNames.path(for: resource.key, body.type), orExisting: isSame)
        }
        let entry = ManifestText.Entry(
            key: resource.key,
            file: file,
            type: body.entryType(in: file),
            ignored: resource.ignored,
            headers: body.headers
        )
        added.append(entry)
        schedule(resource, copy, at: file, for: resource.key.spelling)
        let kept = body.headers.keys.sorted().joined(separator: " and ")
        let remark = kept.isEmpty ? [] : ["keeps its server's \(kept) as \"headers\""]
        return .added(file, body.remarks + remark + incoming.remark(as: entry.type, in: file))
    }

    /// Replaces the bytes of an entry's file, unless the file was edited.
    ///
    /// A `path` other than that of this file is refused.
    mutating func replace(
        _ old: Substitution,
        with resource: Resource,
        as path: String? = nil,
        discardsEdits: Bool = false
    ) -> Outcome {
        if let path, path != old.path {
            return .refused("its entry names \(quoted(old.path)); change the path there, or leave out --as")
        }
        let (here, there): (Fingerprint, Fingerprint)
        do throws(ToolError) {
            let incoming = try IncomingBody(resource)
            let body = try incoming.accepted(as: old.path, includingPrivate: includesPrivate)
            let reason = body.objection(to: old.type) ?? incoming.objection(to: old)
            if let reason { return .refused(reason) }
            here = try Fingerprint(of: URL(fileURLWithPath: old.realPath), named: quoted(old.path))
            there = try Fingerprint(of: resource.file, named: "the loaded file")
        } catch {
            return .refused(error.message)
        }
        let (state, reason) = record.state(of: old.recordedURL, here: here, there: there)
        if state == .empty { return .refused(reason ?? "") }
        if old.isShared(among: places) { return .refused(Self.sharedFile) }
        let path = realPath(of: old)
        // Several URLs may lead to one entry.
        if let known = replaced[path] {
            return known == there ? .replaced(old.path) : .refused("another URL of its entry has replaced the file")
        }
        if [.edited, .conflict].contains(state) {
            if !discardsEdits { return .kept(state, reason ?? "") }
            discarded.insert(path)
        }
        replaced[path] = there
        schedule(resource, there, at: path, for: old.recordedURL, replacing: here)
        return .replaced(old.path)
    }

    /// Returns a closure that compares the file at a path with a resource.
    ///
    /// The closure returns true if the bytes are equal.
    private func isSame(as resource: Resource) -> (String) -> Bool {
        let folder = folder
        return { path in
            FileManager.default.contentsEqual(
                atPath: folder.appendingPathComponent(path).path,
                andPath: resource.file.path
            )
        }
    }

    /// Returns the real path of a substitution's file, below the folder.
    ///
    /// Symbolic links are resolved. A change therefore replaces the target of a link, and not the link itself.
    private func realPath(of substitution: Substitution) -> String {
        let root = folder.resolvingSymlinksInPath().path
        let prefix = root.hasSuffix("/") ? root : root + "/"
        return substitution.realPath.hasPrefix(prefix)
            ? String(substitution.realPath.dropFirst(prefix.count)) : substitution.path
    }

    /// Schedules the resource's file, and records its version under a URL.
    private mutating func schedule(
        _ resource: Resource,
        _ copy: Fingerprint,
        at path: String,
        for url: String,
        replacing old: Fingerprint? = nil
    ) {
        record.set((resource.version ?? RemoteVersion()).with(copy), for: url)
        copies[folder.resolvingSymlinksInPath().appendingPathComponent(path).path] = copy
        // A file that a killed run left at a new path has the same bytes.
        let left = old == nil && FileSystem.kind(of: folder.appendingPathComponent(path).path) != nil
        change.schedule(resource.file, at: path, replacing: left ? copy : old)
    }

    /// Records the server's version of a resource without a change of its file.
    mutating func recordVersion(_ version: RemoteVersion, of substitution: Substitution) {
        record.set(version, for: substitution.recordedURL)
    }

    /// Makes all the changes, or none.
    ///
    /// - Returns: A temporary folder with copies of the edited files that were discarded; nil if there are none.
    @discardableResult
    mutating func commit(in staging: StagingFolder) throws -> URL? {
        try recordFiles()
        change.text = text.appending(added)
        change.record = record
        let discarded = try copiesOfDiscarded()
        try change.commit(in: staging)
        return discarded
    }

    /// Raises the manifest's `$version` by one; returns the new number, or nil if the manifest has none.
    mutating func raiseVersion() -> Int64? {
        guard text.setVersion(to: version + 1) else { return nil }
        version += 1
        return version
    }

    /// Records the fingerprint of all files, as they will be, if the manifest's `$version` has risen.
    private mutating func recordFiles() throws {
        guard version > record.files?.version ?? 0 else { return }
        try record.setFiles(Fingerprint(ofFilesOf: substitutions, with: copies), of: version)
    }

    private func copiesOfDiscarded() throws -> URL? {
        if discarded.isEmpty { return nil }
        do {
            var template = Array("\(temporaryFolder.path)/substitute-edits-XXXXXX".utf8CString)
            guard let made = mkdtemp(&template) else { throw FileSystem.systemError }
            let copies = URL(fileURLWithPath: String(cString: made))
            for path in discarded.sorted() {
                let copy = copies.appendingPathComponent(path)
                let above = copy.deletingLastPathComponent()
                try FileManager.default.createDirectory(at: above, withIntermediateDirectories: true)
                let file = folder.resolvingSymlinksInPath().appendingPathComponent(path)
                try FileManager.default.copyItem(at: file, to: copy)
            }
            return copies
        } catch {
            throw ToolError(
                "nothing was changed, because the edited files cannot be copied: \(FileSystem.reason(error))"
            )
        }
    }
}

extension ManifestCheck {
    /// The places of the entries without conditions, keyed by the real path of their file.
    var places: [String: Set<[Int]>] {
        Dictionary(grouping: shipped.filter(\.conditions.isEmpty), by: \.realPath)
            .mapValues { Set($0.map { [$0.line, $0.column] }) }
    }
}

extension Substitution {
    /// Returns true if an entry at another of these places names the same file.
    func isShared(among places: [String: Set<[Int]>]) -> Bool {
        places[realPath]?.subtracting([[line, column]]).isEmpty == false
    }
}
