// swift-tools-version: 6.2
import PackageDescription

// On Linux, this package runs the library's code for Apple's systems. `APPLE_LOADING` selects its loading code, and the
// package adds replacements for Foundation's URL loading types to the library's module, where they take precedence. Its
// module `WebKit` declares the part of WebKit that the adapters use. README.md lists how the replacements behave, and
// the source of each behaviour. They crash if the library uses them in a way that Apple's documentation forbids.
let catalogue = ["LocalSubstitutionCache.docc", "PrivacyInfo.xcprivacy"].map { "Library/LocalSubstitutionCache/\($0)" }
let unused = [
    "LocalSubstitutionDevelopment", "SubstituteCheckKit", "SubstituteKit", "SubstitutionChecking", "substitute",
    "substitute-check",
].map { "Library/\($0)" }
let others = ["LocalSubstitutionArchive", "LocalSubstitutionWebViews", "LoopbackServer", "SubstitutionRules"].map {
    "Library/\($0)"
}

let package = Package(
    name: "Fakes",
    targets: [
        .target(
            name: "LocalSubstitutionCache",
            path: ".",
            exclude: ["README.md", "Tests", "TestSupport", "Sources/WebKit", "Sources/Names"] + catalogue + unused
                + others,
            sources: ["Library/LocalSubstitutionCache", "Sources/URLLoading"],
            swiftSettings: [.define("APPLE_LOADING")]
        ),
        .target(name: "SubstitutionRules", dependencies: ["LocalSubstitutionCache"], path: "Library/SubstitutionRules"),
        .target(
            name: "LocalSubstitutionArchive",
            dependencies: ["LocalSubstitutionCache", "SubstitutionRules"],
            path: "Library/LocalSubstitutionArchive"
        ),
        .target(name: "WebKit", path: "Sources/WebKit"),
        .target(
            name: "LocalSubstitutionWebViews",
            dependencies: ["LocalSubstitutionArchive", "LocalSubstitutionCache", "SubstitutionRules", "WebKit"],
            path: ".",
            exclude: ["README.md", "Tests", "TestSupport", "Sources/WebKit", "Sources/URLLoading"]
                + ["Library/LocalSubstitutionCache"] + unused + others.filter { !$0.hasSuffix("WebViews") },
            sources: ["Library/LocalSubstitutionWebViews", "Sources/Names"],
            swiftSettings: [.define("APPLE_LOADING")]
        ),
        .target(name: "LoopbackServer", path: "Library/LoopbackServer"),
        .target(name: "TestSupport", dependencies: ["LocalSubstitutionCache", "LoopbackServer"], path: "TestSupport"),
        .testTarget(
            name: "FakesTests",
            dependencies: [
                "LocalSubstitutionArchive", "LocalSubstitutionCache", "LocalSubstitutionWebViews", "LoopbackServer",
                "SubstitutionRules", "TestSupport", "WebKit",
            ],
            exclude: [
                "ArchiveSuite", "CurrentTable+Finishing", "Fixtures", "InstalledSuite", "Order", "Site", "TaskKind",
                "TwoFolders",
            ].map { "Shared/\($0).swift" }
        ),
    ]
)

for target in package.targets {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}
