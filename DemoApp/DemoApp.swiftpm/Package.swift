// swift-tools-version: 6.2
// An App Playground. Developers report that Xcode finds a package outside the playground
// (https://zenn.dev/kok_i/articles/c97656d4c766e4), so open this folder in Xcode. Swift Playgrounds accepts only
// packages on a server. To use Swift Playgrounds, copy this folder, and replace the library's path with the library's
// URL. The library's own package does not compile this folder.
import AppleProductTypes
import PackageDescription

// SwiftPM identifies a local package by its folder's name. A clone's folder can have any name, so the name is taken
// from the path.
let library = Context.packageDirectory.split(separator: "/").dropLast(2).last.map(String.init) ?? ""

let package = Package(
    name: "DemoApp",
    platforms: [.iOS(.v17)],
    products: [
        .iOSApplication(
            name: "DemoApp",
            targets: ["DemoApp"],
            displayVersion: "1.0",
            bundleVersion: "1",
            appIcon: .placeholder(icon: .images),
            accentColor: .presetColor(.teal),
            supportedDeviceFamilies: [.pad, .phone],
            supportedInterfaceOrientations: [.portrait, .landscapeLeft, .landscapeRight]
        )
    ],
    dependencies: [.package(path: "../..")],
    targets: [
        .executableTarget(
            name: "DemoApp",
            dependencies: [
                .product(name: "LocalSubstitutionCache", package: library),
                .product(name: "LocalSubstitutionDevelopment", package: library),
                .product(name: "LocalSubstitutionWebViews", package: library),
            ],
            path: ".",
            resources: [.copy("Substitutions")]
        )
    ]
)
