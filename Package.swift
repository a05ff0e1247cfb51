// swift-tools-version: 6.2
import PackageDescription

// A plugin's tool is compiled a second time, so `CheckManifest` has a small one, and the other plugins build theirs
// when they run. `WITHOUT_PLUGINS=1 swift build` leaves all out, and adds the programs in `Benchmarks`, which no app
// needs.
let hasPlugins = Context.environment["WITHOUT_PLUGINS"] == nil

let package = Package(
    name: "LocalSubstitutionCache",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "LocalSubstitutionCache", targets: ["LocalSubstitutionCache"]),
        .library(name: "LocalSubstitutionArchive", targets: ["LocalSubstitutionArchive"]),
        .library(name: "LocalSubstitutionWebViews", targets: ["LocalSubstitutionWebViews"]),
        .library(name: "LocalSubstitutionDevelopment", targets: ["LocalSubstitutionDevelopment"]),
        .executable(name: "substitute", targets: ["substitute"]),
        .plugin(name: "CheckManifest", targets: ["CheckManifest"]),
        .plugin(name: "SubstituteCommand", targets: ["SubstituteCommand"]),
        .plugin(name: "SubstituteEdit", targets: ["SubstituteEdit"]),
    ],
    targets: [
        .target(name: "LocalSubstitutionCache", resources: [.copy("PrivacyInfo.xcprivacy")]),
        .target(name: "SubstitutionRules", dependencies: ["LocalSubstitutionCache"]),
        .target(name: "LocalSubstitutionArchive", dependencies: ["LocalSubstitutionCache", "SubstitutionRules"]),
        .target(
            name: "SubstitutionChecking",
            dependencies: ["LocalSubstitutionCache", "SubstitutionRules"],
            resources: [.embedInCode("Resources")]
        ),
        .target(
            name: "LocalSubstitutionDevelopment",
            dependencies: ["LocalSubstitutionCache", "SubstitutionChecking", "SubstitutionRules"]
        ),
        .target(
            name: "LocalSubstitutionWebViews",
            dependencies: ["LocalSubstitutionArchive", "LocalSubstitutionCache", "SubstitutionRules"]
        ),
        .target(name: "LoopbackServer"),
        .target(
            name: "TestSupport",
            dependencies: ["LocalSubstitutionCache", "LoopbackServer"],
            path: "Tests/TestSupport"
        ),
        .target(
            name: "DemoSite",
            dependencies: ["LocalSubstitutionCache", "LoopbackServer"],
            path: "Demo/Site",
            resources: [.copy("../../Resources/Substitutions"), .copy("RemoteSite")]
        ),
        // What this uses is all that the first `swift run Demo` compiles.
        .executableTarget(
            name: "Demo",
            dependencies: ["DemoSite", "LocalSubstitutionCache", "LoopbackServer"],
            path: "Demo/Demo"
        ),
        .executableTarget(
            name: "Showcase",
            dependencies: ["DemoSite", "LocalSubstitutionCache", "LocalSubstitutionDevelopment", "LoopbackServer"],
            path: "Demo/Showcase",
            resources: [.copy("compare.html")]
        ),
        .target(
            name: "SubstituteCheckKit",
            dependencies: ["LocalSubstitutionCache", "SubstitutionChecking", "SubstitutionRules"],
            resources: [.embedInCode("Resources")]
        ),
        .executableTarget(name: "substitute-check", dependencies: ["LocalSubstitutionCache"]),
        .target(
            name: "SubstituteKit",
            dependencies: [
                "LocalSubstitutionCache", "LocalSubstitutionDevelopment", "LoopbackServer", "SubstituteCheckKit",
                "SubstitutionChecking", "SubstitutionRules",
            ],
            resources: [.embedInCode("Resources")]
        ),
        .executableTarget(name: "substitute", dependencies: ["LoopbackServer", "SubstituteCheckKit", "SubstituteKit"]),
        .plugin(name: "CheckManifest", capability: .buildTool(), dependencies: ["substitute-check"]),
        .plugin(
            name: "SubstituteCommand",
            capability: .command(
                intent: .custom(verb: "substitute", description: "Checks, explains and shows a manifest.")
            )
        ),
        .plugin(
            name: "SubstituteEdit",
            capability: .command(
                intent: .custom(verb: "substitute-edit", description: "Makes, fills and updates a manifest's folder."),
                permissions: [
                    .writeToPackageDirectory(reason: "It writes the manifest and the files beside it."),
                    .allowNetworkConnections(
                        scope: .all(),
                        reason:
                            "It loads the URLs that you name or the manifest names, and serves the preview to this machine."
                    ),
                ]
            )
        ),
        // The app of the tests in which system calls fail.
        .executableTarget(
            name: "FailingCallsApp",
            dependencies: [
                "LocalSubstitutionArchive", "LocalSubstitutionCache", "LocalSubstitutionDevelopment", "LoopbackServer",
            ],
            path: "Tests/FailingCalls",
            exclude: ["FailingCalls.c"]
        ),
        .testTarget(
            name: "LocalSubstitutionCacheTests",
            // A process can install only one cache at a time. So all tests of this package that install a cache are in
            // this target, including those of `LocalSubstitutionArchive` and `LocalSubstitutionDevelopment`.
            dependencies: [
                "LocalSubstitutionArchive", "LocalSubstitutionCache", "LocalSubstitutionDevelopment", "LoopbackServer",
                "SubstitutionRules", "TestSupport",
            ],
            resources: [.copy("../../Resources/Substitutions"), .copy("Fixtures")]
        ),
        .testTarget(
            name: "SubstitutionCheckingTests",
            dependencies: ["LocalSubstitutionCache", "SubstitutionChecking", "SubstitutionRules", "TestSupport"],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "LocalSubstitutionDevelopmentTests",
            dependencies: ["LocalSubstitutionCache", "LocalSubstitutionDevelopment", "LoopbackServer", "TestSupport"]
        ),
        .testTarget(
            name: "LocalSubstitutionWebViewsTests",
            dependencies: [
                "LocalSubstitutionArchive", "LocalSubstitutionWebViews", "LocalSubstitutionDevelopment",
                "SubstitutionRules", "LocalSubstitutionCache", "LoopbackServer", "TestSupport",
            ],
            resources: [.copy("Fixtures")]
        ),
        .testTarget(
            name: "SubstituteTests",
            dependencies: [
                "SubstituteKit", "SubstituteCheckKit", "substitute", "LocalSubstitutionCache", "SubstitutionRules",
                "FailingCallsApp", "LoopbackServer", "TestSupport",
            ],
            exclude: ["Fixtures"]
        ),
    ]
)

if !hasPlugins {
    package.products.removeAll { $0 is Product.Plugin }
    package.targets.removeAll { $0.type == .plugin }
    package.targets += [
        .executableTarget(
            name: "Benchmarks",
            dependencies: ["LocalSubstitutionCache", "LocalSubstitutionDevelopment", "LoopbackServer"],
            path: "Benchmarks/Benchmarks"
        ),
        .executableTarget(
            name: "SmallApp",
            dependencies: ["LocalSubstitutionCache"],
            path: "Benchmarks/SmallApp"
        ),
        .executableTarget(
            name: "Soak",
            dependencies: ["LocalSubstitutionCache", "LoopbackServer"],
            path: "Benchmarks/Soak"
        ),
    ]
}

// The thread sanitizer finds nothing in the tests of code that runs on one thread.
if Context.environment["WITHOUT_TOOL_TESTS"] != nil {
    package.targets.removeAll { ["SubstituteTests", "SubstitutionCheckingTests"].contains($0.name) }
}

for target in package.targets where target.type != .plugin {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
