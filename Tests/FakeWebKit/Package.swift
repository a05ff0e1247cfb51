// swift-tools-version: 6.2
import PackageDescription

// Runs the WebKit adapters on systems without WebKit. The `WebKit` module here declares the part of WebKit that they
// use, and crashes where the real one does. Symbolic links let this package compile the library's sources itself, so
// that none of their declarations has to become public.
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
            name: "LocalSubstitutionWebViews",
            dependencies: ["LocalSubstitutionCache", "SubstitutionRules", "WebKit"],
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
