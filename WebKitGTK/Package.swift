// swift-tools-version: 6.2
import PackageDescription

// Links compile the library's sources here, so that nothing of it becomes public for these tests.
let package = Package(
    name: "WebKitGTK",
    targets: [
        .target(name: "LocalSubstitutionCache"),
        .target(name: "LoopbackServer"),
        .target(name: "TestSupport", dependencies: ["LoopbackServer"]),
        .systemLibrary(
            name: "CWebKitGTK",
            pkgConfig: "webkit2gtk-4.1",
            providers: [.apt(["libwebkit2gtk-4.1-dev"])]
        ),
        .systemLibrary(
            name: "CWebKitPage",
            pkgConfig: "webkit2gtk-web-extension-4.1",
            providers: [.apt(["libwebkit2gtk-4.1-dev"])]
        ),
        // Runs in the process of the pages.
        .target(name: "PageRules", dependencies: ["CWebKitPage"]),
        .target(name: "Browser", dependencies: ["CWebKitGTK", "LocalSubstitutionCache", "LoopbackServer"]),
        .executableTarget(name: "Look", dependencies: ["Browser", "LocalSubstitutionCache", "LoopbackServer"]),
        .testTarget(
            name: "WebKitGTKTests",
            dependencies: ["Browser", "LocalSubstitutionCache", "LoopbackServer", "PageRules", "TestSupport"],
            exclude: ["Pages"]
        ),
    ]
)

package.products = [.library(name: "PageRules", type: .dynamic, targets: ["PageRules"])]

for target in package.targets where target.type == .regular || target.type == .executable || target.type == .test {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
