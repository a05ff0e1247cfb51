import LocalSubstitutionCache
import SubstitutionRules

/// The kind of a resource, with the names that browsers' network panels use.
enum ResourceKind: String, CaseIterable {
    case document
    case stylesheet
    case script
    case image
    case font
    case media
    case other

    /// Finds the kind by the media type; if the type is missing or vague, by the path's extension.
    init(_ type: MediaType?, path: String) {
        let named = MediaType(fileName: path)
        let isVague = ["application/octet-stream", "binary/octet-stream", "text/plain"].contains(type?.essence ?? "")
        self = Self.kind((isVague ? named : nil) ?? type ?? named)
    }

    /// The `Accept` with which browsers ask for such a resource (Fetch §4.1).
    var accept: String {
        switch self {
        case .document: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
        case .image: "image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"
        case .stylesheet: "text/css,*/*;q=0.1"
        case .script, .font, .media, .other: "*/*"
        }
    }

    private static func kind(_ type: MediaType?) -> ResourceKind {
        guard let essence = type?.canonical.essence else { return .other }
        if type?.isHTML == true { return .document }
        if essence == "text/css" { return .stylesheet }
        if essence == "text/javascript" { return .script }
        if essence.hasPrefix("image/") { return .image }
        if essence.hasPrefix("font/") || essence.contains("font-") || essence.contains("fontobject") { return .font }
        let isPlaylist = essence == "application/vnd.apple.mpegurl"
        if essence.hasPrefix("audio/") || essence.hasPrefix("video/") || isPlaylist { return .media }
        return .other
    }
}
