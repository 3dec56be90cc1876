// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "reading-list",
    platforms: [.macOS(.v15)],
    dependencies: [
        // By name, so that a clone under any folder name resolves.
        .package(name: "cairn", path: "../../..")
    ],
    targets: [
        // What the app and its extension share: the classes, and how the store is opened.
        .target(
            name: "ReadingList", dependencies: [.product(name: "Cairn", package: "cairn")],
            swiftSettings: settings),
        // The app.
        .executableTarget(
            name: "Reader", dependencies: ["ReadingList"], swiftSettings: settings),
        // The extension, a process of its own.
        .executableTarget(name: "Share", dependencies: ["ReadingList"], swiftSettings: settings),
    ]
)
