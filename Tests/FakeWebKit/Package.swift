// swift-tools-version: 6.2
import PackageDescription

// This package runs the WebKit adapters on systems without WebKit. Its `WebKit` module declares the part of WebKit that
// the adapters use, and crashes where the real WebKit crashes. The package compiles the library's sources through
// symbolic links. The tests can therefore use internal declarations of the library.
let package = Package(
    name: "FakeWebKit",
    targets: [
        .target(name: "WebKit"),
        .target(
            name: "LocalSubstitutionCache",
            path: "Library/LocalSubstitutionCache",
            exclude: ["PrivacyInfo.xcprivacy"]
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
        .target(
            name: "LocalSubstitutionWebViews",
            dependencies: [
                "LocalSubstitutionArchive", "LocalSubstitutionCache", "SubstitutionRules", "WebKit",
            ],
            path: "Library/LocalSubstitutionWebViews"
        ),
        .target(name: "LoopbackServer", path: "Library/LoopbackServer"),
        .target(name: "TestSupport", dependencies: ["LocalSubstitutionCache", "LoopbackServer"], path: "TestSupport"),
        .testTarget(
            name: "FakeWebKitTests",
            dependencies: ["LocalSubstitutionWebViews", "SubstitutionRules", "LoopbackServer", "TestSupport", "WebKit"]
        ),
    ]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
