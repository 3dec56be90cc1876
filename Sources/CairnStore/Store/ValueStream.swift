// A large value in chunks.
//
// Threads: any; each iteration is one task's.

public import CairnModel
public import FoundationEssentials
import Synchronization

/// Reads the bytes of a value sequentially.
package protocol ValueReading: Sendable {
    /// The next bytes, up to a count; nil at the end.
    func next(upTo count: Int) throws(StoreError) -> Data?
}

/// The bytes of a value in one state of a store, in chunks, so that the value is never in memory as a whole.
///
/// ```swift
/// if let plan = try building.valueStream(forKey: "plan") {
///     for try await chunk in plan { try output.write(contentsOf: chunk) }
/// }
/// ```
///
/// It reads the value for which it was created, whatever is written later, and can be iterated more than once. It keeps
/// that state of the store readable as long as it exists.
public struct ValueStream: AsyncSequence, Sendable {
    /// A chunk of bytes, at least one.
    public typealias Element = Data
    /// `.damaged` with the location, `.inputOutput`, `.snapshotExpired`, `.cancelled`.
    public typealias Failure = StoreError

    /// The default chunk size in bytes.
    public static var usualChunkBytes: Int { 256 << 10 }

    /// The size of the whole value in bytes.
    public let count: UInt64
    /// The maximum size of a chunk in bytes.
    public let chunkBytes: Int
    private let begin: @Sendable () -> any ValueReading

    package init(
        count: UInt64, chunkBytes: Int, _ begin: @escaping @Sendable () -> any ValueReading
    ) {
        precondition(chunkBytes > 0, "a chunk has at least one byte")
        self.count = count
        self.chunkBytes = chunkBytes
        self.begin = begin
    }

    /// Streams a value that is in memory.
    public init(_ value: Data, chunkBytes: Int = Self.usualChunkBytes) {
        self.init(count: UInt64(value.count), chunkBytes: chunkBytes) { DataReading(value) }
    }

    /// Iterates from the first byte.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reading: begin(), chunkBytes: chunkBytes)
    }

    /// Passes the chunks on the caller's thread, until the closure returns false.
    ///
    /// - Throws: `StoreError`, and what the closure throws.
    public func forEachChunk(_ body: (Data) throws -> Bool) throws {
        let reading = begin()
        while let chunk = try reading.next(upTo: chunkBytes) {
            guard try body(chunk) else { return }
        }
    }

    /// Iterates over the chunks.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let reading: any ValueReading
        let chunkBytes: Int

        /// The next chunk, read off the caller's actor; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(StoreError)
            -> Data?
        {
            if Task.isCancelled { throw StoreError(.cancelled, "the task was cancelled") }
            return try await Self.chunk(of: reading, upTo: chunkBytes)
        }

        /// The next chunk; nil at the end.
        public mutating func next() async throws(StoreError) -> Data? {
            try await next(isolation: #isolation)
        }

        @concurrent
        private static func chunk(of reading: any ValueReading, upTo count: Int)
            async throws(StoreError) -> Data?
        {
            try reading.next(upTo: count)
        }
    }

    /// The column of an attribute whose bytes can be read; a text has those of its UTF-8.
    package static func column(forKey key: String, of entity: SchemaEntity) throws(StoreError)
        -> Int
    {
        guard let column = entity.columnIndex(named: key) else {
            throw StoreError(
                .invalidRequest, "the entity has no attribute of this name",
                context: .init(entity: entity.name, key: key))
        }
        switch entity.columns[column].kind {
        case .attribute(.binary), .attribute(.transformable), .attribute(.string): return column
        default:
            throw StoreError(
                .invalidRequest, "only binary and string attributes can be read as a stream",
                context: .init(entity: entity.name, key: key))
        }
    }

    /// The bytes of a value in memory; nil if it is none.
    package static func bytes(of value: Value) -> Data? {
        switch value {
        case .binary(let data): data
        case .string(let text): Data(text.utf8)
        default: nil
        }
    }
}

/// A snapshot that reads values without holding them whole.
package protocol ValueStreamingSnapshot: StoreSnapshot {
    func stream(forKey key: String, of id: ObjectID, chunkBytes: Int) throws(StoreError)
        -> ValueStream?
}

extension StoreSnapshot {
    /// The bytes of a binary attribute, or of a string attribute in UTF-8, as a stream; nil if the value is nil.
    ///
    /// - Throws: `StoreError`: `.objectNotFound`; `.invalidRequest` if the attribute does not exist or has another type;
    ///   `.snapshotExpired`, `.damaged`, `.inputOutput`.
    public func valueStream(
        forKey key: String, of id: ObjectID, chunkBytes: Int = ValueStream.usualChunkBytes
    ) throws(StoreError) -> ValueStream? {
        if let streaming = self as? any ValueStreamingSnapshot {
            return try streaming.stream(forKey: key, of: id, chunkBytes: chunkBytes)
        }
        guard let row = try rows([id]).first ?? nil else {
            throw StoreError(
                .objectNotFound, "the store does not have the object", context: .init(objectID: id))
        }
        let entity = schema.entities[row.entity]
        let column = try ValueStream.column(forKey: key, of: entity)
        let value = row.cells.value(column, of: entity, in: identity)
        return ValueStream.bytes(of: value).map { ValueStream($0, chunkBytes: chunkBytes) }
    }
}

/// Reads what is in memory.
private final class DataReading: ValueReading {
    private let rest: Mutex<Data>

    init(_ value: Data) { rest = Mutex(value) }

    func next(upTo count: Int) throws(StoreError) -> Data? {
        rest.withLock { rest in
            if rest.isEmpty { return nil }
            let chunk = Data(rest.prefix(count))
            rest = rest.dropFirst(count)
            return chunk
        }
    }
}
