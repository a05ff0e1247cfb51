// swift-tools-version: 6.2
import PackageDescription

// SwiftPM identifies a package at a path by the name of its folder. A clone can have any folder name.
let library = Context.packageDirectory.split(separator: "/").dropLast().last.map(String.init) ?? ""

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [.package(path: "..")],
    targets: [
        // A symbolic link to the sources of `LoopbackServer`. The library does not export that target, so this package
        // cannot depend on it. The link has another name, because two targets in one build cannot have the same name.
        .target(name: "BenchmarkServer"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                .product(name: "LocalSubstitutionCache", package: library),
                .product(name: "LocalSubstitutionDevelopment", package: library), "BenchmarkServer",
            ]
        ),
        .executableTarget(
            name: "SmallApp",
            dependencies: [.product(name: "LocalSubstitutionCache", package: library)]
        ),
        .executableTarget(
            name: "Soak",
            dependencies: [
                .product(name: "LocalSubstitutionCache", package: library), "BenchmarkServer",
            ]
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
