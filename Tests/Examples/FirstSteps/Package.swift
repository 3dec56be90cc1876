// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "first-steps",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "cairn", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "FirstSteps",
            dependencies: [.product(name: "Cairn", package: "cairn")])
    ]
)
