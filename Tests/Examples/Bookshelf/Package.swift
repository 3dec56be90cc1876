// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "bookshelf",
    platforms: [.macOS(.v15)],
    dependencies: [
        // By name, so that a clone under any folder name resolves.
        .package(name: "cairn", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "Bookshelf",
            dependencies: [
                // Where Core Data itself is, the import finds that.
                .product(name: "CoreData", package: "cairn", condition: .when(platforms: [.linux]))
            ],
            resources: [.copy("Bookshelf.xcdatamodeld")],
            swiftSettings: [.swiftLanguageMode(.v5)])
    ]
)
