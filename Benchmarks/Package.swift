// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "cairn-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        // By name, so that a clone under any folder name resolves.
        .package(name: "cairn", path: ".."),
        // What Swift programs keep their data with today: the peer that matters to their authors. No
        // part of Cairn depends on it.
        .package(url: "https://github.com/groue/GRDB.swift", .upToNextMinor(from: "7.10.0")),
        // The command line, as in the main package.
        .package(
            url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
    ],
    targets: [
        // The peers, each through its C API; the module maps link the libraries, without pkg-config.
        // Cairn itself has a module CSQLite, for stores of Core Data.
        .systemLibrary(name: "CBenchSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLMDB", providers: [.apt(["liblmdb-dev"])]),
        .systemLibrary(name: "CRocksDB", providers: [.apt(["librocksdb-dev"])]),
        // Cairn itself has a module CLibPQ.
        .systemLibrary(name: "CBenchPQ", providers: [.apt(["libpq-dev"])]),
        // One of the physical limits.
        .systemLibrary(name: "CBenchLZ4", providers: [.apt(["liblz4-dev"])]),
        // What must not be seen through by Swift's optimiser.
        .target(name: "CBlackHole"),
        .executableTarget(
            name: "CairnBenchmarks",
            dependencies: [
                .product(name: "Cairn", package: "cairn"),
                .product(name: "CoreData", package: "cairn"),
                .product(name: "CairnPostgres", package: "cairn"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                "CBenchSQLite", "CLMDB", "CRocksDB", "CBenchLZ4", "CBenchPQ", "CBlackHole",
            ],
            swiftSettings: settings),
    ]
)
