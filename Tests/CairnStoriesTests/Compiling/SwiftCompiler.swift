// The compiler, asked for its opinion of some source files that use Cairn.
//
//   1. The modules and the macros are those that the tests were built with: they lie beside the test bundle, whatever
//      the configuration.
//   2. So is the compiler: the runtime that this process has loaded lies in its toolchain. Else it is the one on the PATH.
//   3. All files are one module. They are compiled as far as data races are looked for, behind type checking: a file with an
//      error of types hides the races of all, so that the two go to separate compilations.
//
// What is missing throws: nobody takes a compiler that was not found for one that has no objections.
// Threads: a value; compilations may run at the same time.

import CairnTestSupport
import Foundation

struct SwiftCompiler: Sendable {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// What the compiler said of a file.
    struct Diagnostic: Sendable, Hashable {
        /// The name of the source file, also of what a macro makes in it; empty if it is about none.
        var file: String
        let isError: Bool
        let text: String
    }

    private let program: URL
    private let leadingArguments: [String]
    /// The folder with the modules' folder and the macros.
    private let products: URL

    init() throws {
        products = try Self.findProducts()
        #if os(macOS)
            // Finds the toolchain and its SDK.
            program = URL(filePath: "/usr/bin/xcrun")
            leadingArguments = ["swiftc"]
        #else
            program = try Self.findCompiler()
            leadingArguments = []
        #endif
    }

    // MARK: Compiling

    /// What the compiler says of some files, by their names without ".swift".
    func diagnostics(of sources: [String: String], _ flags: [String] = []) async throws
        -> [Diagnostic]
    {
        let directory = try TemporaryDirectory()
        for (name, text) in sources {
            try text.write(
                to: directory.url(name + ".swift"), atomically: true, encoding: .utf8)
        }
        let output = try await run(
            [
                "-swift-version", "6", "-wmo", "-emit-sil", "-o", "/dev/null",
                "-diagnostic-style", "llvm", "-module-name", "Written",
                "-I", products.appending(path: "Modules").path,
                "-module-cache-path", products.appending(path: "ModuleCache").path,
                "-Xcc", "-fmodule-map-file=\(try writeModuleMap().path)",
                "-load-plugin-executable",
                products.appending(path: "CairnPlugin-tool").path + "#CairnPlugin",
            ] + flags + sources.keys.sorted().map { directory.path($0 + ".swift") }, in: directory)
        return try Self.diagnostics(in: output, files: Set(sources.keys))
    }

    /// The C modules that ours are built on. The compiler wants to see them by name; nothing of theirs shows in Cairn's
    /// interface. The file is the same each time, so that what the compiler keeps of it is too.
    private func writeModuleMap() throws -> URL {
        let url = products.appending(path: "CairnStoriesTests.build/CModules.modulemap")
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        let text = ["CCairn", "CLZ4", "CSystem"].map { "module \($0) {}\n" }.joined()
        if (try? String(contentsOf: url, encoding: .utf8)) != text {
            try text.write(to: url, atomically: true, encoding: .utf8)
        }
        return url
    }

    private func run(_ arguments: [String], in directory: TemporaryDirectory) async throws
        -> String
    {
        let url = directory.url("output")
        try Data().write(to: url)
        let output = try FileHandle(forWritingTo: url)
        defer { try? output.close() }
        let process = Process()
        process.executableURL = program
        process.arguments = leadingArguments + arguments
        process.standardOutput = output
        process.standardError = output
        var environment = ProcessInfo.processInfo.environment
        // It leaves what macros make where temporary files are.
        environment["TMPDIR"] = directory.path
        process.environment = environment
        try await inTime(for: "the compiler to end") {
            try await withCheckedThrowingContinuation {
                (ended: CheckedContinuation<Void, any Error>) in
                process.terminationHandler = { _ in ended.resume() }
                do {
                    try process.run()
                } catch {
                    process.terminationHandler = nil
                    ended.resume(throwing: error)
                }
            }
        }
        return try String(contentsOf: url, encoding: .utf8)
    }

    // MARK: Reading what it says

    /// The errors and warnings, each at the source file that it or the first of its notes with one names: what stands in the
    /// expansion of a macro has only its notes there.
    private static func diagnostics(in output: String, files: Set<String>) throws -> [Diagnostic] {
        var diagnostics: [Diagnostic] = []
        let line = /(.*):\d+:(?:\d+:)? (error|warning|note): (.*)/
        for text in output.split(separator: "\n") {
            guard let match = text.wholeMatch(of: line) else {
                // Without a place: of the driver, or a crash.
                if text.hasPrefix("error: ") {
                    diagnostics.append(
                        Diagnostic(file: "", isError: true, text: String(text.dropFirst(7))))
                }
                continue
            }
            let name = URL(filePath: String(match.1)).deletingPathExtension().lastPathComponent
            let file = files.contains(name) ? name : ""
            if match.2 == "note" {
                if let last = diagnostics.indices.last, diagnostics[last].file.isEmpty {
                    diagnostics[last].file = file
                }
                continue
            }
            // The group of the diagnostic is behind it.
            let said = match.3.replacing(/\ \[#\w+\]$/, with: "")
            diagnostics.append(
                Diagnostic(file: file, isError: match.2 == "error", text: String(said)))
        }
        return diagnostics
    }

    // MARK: Finding

    /// The folder of the build that the tests are of: what runs them is told where they are, or is they.
    private static func findProducts() throws -> URL {
        let files = CommandLine.arguments.map { URL(filePath: $0).standardizedFileURL }
            .filter { FileManager.default.fileExists(atPath: $0.path) }
        for file in files {
            var folder = file
            while folder.path != "/" {
                folder.deleteLastPathComponent()
                let module = folder.appending(path: "Modules/Cairn.swiftmodule").path
                let macros = folder.appending(path: "CairnPlugin-tool").path
                if FileManager.default.fileExists(atPath: module),
                    FileManager.default.isExecutableFile(atPath: macros)
                {
                    return folder
                }
            }
        }
        throw Missing(description: "there are no modules and macros beside \(files.map(\.path))")
    }

    private static func findCompiler() throws -> URL {
        var places: [URL] = []
        let loaded = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
        let runtime = loaded.split(separator: "\n").first { $0.hasSuffix("/libswiftCore.so") }
        if let runtime, let start = runtime.firstIndex(of: "/") {
            // usr/lib/swift/linux/libswiftCore.so, beside usr/bin.
            var folder = URL(filePath: String(runtime[start...]))
            for _ in 0..<4 { folder.deleteLastPathComponent() }
            places.append(folder.appending(path: "bin"))
        }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        places += path.split(separator: ":").map { URL(filePath: String($0)) }
        for place in places {
            let compiler = place.appending(path: "swiftc")
            if FileManager.default.isExecutableFile(atPath: compiler.path) { return compiler }
        }
        throw Missing(description: "there is no swiftc in \(places.map(\.path))")
    }
}
