// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "LocalSubstitutionCache", path: "..")],
    targets: [
        // A link: the server is no product of the library.
        .target(name: "LoopbackServer"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                .product(name: "LocalSubstitutionCache", package: "LocalSubstitutionCache"), "LoopbackServer",
            ]
        ),
        .executableTarget(
            name: "Soak",
            dependencies: [
                .product(name: "LocalSubstitutionCache", package: "LocalSubstitutionCache"), "LoopbackServer",
            ]
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
