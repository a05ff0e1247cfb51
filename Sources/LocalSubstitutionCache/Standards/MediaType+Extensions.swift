extension MediaType {
    package static let octetStream = MediaType(essence: "application/octet-stream")

    /// True for types that browsers show as a page.
    package var isHTML: Bool { essence == "text/html" || essence == "application/xhtml+xml" }

    /// Creates the media type for a file name's extension; nil if the extension is missing or unknown.
    ///
    /// The extension is the text after the last dot, in upper or lower case. The result is the same on every platform.
    /// Cost: one lookup.
    ///
    /// - Parameter fileName: A name or a path, such as `img/logo.PNG`.
    package init?(fileName: String) {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")),
            let essence = Self.essences[fileName[fileName.utf8.index(after: dot)...].lowercased()]
        else { return nil }
        self.init(essence: essence)
    }

    /// Extension → type/subtype.
    private static let essences = Dictionary(
        uniqueKeysWithValues: rows(of: table).flatMap { row in row.dropFirst().map { ($0, row[0]) } }
    )

    /// Returns the words of each row of a table; a row ends with its line, or with ";".
    package static func rows(of table: String) -> [[String]] {
        table.split { $0 == "\n" || $0 == ";" }.map { $0.split(separator: " ").map(String.init) }
    }

    /// The types, each followed by its extensions.
    ///
    /// If a type is in IANA's registry (https://www.iana.org/assignments/media-types), its name is the one used there.
    /// The table holds every extension to which the tables of nginx (conf/mime.types) and Apache httpd
    /// (docs/conf/mime.types) give the same type, with two exceptions. For JavaScript, both tables still say
    /// application/javascript, which RFC 9239 made obsolete. The extension svgz is left out: it needs a
    /// Content-Encoding, and nothing here would decode it. Where the two tables differ, IANA or an RFC decides. The
    /// other extensions have come into use on the web since.
    package static let table = """
        application/atom+xml atom; application/cbor cbor; application/dash+xml mpd; application/epub+zip epub
        application/geo+json geojson; application/gpx+xml gpx; application/gzip gz; application/java-archive jar
        application/json json map topojson; application/json5 json5; application/jsonl jsonl
        application/ld+json jsonld; application/mac-binhex40 hqx; application/manifest+json webmanifest
        application/msword doc; application/octet-stream bin; application/ogg ogx; application/pdf pdf
        application/postscript ps eps ai; application/rdf+xml rdf; application/rss+xml rss; application/rtf rtf
        application/toml toml; application/ttml+xml ttml; application/vnd.apple.keynote key
        application/vnd.apple.mpegurl m3u8; application/vnd.apple.numbers numbers; application/vnd.apple.pages pages
        application/vnd.apple.pkpass pkpass; application/vnd.google-earth.kml+xml kml
        application/vnd.google-earth.kmz kmz; application/vnd.ms-excel xls; application/vnd.ms-fontobject eot
        application/vnd.ms-powerpoint ppt; application/vnd.oasis.opendocument.graphics odg
        application/vnd.oasis.opendocument.presentation odp; application/vnd.oasis.opendocument.spreadsheet ods
        application/vnd.oasis.opendocument.text odt
        application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
        application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
        application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
        application/vnd.sqlite3 sqlite sqlite3; application/vnd.wap.wmlc wmlc; application/wasm wasm
        application/x-7z-compressed 7z; application/x-bzip2 bz2; application/x-java-jnlp-file jnlp
        application/x-plist plist; application/x-rar-compressed rar; application/x-shockwave-flash swf
        application/x-stuffit sit; application/x-subrip srt; application/x-tar tar; application/x-tcl tcl
        application/x-x509-ca-cert der crt; application/x-xpinstall xpi; application/xhtml+xml xhtml
        application/xml xml xsd; application/xslt+xml xsl xslt; application/xspf+xml xspf; application/yaml yaml yml
        application/zip zip; application/zstd zst

        audio/aac aac; audio/flac flac; audio/midi mid midi kar; audio/mp4 m4a m4b; audio/mpeg mp3 mpga mp2
        audio/ogg ogg oga opus; audio/wav wav; audio/webm weba; audio/x-aiff aif aiff; audio/x-caf caf

        font/collection ttc; font/otf otf; font/ttf ttf; font/woff woff; font/woff2 woff2

        image/apng apng; image/avif avif avifs; image/bmp bmp; image/gif gif; image/heic heic; image/heif heif
        image/jpeg jpeg jpg jpe jfif; image/jxl jxl; image/ktx2 ktx2; image/png png; image/svg+xml svg
        image/tiff tif tiff; image/vnd.adobe.photoshop psd; image/vnd.wap.wbmp wbmp; image/webp webp
        image/x-icon ico cur

        model/gltf+json gltf; model/gltf-binary glb; model/mtl mtl; model/obj obj; model/stl stl
        model/vnd.collada+xml dae; model/vnd.usda usda; model/vnd.usdz+zip usdz

        text/calendar ics; text/css css; text/csv csv; text/html html htm; text/javascript js mjs cjs
        text/markdown md markdown; text/plain txt; text/tab-separated-values tsv; text/turtle ttl; text/vcard vcf vcard
        text/vnd.sun.j2me.app-descriptor jad; text/vnd.wap.wml wml; text/vtt vtt; text/x-opml opml

        video/3gpp 3gp 3gpp; video/3gpp2 3g2; video/iso.segment m4s; video/matroska mkv; video/mp2t ts mts
        video/mp4 mp4 mp4v; video/mpeg mpeg mpg; video/ogg ogv; video/quicktime mov qt; video/webm webm
        video/x-flv flv; video/x-m4v m4v; video/x-mng mng; video/x-ms-asf asx asf; video/x-ms-wmv wmv
        video/x-msvideo avi
        """
}
