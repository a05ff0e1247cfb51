// swift-tools-version: 6.2
import PackageDescription

// Runs the adapters to WebKit where there is none: the module of this name declares what they use of it, and ends the
// process where the real one does. Links compile the library's sources here, so that nothing of it becomes public.
let package = Package(
    name: "FakeWebKit",
    targets: [
        .target(name: "WebKit"),
        .target(name: "LocalSubstitutionCache", dependencies: ["WebKit"]),
        .target(name: "LoopbackServer"),
        .target(name: "TestSupport", dependencies: ["LoopbackServer"]),
        .testTarget(
            name: "FakeWebKitTests",
            dependencies: ["LocalSubstitutionCache", "LoopbackServer", "TestSupport", "WebKit"]
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
