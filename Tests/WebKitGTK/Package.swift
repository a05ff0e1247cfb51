// swift-tools-version: 6.2
import PackageDescription

// This package compiles the library's sources through symbolic links. The tests can therefore use internal declarations
// of the library.
let debian: [SystemPackageProvider] = [.apt(["libwebkit2gtk-4.1-dev"])]

let package = Package(
    name: "WebKitGTK",
    targets: [
        .target(
            name: "LocalSubstitutionCache",
            path: "Library/LocalSubstitutionCache",
            exclude: ["PrivacyInfo.xcprivacy"]
        ),
        .target(name: "SubstitutionRules", dependencies: ["LocalSubstitutionCache"], path: "Library/SubstitutionRules"),
        .target(
            name: "LocalSubstitutionArchive",
            dependencies: ["LocalSubstitutionCache", "SubstitutionRules"],
            path: "Library/LocalSubstitutionArchive"
        ),
        .target(
            name: "LocalSubstitutionWebViews",
            dependencies: ["LocalSubstitutionArchive", "LocalSubstitutionCache", "SubstitutionRules"],
            path: "Library/LocalSubstitutionWebViews"
        ),
        .target(name: "LoopbackServer", path: "Library/LoopbackServer"),
        .target(name: "TestSupport", dependencies: ["LocalSubstitutionCache", "LoopbackServer"], path: "TestSupport"),
        .systemLibrary(name: "CWebKitGTK", pkgConfig: "webkit2gtk-4.1", providers: debian),
        .systemLibrary(name: "CWebKitPage", pkgConfig: "webkit2gtk-web-extension-4.1", providers: debian),
        // WebKit loads the dynamic library `PageRules` into the process of the pages.
        .target(name: "PageRules", dependencies: ["CWebKitPage"]),
        .target(
            name: "Browser",
            dependencies: [
                "CWebKitGTK", "LocalSubstitutionCache", "LocalSubstitutionWebViews", "LoopbackServer",
                "SubstitutionRules", "TestSupport",
            ]
        ),
        .testTarget(
            name: "WebKitGTKTests",
            dependencies: [
                "Browser", "LocalSubstitutionArchive", "LocalSubstitutionCache", "LocalSubstitutionWebViews",
                "LoopbackServer", "PageRules", "SubstitutionRules", "TestSupport",
            ],
            exclude: ["Pages"]
        ),
    ]
)

package.products = [.library(name: "PageRules", type: .dynamic, targets: ["PageRules"])]

for target in package.targets where target.type == .regular || target.type == .test {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
