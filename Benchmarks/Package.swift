// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "cairn-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        // By name, so that a clone under any folder name resolves.
        .package(name: "cairn", path: "..")
    ],
    targets: [
        // The first peer, through its C API.
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "CairnBenchmarks",
            dependencies: [.product(name: "Cairn", package: "cairn"), "CSQLite"],
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
