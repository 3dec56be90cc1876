// Which call of a disk fails, and how: the decision behind FaultInjectingFileSystem, as a pure value.

import CairnFileSystem
import SystemPackage

struct FaultPlan: Sendable {
    enum Decision: Sendable, Equatable {
        case goOn
        /// Throws; a write first does its beginning of that many bytes.
        case fail(Errno, bytesFirst: Int)
        /// From this call on nothing works; a write first does its beginning of that many bytes.
        case crash(bytesFirst: Int)
    }

    private struct Fault {
        let operation: FileSystemError.Operation
        let file: String?
        let code: Errno
        let bytesFirst: Int
        let repeats: Bool
        var callsBefore: Int
    }

    private(set) var history: [FaultInjectingFileSystem.Call] = []
    private(set) var mutations = 0
    private(set) var hasCrashed = false
    private var faults: [Fault] = []
    private var crashAt: (mutation: Int, bytesFirst: Int)?

    mutating func fail(
        _ operation: FileSystemError.Operation, number: Int, of file: String?, with code: Errno,
        afterWriting bytes: Int, repeats: Bool
    ) {
        precondition(number >= 1, "calls are counted from 1")
        faults.append(
            Fault(
                operation: operation, file: file, code: code, bytesFirst: bytes, repeats: repeats,
                callsBefore: number - 1))
    }

    mutating func crash(atMutation number: Int, afterWriting bytes: Int) {
        precondition(number >= 1, "mutations are counted from 1")
        crashAt = (number, bytes)
    }

    mutating func crash() {
        hasCrashed = true
    }

    mutating func clear() {
        faults = []
        crashAt = nil
    }

    mutating func decide(_ call: FaultInjectingFileSystem.Call) -> Decision {
        if hasCrashed { return .fail(.ioError, bytesFirst: 0) }
        history.append(call)
        if call.isMutation {
            mutations += 1
            if let crashAt, mutations >= crashAt.mutation {
                hasCrashed = true
                return .crash(bytesFirst: crashAt.bytesFirst)
            }
        }
        var decision = Decision.goOn
        // Every fault counts the call, also those that come second to another.
        faults = faults.compactMap { fault in
            guard fault.operation == call.operation,
                fault.file == nil || call.path.lastComponent?.string.hasSuffix(fault.file!) == true
            else { return fault }
            var rest = fault
            if rest.callsBefore > 0 {
                rest.callsBefore -= 1
                return rest
            }
            if decision == .goOn { decision = .fail(fault.code, bytesFirst: fault.bytesFirst) }
            return fault.repeats ? fault : nil
        }
        return decision
    }
}
