package import LocalSubstitutionCache

extension MediaType {
    /// The same type under its name in the table of `MediaType+Extensions.swift`; the parameters stay unchanged.
    ///
    /// Servers send several names for one type, such as `application/javascript` for `text/javascript`. A type that is
    /// not in the table under any name stays unchanged.
    package var canonical: MediaType { MediaType(essence: synonyms[0], parameters: parameters) }

    /// Returns whether the two types have a name in common; parameters are ignored.
    package func isSame(as other: MediaType) -> Bool { !Set(synonyms).isDisjoint(with: other.synonyms) }

    /// True for `application/octet-stream` and its aliases.
    package var isUnknown: Bool { canonical.essence == Self.octetStream.essence }

    /// The best-known extension of files of this type, without its dot; nil if none is known.
    package var fileExtension: String? { synonyms.lazy.compactMap { Self.fileExtensions[$0] }.first }

    /// Type/subtype → its first extension.
    private static let fileExtensions = Dictionary(
        rows(of: table).map { ($0[0], $0[1]) },
        uniquingKeysWith: { first, _ in first }
    )

    /// Returns whether the table of extensions has a type under this name.
    package static func isKnown(_ essence: String) -> Bool { fileExtensions[essence] != nil }

    /// Every type that has a known extension, in alphabetical order.
    package static var knownEssences: [String] { fileExtensions.keys.sorted() }

    /// True if the type has no parameter, or only a `charset` that names UTF-8.
    package var isPlain: Bool {
        parameters.allSatisfy { $0.name == "charset" && ["utf-8", "utf8"].contains($0.value.lowercased()) }
    }

    /// The names of the type, the best name first.
    ///
    /// If `essence` is an alias, the names are those of the types that have this alias. The alias itself comes first if
    /// it is in the table of extensions; otherwise it is left out. If `essence` is not an alias, it is the only name.
    package var synonyms: [String] {
        let types = Self.types[essence] ?? []
        return types.isEmpty || Self.isKnown(essence) ? [essence] + types : types
    }

    /// Alias → the names of its types.
    private static let types: [String: [String]] = {
        var types: [String: [String]] = [:]
        for words in rows(of: aliases) {
            for alias in words.dropFirst() { types[alias, default: []].append(words[0]) }
        }
        return types
    }()

    /// A table with one type per line, followed by its aliases.
    ///
    /// Sources:
    /// - The groups of WHATWG MIME Sniffing §4.6 (JavaScript, JSON, XML, fonts), and the types of its §6.
    /// - The "deprecated alias names" of IANA's registry (https://www.iana.org/assignments/media-types), among them
    ///   those of RFC 8081 (fonts), RFC 7303 (XML), RFC 2361 (wave), RFC 8216 §10 (playlists), RFC 9512 (YAML) and RFC
    ///   7946 (GeoJSON).
    /// - The names that servers send: the present and former tables of nginx (conf/mime.types) and Apache httpd
    ///   (docs/conf/mime.types), and Python's `mimetypes`, which the S3 command line uses to name the types of its
    ///   uploads.
    ///
    /// `application/font-sfnt` and its like mean any outline font, or a collection of these.
    package static let aliases = """
        text/javascript application/ecmascript application/javascript application/x-ecmascript
        text/javascript application/x-javascript text/ecmascript text/javascript1.0 text/javascript1.1
        text/javascript text/javascript1.2 text/javascript1.3 text/javascript1.4 text/javascript1.5
        text/javascript text/jscript text/livescript text/x-ecmascript text/x-javascript
        application/json text/json application/x-json text/x-json
        application/xml text/xml
        application/geo+json application/vnd.geo+json
        application/yaml application/x-yaml text/yaml text/x-yaml
        text/markdown text/x-markdown
        text/csv application/csv text/x-csv
        text/vcard text/x-vcard
        application/rtf text/rtf

        font/woff application/font-woff application/x-font-woff application/x-woff font/x-woff
        font/woff2 application/font-woff2 application/x-font-woff2 application/x-woff2 font/x-woff2
        font/ttf application/font-ttf application/x-font-ttf application/x-font-truetype font/truetype font/x-ttf
        font/otf application/font-otf application/x-font-otf application/x-font-opentype font/opentype font/x-otf
        font/otf application/font-cff application/font-off application/vnd.ms-opentype
        font/ttf application/font-sfnt font/sfnt application/x-font-sfnt application/vnd.ms-opentype
        font/otf application/font-sfnt font/sfnt application/x-font-sfnt
        font/collection application/x-font-ttf application/font-sfnt font/sfnt

        image/x-icon image/vnd.microsoft.icon image/ico image/icon image/x-ico
        image/jpeg image/jpg image/pjpeg
        image/png image/x-png
        image/bmp image/x-ms-bmp image/x-bmp image/x-windows-bmp
        image/apng image/vnd.mozilla.apng
        image/vnd.adobe.photoshop image/x-photoshop application/x-photoshop image/psd

        audio/wav audio/x-wav audio/wave audio/vnd.wave audio/x-pn-wav
        audio/mpeg audio/mp3 audio/x-mp3 audio/mpeg3 audio/x-mpeg-3 audio/x-mpeg
        audio/mp4 audio/x-m4a audio/m4a
        audio/aac audio/x-aac audio/aacp audio/x-hx-aac-adts
        audio/flac audio/x-flac
        audio/ogg application/ogg audio/opus audio/vorbis audio/x-ogg
        audio/midi audio/mid audio/x-midi
        audio/x-aiff audio/aiff
        video/ogg application/ogg video/x-ogg
        video/mp4 video/x-m4v application/mp4
        video/matroska video/x-matroska
        video/x-msvideo video/avi video/msvideo
        application/vnd.apple.mpegurl application/x-mpegurl audio/mpegurl audio/x-mpegurl

        application/gzip application/x-gzip
        application/zip application/x-zip application/x-zip-compressed
        application/x-bzip2 application/bzip2 application/x-bzip
        application/x-rar-compressed application/vnd.rar application/x-rar
        application/pdf application/x-pdf
        application/vnd.sqlite3 application/x-sqlite3
        application/octet-stream binary/octet-stream
        """
}
