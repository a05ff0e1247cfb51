import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a server sent for a URL, as a made file.
struct Resource {
    /// The URL that was asked for.
    let key: URLPattern
    /// Whether it is to answer with any query.
    var ignoresQuery = false
    /// In the staging folder; of what is present, in the manifest's.
    let file: URL
    /// As the server called it.
    let type: MediaType?
    /// Where it came from, after redirects: what its addresses are relative to.
    let source: URL
    /// What the server tells this version from others by.
    let version: RemoteVersion?
}

/// Puts what servers sent into a manifest and its folder: which files they become, and which entries.
struct Addition {
    private(set) var change: FolderChange
    private var text: ManifestText
    private var names: FileNames
    private var record: RemoteRecord
    private let table: SubstitutionTable
    /// What there is to tell of the manifest as it was.
    let check: ManifestCheck
    private var added: [ManifestText.Entry] = []

    /// What became of a resource.
    enum Outcome {
        /// A new entry, and its file.
        case added(String)
        /// The file of an entry that was there has other bytes now.
        case replaced(String)
        /// An entry answers it already, in this line; it was left alone.
        case present(Int)
        /// It was not taken, for this reason.
        case refused(String)
    }

    /// Begins with a manifest as it is.
    ///
    /// - Throws: ``ToolError`` with its errors, when it has some.
    init(to manifest: ManifestFile, on date: Date) throws(ToolError) {
        let (folder, name) = (manifest.folder, manifest.name)
        check = ManifestCheck(manifest, on: date)
        guard check.errors.isEmpty else {
            throw ToolError(
                "the manifest has errors; mend them first\n" + check.errors.map(\.description).joined(separator: "\n")
            )
        }
        do {
            table = try SubstitutionTable(check.manifest, folder: folder)
        } catch {
            throw ToolError("\(error)")
        }
        text = try ManifestText(check.text)
        names = FileNames(in: folder)
        record = RemoteRecord(in: folder)
        change = FolderChange(manifest.url, name: name, original: check.text, date: date)
    }

    /// What the manifest maps.
    var substitutions: [Substitution] { check.substitutions }

    private var folder: URL { change.manifest.deletingLastPathComponent() }

    /// What is to be said of a URL that an entry names already; nil when none does.
    func known(_ key: URLPattern) -> Outcome? {
        if let old = substitution(for: key) {
            return old.isExpired(on: check.date)
                ? .refused("its entry in line \(old.line) has ended; remove it, or set a later day")
                : .present(old.line)
        }
        return text.line(of: key).map { line in
            .refused("the entry in line \(line) is for a folder, in which there is no index.html; put one there")
        }
    }

    /// The file that answers a URL already, as if its server had sent it.
    func present(_ key: URLPattern, _ url: URL) -> Resource? {
        substitution(for: key).map { old in
            let file = URL(fileURLWithPath: old.realPath)
            return Resource(key: key, file: file, type: old.mediaType, source: url, version: nil)
        }
    }

    /// What answers a URL today.
    private func substitution(for key: URLPattern) -> Substitution? {
        guard let url = URL(string: key.targetURL) else { return nil }
        return table.explain(URLRequest(url: url)).substitution
    }

    /// Takes a resource.
    ///
    /// - Parameters:
    ///   - resource: What was sent.
    ///   - path: Where its file is to lie; nil for a free name after its URL.
    ///   - replaces: Whether what answers the URL already gets the new bytes.
    /// - Returns: What becomes of it when the changes are made.
    mutating func add(_ resource: Resource, as path: String? = nil, replaces: Bool = false) -> Outcome {
        if let known = known(resource.key) {
            guard replaces, case .present = known, let old = substitution(for: resource.key) else { return known }
            return replace(old, with: resource, as: path)
        }
        let wanted = path ?? FileNames.path(for: resource.key, resource.type)
        if let reason = ContentCheck.refusal(of: Self.head(of: resource.file), named: wanted, resource.type) {
            return .refused(reason)
        }
        let isSame = isSame(as: resource)
        let file: String
        if let path {
            guard !names.isTaken(path) || isSame(path) else {
                return .refused("\(quoted(path)) is there already, and is another file; name another path")
            }
            names.take(path)
            file = path
        } else {
            file = names.path(for: resource.key, resource.type, orExisting: isSame)
        }
        let entry = ManifestText.Entry(
            key: resource.key,
            file: file,
            type: Self.type(of: resource, as: file),
            ignoresQuery: resource.ignoresQuery
        )
        added.append(entry)
        put(resource, at: file)
        return .added(file)
    }

    /// Gives the file of an entry other bytes, or another file to it.
    mutating func replace(_ old: Substitution, with resource: Resource, as path: String? = nil) -> Outcome {
        let head = Self.head(of: resource.file)
        if let reason = ContentCheck.refusal(of: head, as: old.mediaType) { return .refused(reason) }
        guard let path, path != old.file else {
            put(resource, at: realPath(of: old))
            return .replaced(old.file)
        }
        guard old.namedFile == old.file else {
            return .refused("\(quoted(old.file)) comes from the entry of its folder, so it has to be called so")
        }
        // A run that was killed may have left it.
        guard !names.isTaken(path) || isSame(as: resource)(path) else {
            return .refused("\(quoted(path)) is there already; name another path")
        }
        names.take(path)
        if let key = try? URLPattern(old.namedURL) { text.setFile(of: key, to: path) }
        put(resource, at: path)
        return .replaced(path)
    }

    /// Tells whether a file of the folder has the bytes of a resource.
    private func isSame(as resource: Resource) -> (String) -> Bool {
        let folder = folder
        return { path in
            FileManager.default.contentsEqual(
                atPath: folder.appendingPathComponent(path).path,
                andPath: resource.file.path
            )
        }
    }

    /// The path below the folder at which a file really lies: what is a link stays one.
    private func realPath(of substitution: Substitution) -> String {
        let root = folder.resolvingSymlinksInPath().path
        let prefix = root.hasSuffix("/") ? root : root + "/"
        return substitution.realPath.hasPrefix(prefix)
            ? String(substitution.realPath.dropFirst(prefix.count)) : substitution.file
    }

    private mutating func put(_ resource: Resource, at path: String) {
        if let version = resource.version, let data = try? Data(contentsOf: resource.file, options: .mappedIfSafe) {
            record.set(version.with(data), for: resource.key.spelling)
        }
        change.put(resource.file, at: path)
    }

    /// Keeps what a server said of a copy that is what it has.
    mutating func keep(_ version: RemoteVersion, of substitution: Substitution, _ key: URLPattern) {
        guard let data = substitution.bytes(upTo: substitution.size) else { return }
        record.set(version.with(data), for: key.spelling)
    }

    /// Makes all the changes, or none.
    mutating func commit(in staging: StagingFolder) throws {
        change.text = text.appending(added)
        if let data = try record.changed() { change.put(try staging.write(data), at: RemoteRecord.name) }
        try change.commit(in: staging)
    }

    // MARK: - What a resource is

    private static func head(of file: URL) -> [UInt8] {
        let handle = try? FileHandle(forReadingFrom: file)
        return Array((try? handle?.read(upToCount: FileFormat.headLength)) ?? Data())
    }

    /// The `type` that the entry needs; nil when the file's ending says the same.
    private static func type(of resource: Resource, as file: String) -> String? {
        guard let type = resource.type, type.isConcrete else { return nil }
        let takesCharset = type.takesCharset || type.canonical.takesCharset
        let isUTF8 = !takesCharset || ["utf-8", "utf8", "us-ascii", nil].contains(type.charset)
        return MediaType(fileName: file)?.isSame(as: type) == true && isUTF8 ? nil : type.description
    }
}
