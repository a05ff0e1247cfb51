// swift-tools-version: 6.2
import PackageDescription

// Runs on Linux how the library loads on Apple's systems. `APPLE_LOADING` chooses that code, and the types of URL
// loading that it uses are declared in the same module, where they come before Foundation's. They do what Apple's
// headers and pages say, and end the process at a breach of that contract; README.md lists it.
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
