package import LocalSubstitutionCache

/// The kinds of warnings.
extension ManifestIssue.Code {
    /// A file whose media type is known neither from its extension nor from its entry.
    package static let unknownExtension = Self(rawValue: "unknown-extension")
    /// A text file whose encoding is not the charset with which it is sent.
    package static let notUTF8 = Self(rawValue: "not-utf-8")
    /// A file in the folder that no entry uses.
    package static let unusedFile = Self(rawValue: "unused-file")
    /// An entry that never answers, because other entries always answer before it.
    package static let shadowed = Self(rawValue: "shadowed")
    /// A condition that holds if the server asks the user to sign in.
    package static let hidesSignIn = Self(rawValue: "hides-sign-in")
    /// A key with a wildcard, although keys have no wildcards.
    package static let wildcard = Self(rawValue: "wildcard")
    /// A file whose type does not fit its URL, or a type that no browser knows.
    ///
    /// A type does not fit if the URL's extension is that of another kind of file. Only URLs of images, fonts, audio,
    /// video, stylesheets and scripts are checked.
    package static let unlikelyType = Self(rawValue: "unlikely-type")
    /// A URL that no server has, for example a URL with two schemes.
    package static let unlikelyURL = Self(rawValue: "unlikely-url")
    /// A header field with a name or value that browsers do not accept as written.
    package static let unlikelyHeader = Self(rawValue: "unlikely-header")
    /// An entry for a folder without files.
    package static let emptyFolder = Self(rawValue: "empty-folder")
    /// An entry whose `until` has passed.
    package static let expired = Self(rawValue: "expired")
}

extension ManifestIssue {
    /// Returns the same issue with another message.
    package func with(message: String) -> ManifestIssue {
        ManifestIssue(severity: severity, code: code, message: message, file: file, line: line, column: column)
    }
}
