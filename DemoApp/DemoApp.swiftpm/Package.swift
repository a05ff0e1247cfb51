// swift-tools-version: 6.2
// An App Playground. Open the folder in Xcode, which is reported to find a package beside it
// (https://zenn.dev/kok_i/articles/c97656d4c766e4). Swift Playgrounds takes packages only from servers, so it needs a
// copy of this folder that names the library's URL. The package around this folder does not compile it.
import AppleProductTypes
import PackageDescription

// A package at a path is known by the name of its folder, which can be any name in a clone.
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
