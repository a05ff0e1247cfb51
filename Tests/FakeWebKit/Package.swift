// swift-tools-version: 6.2
import PackageDescription

// Runs the adapters to WebKit where there is none: the module of this name declares what they use of it, and ends the
// process where the real one does. Links compile the sources here, so that nothing of them becomes public.
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
