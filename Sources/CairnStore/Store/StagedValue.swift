// Large values that are in a store before any object refers to them.
//
// While it waits for a save, such a value stands in an object as 48 bytes of a `Data` that nobody sees: whoever asks for the
// value gets the bytes themselves, and the store that saves it knows it by them. So it goes wherever values go: into undo
// steps, to parents, through merge policies. The memory of those bytes keeps the value; with the last `Data` that has it
// the store gets the space back.
//
// Threads: any.

package import CairnModel
package import FoundationEssentials
import Synchronization

/// Where the bytes of a staged value are.
package protocol StagedBytes: Sendable {
    /// Reads from the first byte.
    func reading() -> any ValueReading
    /// Called when nothing can refer to the value any longer.
    func release()
}

/// Takes the bytes of a value into a store.
package protocol ValueStaging: Sendable {
    /// Appends bytes.
    func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError)
    /// Makes all bytes durable. Nothing can be appended afterwards.
    func finish() throws(StoreError) -> StagedValue
    /// Reclaims the space. It can be called after any error.
    func abandon()
}

/// A store that takes large values before anything refers to them.
package protocol ValueStagingStore: PersistentStore {
    /// Begins a value; nil if values of that column are built in memory.
    ///
    /// - Parameter id: the object for which the value is meant, which need not be stored. Another object can get it, at a
    ///   higher cost.
    func beginValue(column: Int, of id: ObjectID, entity: Int) throws(StoreError)
        -> (any ValueStaging)?
}

/// A value in a store that nothing refers to yet.
package final class StagedValue: Sendable {
    /// Its bytes.
    package let count: UInt64
    /// Where they are.
    package let bytes: any StagedBytes
    private let serial: UInt64

    private static let known = Mutex<[UInt64: Known]>([:])
    private static let serials = Atomic<UInt64>(0)
    /// What the bytes of all of them begin with: nobody outside of this process can make some.
    private static let mark: [UInt64] = (0..<5).map { _ in .random(in: .min ... .max) }
    /// So many bytes stand for a value.
    private static let size = 48

    private struct Known: Sendable {
        weak let value: StagedValue?
    }

    package init(count: UInt64, _ bytes: any StagedBytes) {
        self.count = count
        self.bytes = bytes
        serial = Self.serials.wrappingAdd(1, ordering: .relaxed).newValue
        let known = Known(value: self)
        Self.known.withLock { $0[serial] = known }
    }

    deinit {
        let serial = serial
        _ = Self.known.withLock { $0.removeValue(forKey: serial) }
        bytes.release()
    }

    /// What stands for the value. As long as one of its copies is there, the value is.
    package var standIn: Data {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Self.size, alignment: 8)
        for (index, word) in (Self.mark + [serial]).enumerated() {
            memory.storeBytes(of: word, toByteOffset: index * 8, as: UInt64.self)
        }
        return Data(
            bytesNoCopy: memory, count: Self.size,
            deallocator: .custom { memory, _ in
                memory.deallocate()
                withExtendedLifetime(self) {}
            })
    }

    /// The value that some bytes stand for; nil if they are themselves.
    @inline(__always)
    package static func find(_ data: Data) -> StagedValue? {
        data.count == size ? look(data) : nil
    }

    /// The same of any value.
    @inline(__always)
    package static func find(_ value: Value) -> StagedValue? {
        if case .binary(let data) = value { find(data) } else { nil }
    }

    @inline(never)
    private static func look(_ data: Data) -> StagedValue? {
        let serial: UInt64? = data.withUnsafeBytes { bytes in
            for (index, word) in mark.enumerated()
            where bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) != word {
                return nil
            }
            return bytes.loadUnaligned(fromByteOffset: size - 8, as: UInt64.self)
        }
        guard let serial else { return nil }
        return known.withLock { $0[serial]?.value }
    }

    /// All of its bytes.
    package func data() throws(StoreError) -> Data {
        let reading = bytes.reading()
        var data = Data()
        data.reserveCapacity(Int(clamping: count))
        while let chunk = try reading.next(upTo: ValueStream.usualChunkBytes) {
            data.append(chunk)
        }
        return data
    }

    /// Its bytes, some at a time.
    package func stream(chunkBytes: Int) -> ValueStream {
        ValueStream(count: count, chunkBytes: chunkBytes) { [self] in
            StagedReading(value: self, reading: bytes.reading())
        }
    }
}

/// Reads a staged value, and keeps it meanwhile.
private struct StagedReading: ValueReading {
    let value: StagedValue
    let reading: any ValueReading

    func next(upTo count: Int) throws(StoreError) -> Data? { try reading.next(upTo: count) }
}
