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
