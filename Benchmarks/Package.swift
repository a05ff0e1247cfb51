// swift-tools-version: 6.2
import PackageDescription

// A package at a path is known by the name of its folder, which can be any name in a clone.
let library = Context.packageDirectory.split(separator: "/").dropLast().last.map(String.init) ?? ""

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [.package(path: "..")],
    targets: [
        // A symbolic link to the server, which is not a product of the library. The library's target has another name.
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
