// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "feed-server",
    platforms: [.macOS(.v15)],
    dependencies: [
        // By name, so that a clone under any folder name resolves.
        .package(name: "cairn", path: "../../.."),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird",
            .upToNextMinor(from: "2.28.1")),
    ],
    targets: [
        .executableTarget(
            name: "FeedServer",
            dependencies: [
                .product(name: "Cairn", package: "cairn"),
                .product(name: "CairnInstruments", package: "cairn"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")])
    ]
)
