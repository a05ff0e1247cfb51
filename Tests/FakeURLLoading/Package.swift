// swift-tools-version: 6.2
import PackageDescription

// On Linux, this package runs the library's loading code for Apple's systems. `APPLE_LOADING` selects this code. The
// package adds replacements for Foundation's URL loading types to the library's module. In this module, the
// replacements take precedence over Foundation's types. README.md lists how the replacements behave, and the
// source of each behaviour. The replacements crash if the library uses them in a way that Apple's documentation
// forbids.
let others = [
    "LocalSubstitutionArchive", "LocalSubstitutionDevelopment", "LocalSubstitutionWebViews", "LoopbackServer",
    "SubstituteCheckKit", "SubstituteKit", "SubstitutionChecking", "SubstitutionRules", "substitute",
    "substitute-check",
]

let package = Package(
    name: "FakeURLLoading",
    targets: [
        .target(
            name: "LocalSubstitutionCache",
            path: ".",
            exclude: ["README.md", "Tests", "TestSupport"] + others.map { "Library/\($0)" }
                + ["LocalSubstitutionCache.docc", "PrivacyInfo.xcprivacy"].map {
                    "Library/LocalSubstitutionCache/\($0)"
                },
            sources: [
                "Library/LocalSubstitutionCache/SubstitutionCache.swift",
                "Library/LocalSubstitutionCache/SubstitutionCache+Newer.swift",
                "Library/LocalSubstitutionCache/Files",
                "Library/LocalSubstitutionCache/Loading",
                "Library/LocalSubstitutionCache/Manifest",
                "Library/LocalSubstitutionCache/Matching",
                "Library/LocalSubstitutionCache/Observing",
                "Library/LocalSubstitutionCache/Standards",
                "Sources/URLLoading",
            ],
            swiftSettings: [.define("APPLE_LOADING")]
        ),
        .target(
            name: "SubstitutionRules",
            dependencies: ["LocalSubstitutionCache"],
            path: "Library/SubstitutionRules"
        ),
        .target(
            name: "LocalSubstitutionArchive",
            dependencies: ["LocalSubstitutionCache", "SubstitutionRules"],
            path: "Library/LocalSubstitutionArchive"
        ),
        .target(name: "LoopbackServer", path: "Library/LoopbackServer"),
        .target(
            name: "TestSupport",
            dependencies: ["LocalSubstitutionCache", "LoopbackServer"],
            path: "TestSupport"
        ),
        .testTarget(
            name: "FakeURLLoadingTests",
            dependencies: ["LocalSubstitutionArchive", "LocalSubstitutionCache", "LoopbackServer", "TestSupport"]
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
