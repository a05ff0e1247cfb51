// swift-tools-version: 6.2
import PackageDescription

// The sources are compiled here through links, so that no declaration must be public for these tests.
let package = Package(
    name: "WebKitGTK",
    targets: [
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
            dependencies: ["LocalSubstitutionCache", "SubstitutionRules"],
            path: "Library/LocalSubstitutionWebViews"
        ),
        .target(name: "LoopbackServer", path: "Library/LoopbackServer"),
        .target(name: "TestSupport", dependencies: ["LocalSubstitutionCache", "LoopbackServer"], path: "TestSupport"),
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
        // Runs in the pages' process.
        .target(name: "PageRules", dependencies: ["CWebKitPage"]),
        .target(
            name: "Browser",
            dependencies: [
                "CWebKitGTK", "LocalSubstitutionCache", "LocalSubstitutionWebViews", "LoopbackServer",
                "SubstitutionRules",
            ]
        ),
        .executableTarget(
            name: "Look",
            dependencies: [
                "Browser", "LocalSubstitutionCache", "LocalSubstitutionWebViews", "LoopbackServer", "SubstitutionRules",
            ]
        ),
        .testTarget(
            name: "WebKitGTKTests",
            dependencies: [
                "Browser", "LocalSubstitutionCache", "LocalSubstitutionWebViews", "LoopbackServer", "PageRules",
                "SubstitutionRules", "TestSupport",
            ],
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
