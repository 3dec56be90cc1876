// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

/// CI sets CAIRN_WARNINGS=error; elsewhere a new compiler's new warning must stop nobody.
let warningsAreErrors = Context.environment["CAIRN_WARNINGS"] == "error"

/// Every Swift target is built with the same rules, so that a file means the same wherever it lies.
let rules: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]
let settings = rules + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : [])

/// Files, descriptors and error numbers with types; the file system seam stands on it.
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
/// The command line of the tool.
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

/// What servers log and count with: for the adapters in CairnInstruments alone.
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")

/// The HTTP server of `cairn studio`. It is small, depends on no other package and speaks Swift 6: the tool, which README's
/// first command builds, takes a few seconds longer with it, where SwiftNIO and what stands on it take minutes.
let http: [Target.Dependency] = [
    .product(name: "FlyingFox", package: "FlyingFox"),
    .product(name: "FlyingSocks", package: "FlyingFox"),
]

/// Swift's syntax tree, for the macros alone: whoever does not import Cairn does not build it.
let syntax = [
    "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftDiagnostics", "SwiftParser",
].map { Target.Dependency.product(name: $0, package: "swift-syntax") }

/// The table of the layers of a module of several folders, which `.ci/layers` reads.
let layers = ["LAYERS.md"]

func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["CairnTestSupport"], swiftSettings: settings)
}

let package = Package(
    name: "cairn",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Cairn", targets: ["Cairn"]),
        // By itself: whoever does not import it builds neither swift-log nor swift-metrics.
        .library(name: "CairnInstruments", targets: ["CairnInstruments"]),
        // Stores in a PostgreSQL database: a product of its own, as it needs libpq.
        .library(name: "CairnPostgres", targets: ["CairnPostgres"]),
        // Core Data's names, for code that comes over from Apple's platforms.
        .library(name: "CoreData", targets: ["CoreData"]),
        // The first command of README builds this one: it knows stores in folders, and no libpq.
        .executable(name: "cairn", targets: ["CairnMain"]),
        // The same with stores in PostgreSQL.
        .executable(name: "cairn-postgres", targets: ["CairnPostgresMain"]),
        // Rewrites sources that use Core Data: a product of its own, as it needs swift-syntax, which the tool does without.
        .executable(name: "cairn-port", targets: ["CairnPortMain"]),
    ],
    dependencies: [
        .package(
            url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
        .package(url: "https://github.com/apple/swift-system", .upToNextMinor(from: "1.8.1")),
        .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
        .package(url: "https://github.com/apple/swift-metrics", .upToNextMinor(from: "2.13.0")),
        .package(url: "https://github.com/swhitty/FlyingFox", .upToNextMinor(from: "0.27.1")),
        .package(url: "https://github.com/swiftlang/swift-syntax", .upToNextMinor(from: "603.0.1")),
    ],
    targets: [
        .target(
            name: "CCairn",
            cSettings: warningsAreErrors ? [.treatAllWarnings(as: .error)] : []),
        // The module map links lz4 itself: no pkg-config is needed.
        .systemLibrary(name: "CLZ4", providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
        // What stores of Core Data are read with: SQLite their files, zlib the model that they keep in them. Both
        // come from the system, which has them anyway, and only the tool's import of such stores is linked with
        // them: whoever uses the library needs neither.
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        // The client library of PostgreSQL, for stores that lie in a database: only who imports CairnPostgres is linked
        // with it.
        .systemLibrary(name: "CLibPQ", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        module("CairnModel", exclude: layers),
        module("CairnStore", ["CairnModel"], exclude: layers),
        module("CairnFormat", ["CCairn", "CLZ4"], exclude: layers),
        module("CairnFileSystem", ["CCairn", system]),
        module(
            "CairnLog",
            ["CairnStore", "CairnModel", "CairnFormat", "CairnFileSystem", "CCairn", system],
            exclude: layers),
        // What is done with a whole store, each a module of its own above the engine.
        module(
            "CairnMoving",
            ["CairnLog", "CairnStore", "CairnModel", "CairnFormat", "CairnFileSystem", system]),
        module(
            "CairnMigration",
            ["CairnLog", "CairnStore", "CairnModel", "CairnFormat", "CairnFileSystem", system]),
        module("CairnObjects", ["CairnStore", "CairnModel", "CCairn"], exclude: layers),
        module(
            "CairnPostgres",
            [
                "CLibPQ", "CairnMigration", "CairnMoving", "CairnLog", "CairnStore", "CairnModel",
                "CairnFormat",
            ], exclude: layers),
        module("CairnInstruments", ["CairnStore", "CairnModel", logging, metrics]),
        module(
            "CairnInspection", ["CairnModel", "CairnStore", "CairnFormat", system], exclude: layers),
        // Stores written by Core Data, read and brought over: for the tool alone.
        module(
            "CairnCoreData",
            [
                "CairnLog", "CairnStore", "CairnModel", "CairnFileSystem", "CSQLite", "CZlib",
                system,
            ], exclude: layers),
        // The page of `cairn studio`: its files, put into the binary by the compiler.
        .target(
            name: "CStudioPage", exclude: ["page"],
            cSettings: warningsAreErrors ? [.treatAllWarnings(as: .error)] : []),
        // The server of `cairn studio`: it knows no stores.
        module("CairnStudio", ["CStudioPage", system] + http),
        // Pictures as SVG, of plain values: what the tool's report and studio show.
        module("CairnPictures", ["CairnInspection"], exclude: layers),
        // The command line tool: all its commands, and what it is told of the kinds of stores. Two programs are made of it.
        module(
            "CairnTool",
            [
                "CairnCoreData", "CairnPictures", "CairnInspection", "CairnObjects",
                "CairnMigration", "CairnMoving", "CairnLog", "CairnStore", "CairnModel",
                "CairnStudio", arguments, system,
            ], exclude: layers),
        .executableTarget(
            name: "CairnMain", dependencies: ["CairnTool"], swiftSettings: settings),
        .executableTarget(
            name: "CairnPostgresMain",
            dependencies: [
                "CairnTool", "CairnPostgres", "CairnInspection", "CairnMigration", "CairnMoving",
                "CairnLog", "CairnStore", "CairnModel",
            ], swiftSettings: settings),
        // Sources that use Core Data, rewritten for Linux.
        module(
            "CairnPort",
            [
                "CairnMacros", "CairnInspection", "CairnModel",
            ]
                + [
                    "SwiftSyntax", "SwiftParser", "SwiftParserDiagnostics", "SwiftDiagnostics",
                ].map { .product(name: $0, package: "swift-syntax") }, exclude: layers),
        .executableTarget(
            name: "CairnPortMain", dependencies: ["CairnPort", "CairnInspection", arguments],
            swiftSettings: settings),
        // The expansions are a library, so that tests can call them; the plug-in only names them. A test
        // that depends on a plug-in would have everything built a second time.
        module("CairnMacros", syntax),
        .macro(
            name: "CairnPlugin",
            dependencies: syntax + [
                "CairnMacros", .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
            ],
            swiftSettings: settings),
        module(
            "Cairn",
            [
                "CairnPlugin", "CairnObjects", "CairnMigration", "CairnMoving", "CairnLog",
                "CairnStore", "CairnModel",
            ]),

        // The types of the program by name and by protocol, of the Swift runtime.
        .target(
            name: "CSwiftTypes",
            cSettings: warningsAreErrors ? [.treatAllWarnings(as: .error)] : []),
        // Core Data's names, for code that comes over. Where Core Data itself is, it is not built.
        module(
            "CoreData",
            [
                "CSwiftTypes", "CairnPlugin", "Cairn", "CairnObjects", "CairnMigration",
                "CairnMoving", "CairnLog", "CairnStore", "CairnModel",
            ], exclude: layers),

        .target(
            name: "CairnTestSupport", dependencies: ["CairnFormat", "CairnFileSystem", system],
            path: "Tests/CairnTestSupport", swiftSettings: settings),
        // The stores that tests of the contract and of what stands on it run on, each of them on all.
        .target(
            name: "StoreBackends",
            dependencies: [
                "CairnPostgres", "PostgresServers", "CairnLog", "CairnStore", "CairnModel",
            ],
            path: "Tests/StoreBackends", swiftSettings: settings),
        // Servers for the tests that need some.
        .target(
            name: "PostgresServers", dependencies: ["CairnTestSupport"],
            path: "Tests/PostgresServers", swiftSettings: settings),
        tests(
            "CairnPostgresTests",
            [
                "CairnPostgres", "PostgresServers", "CLibPQ", "CairnObjects", "CairnMigration",
                "CairnMoving", "CairnLog", "CairnStore", "CairnModel",
            ]),
        // What every store has to do, by the contract alone.
        tests(
            "StoreConformance",
            [
                "StoreBackends", "PostgresServers", "CairnPostgres", "CairnMoving", "CairnLog",
                "CairnStore", "CairnModel", "CairnFormat",
            ]),
        // A process for the tests to kill.
        .executableTarget(
            name: "CairnKilledWriter",
            dependencies: [
                "CairnMoving", "CairnMigration", "CairnLog", "CairnStore", "CairnModel",
                "CairnTestSupport",
            ],
            path: "Tests/CairnKilledWriter", swiftSettings: settings),
        // What .ci/counts counts the instructions of. It builds no macros.
        .executableTarget(
            name: "CairnCountedWork",
            dependencies: ["CairnObjects", "CairnLog", "CairnStore", "CairnModel"],
            path: "Tests/CairnCountedWork", exclude: ["counts.txt"], swiftSettings: settings),
        tests("CairnModelTests", ["CairnModel"]),
        tests("CairnStoreTests", ["CairnStore", "CairnModel"]),
        tests("CairnFormatTests", ["CairnFormat"]),
        tests("CairnFileSystemTests", ["CairnFileSystem", "CCairn", system]),
        tests(
            "CairnLogTests",
            [
                "CairnMigration", "CairnMoving", "CairnLog", "CairnStore", "CairnModel",
                "CairnFormat", "CairnFileSystem", system, "CairnKilledWriter",
            ]),
        // What `cairn model --swift` made of Tests/Models, so that it is compiled. A module of its own: some of its
        // classes are called as types of Foundation are.
        .target(
            name: "CairnGeneratedModels", dependencies: ["Cairn"],
            path: "Tests/CairnGeneratedModels", swiftSettings: settings),
        tests("CairnObjectsTests", ["Cairn", "CairnGeneratedModels", "StoreBackends"]),
        // The examples of the documentation.
        tests(
            "CairnStoriesTests", ["Cairn", "CairnPostgres", "PostgresServers", "StoreBackends"]),
        tests(
            "CairnInstrumentsTests",
            [
                "CairnInstruments", "CairnObjects", "CairnLog", "CairnStore", "CairnModel", logging,
                metrics, .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ]),
        tests(
            "CairnMacrosTests",
            [
                "CairnMacros",
                .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
            ] + syntax),
        tests(
            "CairnToolTests",
            [
                "CairnTool", "CairnMain", "CairnPostgresMain", "PostgresServers", "CairnCoreData",
                "CairnPictures", "CairnInspection", "CairnObjects", "CairnMigration",
                "CairnMoving", "CairnLog", "CairnStore", "CairnModel", "CairnMacros", "CSQLite",
                "CZlib",
                .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
            ] + syntax),
        // As a program that comes over has it: Swift 5 mode, and no rules of ours.
        .testTarget(
            name: "CoreDataTests",
            dependencies: ["CoreData", "CairnLog", "CairnModel", "CairnTestSupport"],
            // The list of Core Data's names, for `.ci/names`.
            exclude: ["Names"], resources: [.copy("Stores/Catalogue.xcdatamodeld")],
            // Swift 5, as most programs that come over; members of modules that a file does not import are invisible, as in
            // projects that Xcode makes today.
            swiftSettings: [
                .swiftLanguageMode(.v5), .enableUpcomingFeature("MemberImportVisibility"),
            ] + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : [])),
        tests("CairnPortTests", ["CairnPort", "CairnPortMain", arguments]),
        tests("CairnPicturesTests", ["CairnPictures"]),
        tests(
            "CairnStudioTests",
            [
                "CairnStudio", "CairnTool", "CairnMain", "CairnPostgresMain", "PostgresServers",
                "CairnInspection", "CairnObjects", "CairnLog", "CairnStore", "CairnModel",
            ] + http),
        // The studio in a real browser, as a process of its own.
        tests("CairnStudioBrowserTests", ["CairnMain", "PostgresServers"]),
        tests(
            "CairnInspectionTests",
            ["CairnInspection", "CairnLog", "CairnStore", "CairnModel", "CairnFileSystem", system]),
    ]
)
