// Every decoder on changed bytes: a value or an error, never a trap, a hang, or memory without a limit.

import CairnFormat
import CairnTestSupport
import Testing

@Suite("F-111: fuzzed structures")
struct StructureFuzzTests {
    @Test(
        "Changed bytes, with their checksums as they are and made right, give a value or an error",
        arguments: FuzzedStructure.all)
    func changed(_ structure: FuzzedStructure) throws {
        var accepted = 0
        var refused = 0
        try Rounds.run("fuzzed \(structure)", everyDay: 100, whole: 1_000_000) { random in
            var bytes = try structure.make(&random)
            if random.oneIn(50) {
                // What is not changed is accepted.
                try bytes.withUnsafeBytes { try structure.decode($0) }
            }
            random.mutate(&bytes, keepsLength: random.oneIn(2))
            if !random.oneIn(6) { structure.seal(&bytes) }
            // Memory of exactly the length: a read beyond it is seen by the address sanitizer.
            let memory = UnsafeMutableRawBufferPointer.allocate(
                byteCount: bytes.count, alignment: 8)
            defer { memory.deallocate() }
            memory.copyBytes(from: bytes)
            do {
                try structure.decode(UnsafeRawBufferPointer(memory))
                accepted += 1
            } catch is FormatError {
                refused += 1
            } catch is DecodingError {
                // The JSON of a schema.
                refused += 1
            }
        }
        #expect(refused > 0, "\(accepted) accepted")
        if Campaign.isLong {
            printLine("fuzzed \(structure): \(accepted) accepted, \(refused) refused")
        }
    }

    @Test("Names of files give a number or nothing")
    func names() {
        let words = ["segment", ".", "checkpoint-", "0", "18446744073709551615", "-", "é"]
            .map { Array($0.utf8) }
        Rounds.run("fuzzed names", everyDay: 500, whole: 1_000_000) { random in
            var bytes = Array(
                (random.oneIn(2) ? "0000000007.segment" : "checkpoint-00000000000000000007").utf8)
            random.mutate(&bytes, words: words)
            let name = String(decoding: bytes, as: UTF8.self)
            if let number = SegmentName.number(in: name) {
                #expect(SegmentName.name(of: number) == name)
            }
            if let commit = CheckpointName.commit(in: name) {
                #expect(CheckpointName.name(of: commit) == name)
            }
        }
    }
}
