// swift-tools-version: 6.2
import PackageDescription

// A package at a path is known by the name of its folder, whatever that is in a clone.
let library = Context.packageDirectory.split(separator: "/").dropLast().last.map(String.init) ?? ""

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [.package(path: "..")],
    targets: [
        // A link: the server is no product of the library, whose target has the other name.
        .target(name: "BenchmarkServer"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                .product(name: "LocalSubstitutionCache", package: library),
                .product(name: "LocalSubstitutionDevelopment", package: library), "BenchmarkServer",
            ]
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
