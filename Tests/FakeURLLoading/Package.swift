// swift-tools-version: 6.2
import PackageDescription

// On Linux, runs the library's loading code for Apple's systems. `APPLE_LOADING` selects that code. The URL loading
// types that it uses are declared in the same module, where they take precedence over Foundation's. They behave as
// Apple's headers and pages say (README.md lists them), and crash if the library breaks that contract.
let others = [
    "LocalSubstitutionDevelopment", "LocalSubstitutionWebViews", "LoopbackServer", "SubstituteCheckKit",
    "SubstituteKit", "SubstitutionChecking", "SubstitutionRules", "substitute", "substitute-check",
]

let package = Package(
    name: "FakeURLLoading",
    targets: [
        .target(
            name: "LocalSubstitutionCache",
            path: ".",
            exclude: ["README.md", "Tests"] + others.map { "Library/\($0)" }
                + ["Sessions", "LocalSubstitutionCache.docc", "PrivacyInfo.xcprivacy"].map {
                    "Library/LocalSubstitutionCache/\($0)"
                },
            sources: [
                "Library/LocalSubstitutionCache/LocalSubstitutionCache.swift",
                "Library/LocalSubstitutionCache/Archive",
                "Library/LocalSubstitutionCache/Files",
                "Library/LocalSubstitutionCache/Loading",
                "Library/LocalSubstitutionCache/Manifest",
                "Library/LocalSubstitutionCache/Matching",
                "Library/LocalSubstitutionCache/Standards",
                "Sources/URLLoading",
            ],
            swiftSettings: [.define("APPLE_LOADING")]
        ),
        .testTarget(name: "FakeURLLoadingTests", dependencies: ["LocalSubstitutionCache"]),
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
