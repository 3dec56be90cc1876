// Tests that mostly wait for others run ahead of those that compute.
//
// All tests begin at once. One that waits, for a browser or an answer of a server, goes behind all others each time that it goes
// on: it ends when nothing else is left, and the last minutes have one test at a time. Ahead of the others it waits while
// they compute. So does a suite whose tests run one after the other: it begins each of them anew. Hence the trait is that of
// the suite as a whole, whose priority its tests inherit, and not of each test, whose turn comes late.

public import Testing

/// Runs a test with a higher priority than others.
public struct AheadTrait: SuiteTrait, TestTrait, TestScoping {
    /// Once for all tests of a suite.
    public var isRecursive: Bool { false }

    /// Runs the test, ahead of others.
    public func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withoutActuallyEscaping(function) { function in
            try await Task(priority: .high) { try await function() }.value
        }
    }
}

extension Trait where Self == AheadTrait {
    /// The test, or each of the suite, runs ahead of others: it mostly waits.
    public static var ahead: AheadTrait { AheadTrait() }
}
