// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "LocalSubstitutionCache",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "LocalSubstitutionCache", targets: ["LocalSubstitutionCache"])
    ],
    targets: [
        .target(name: "LocalSubstitutionCache"),
        .target(name: "LoopbackServer"),
        .executableTarget(
            name: "Demo",
            dependencies: ["LocalSubstitutionCache", "LoopbackServer"],
            path: "Demo",
            resources: [.copy("../Resources/Substitutions"), .copy("RemoteSite"), .copy("Showcase")]
        ),
        .testTarget(
            name: "LocalSubstitutionCacheTests",
            dependencies: ["LocalSubstitutionCache", "LoopbackServer"],
            resources: [.copy("../../Resources/Substitutions"), .copy("Fixtures")]
        ),
    ]
)

for target in package.targets {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
