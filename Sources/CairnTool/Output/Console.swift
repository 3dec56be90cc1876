// The output of a command: to the terminal, a file, or a test.
//
// Standard output is collected and written in portions; errors and progress are written immediately, after
// everything printed before them. Progress is one line on standard error, only if that is a terminal.
//
// Output errors are remembered, and reported when the command ends.
//
// Threads: one; a command runs in one thread, and what it prints comes from there.

import CairnInspection
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The output of a command.
final class Console: @unchecked Sendable {
    // A command prints from its own thread, and no other thread uses the console during that time.

    /// The console of the running command.
    @TaskLocal static var current = Console.standard

    /// The console of the process.
    static let standard = Console(
        output: { _ = try FileDescriptor.standardOutput.writeAll($0) },
        // An error on standard error cannot be reported.
        errors: { _ = try? FileDescriptor.standardError.writeAll($0) },
        isTerminal: isatty(1) == 1, showsProgress: isatty(2) == 1)

    /// Whether a person reads the output immediately.
    let isTerminal: Bool
    /// Whether progress is shown, in place of the previous progress.
    let showsProgress: Bool
    /// The error that prevented a part of the output; nil if all of it was written.
    private(set) var outputError: (any Error)?
    private let output: (UnsafeRawBufferPointer) throws -> Void
    private let errors: (UnsafeRawBufferPointer) -> Void
    private var collected: [UInt8] = []
    private var progressWidth = 0

    /// Passes the output in portions, and the errors immediately.
    init(
        output: @escaping (UnsafeRawBufferPointer) throws -> Void,
        errors: @escaping (UnsafeRawBufferPointer) -> Void, isTerminal: Bool = false,
        showsProgress: Bool = false
    ) {
        self.output = output
        self.errors = errors
        self.isTerminal = isTerminal
        self.showsProgress = showsProgress
    }

    /// Prints a line.
    func print(_ line: String = "") {
        endProgress()
        collected.append(contentsOf: line.utf8)
        collected.append(UInt8(ascii: "\n"))
        if collected.count >= 64 << 10 { flush() }
    }

    /// Returns a text that stands out on a terminal.
    func emphasized(_ text: String) -> String {
        isTerminal ? "\u{1B}[1m\(text)\u{1B}[0m" : text
    }

    /// Prints bytes unchanged.
    func print(bytes: UnsafeRawBufferPointer) {
        endProgress()
        flush()
        write(bytes)
    }

    /// Prints lines to standard error. Content of lists and stores in them cannot control a terminal.
    func printError(_ text: String) {
        endProgress()
        flush()
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let visible = lines.map { PlainText.visible(String($0)) }.joined(separator: "\n")
        Array((visible + "\n").utf8).withUnsafeBytes(errors)
    }

    /// Writes the collected output.
    func flush() {
        collected.withUnsafeBytes(write)
        collected.removeAll(keepingCapacity: true)
    }

    /// Shows the progress of a job, in place of the previous progress.
    func progress(_ text: @autoclosure () -> String) {
        guard showsProgress else { return }
        flush()
        let line = text()
        let blank = String(repeating: " ", count: max(0, progressWidth - line.count))
        progressWidth = line.count
        Array(("\r" + line + blank).utf8).withUnsafeBytes(errors)
    }

    /// Removes the progress line.
    func endProgress() {
        guard progressWidth > 0 else { return }
        let blank = "\r" + String(repeating: " ", count: progressWidth) + "\r"
        progressWidth = 0
        Array(blank.utf8).withUnsafeBytes(errors)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) {
        // Nothing may follow a gap.
        guard outputError == nil, !bytes.isEmpty else { return }
        do { try output(bytes) } catch { outputError = error }
    }
}
