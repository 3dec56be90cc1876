// Where a command's output goes: the terminal, a file, or a test.
//
// Standard output is collected and written in portions; errors and progress are written at once, after what
// was printed before them. Progress is one line on standard error, only where that is a terminal.
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
    // A command prints from the thread it runs in, and no other has the console meanwhile.

    /// The console of the command that is running.
    @TaskLocal static var current = Console.standard

    /// The console of the process.
    static let standard = Console(
        output: { _ = try FileDescriptor.standardOutput.writeAll($0) },
        // There is nobody to tell that nobody can be told.
        errors: { _ = try? FileDescriptor.standardError.writeAll($0) },
        isTerminal: isatty(1) == 1, showsProgress: isatty(2) == 1)

    /// Whether the output is read by a person at once.
    let isTerminal: Bool
    /// Whether progress is shown, over what was shown before.
    let showsProgress: Bool
    /// Why a part of the output could not be written; nil if all of it was.
    private(set) var outputError: (any Error)?
    private let output: (UnsafeRawBufferPointer) throws -> Void
    private let errors: (UnsafeRawBufferPointer) -> Void
    private var collected: [UInt8] = []
    private var progressWidth = 0

    /// Gives the output in portions, and the errors at once.
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

    /// A text that stands out where a person reads it at once.
    func emphasized(_ text: String) -> String {
        isTerminal ? "\u{1B}[1m\(text)\u{1B}[0m" : text
    }

    /// Prints bytes as they are.
    func print(bytes: UnsafeRawBufferPointer) {
        endProgress()
        flush()
        write(bytes)
    }

    /// Prints lines where errors go. What a list or a store has brought into them does nothing to a terminal.
    func printError(_ text: String) {
        endProgress()
        flush()
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let visible = lines.map { PlainText.visible(String($0)) }.joined(separator: "\n")
        Array((visible + "\n").utf8).withUnsafeBytes(errors)
    }

    /// Writes what was collected.
    func flush() {
        collected.withUnsafeBytes(write)
        collected.removeAll(keepingCapacity: true)
    }

    /// Shows how far a job is, over what was shown before.
    func progress(_ text: @autoclosure () -> String) {
        guard showsProgress else { return }
        flush()
        let line = text()
        let blank = String(repeating: " ", count: max(0, progressWidth - line.count))
        progressWidth = line.count
        Array(("\r" + line + blank).utf8).withUnsafeBytes(errors)
    }

    /// Takes the progress line away.
    func endProgress() {
        guard progressWidth > 0 else { return }
        let blank = "\r" + String(repeating: " ", count: progressWidth) + "\r"
        progressWidth = 0
        Array(blank.utf8).withUnsafeBytes(errors)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) {
        // Behind a gap nothing more may come.
        guard outputError == nil, !bytes.isEmpty else { return }
        do { try output(bytes) } catch { outputError = error }
    }
}
