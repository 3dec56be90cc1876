// Large values that are read some bytes at a time.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Values read as streams")
struct ValueStreamTests {
    private static func insert(_ store: LogStore, _ code: String, plan: Data?) throws -> ObjectID {
        var object: [String: any Sendable] = ["code": code]
        object["plan"] = plan
        var request = BatchInsertRequest(entityName: "Airport", objects: [object])
        request.resultType = .objectIDs
        request.mergePolicy = .mergeByPropertyObjectTrump
        return try #require(try store.execute(request).objectIDs.first)
    }

    private static func collect(_ stream: ValueStream) async throws -> [Data] {
        var chunks: [Data] = []
        for try await chunk in stream.inTime() { chunks.append(chunk) }
        return chunks
    }

    private static func joined(_ chunks: [Data]) -> Data {
        chunks.reduce(into: Data()) { $0.append($1) }
    }

    @Test(
        "The chunks together are the value, whatever its size",
        arguments: [0, 1, 100, 4096, 4097, 100_000, 17 << 20])
    func whole(size: Int) async throws {
        let store = try LogStore.inMemory(schema: SampleStore.schema())
        defer { try? store.close() }
        let value = patternedBytes(size)
        let id = try Self.insert(store, "A", plan: value)
        for chunkBytes in [size / 3 + 1, size + 1, 1 << 20] {
            let stream = try #require(
                try store.snapshot().valueStream(forKey: "plan", of: id, chunkBytes: chunkBytes))
            #expect(stream.count == UInt64(size))
            let chunks = try await Self.collect(stream)
            #expect(chunks.allSatisfy { !$0.isEmpty && $0.count <= chunkBytes })
            #expect(Self.joined(chunks) == value)
            // Once more from its beginning, in this thread.
            var again = Data()
            try stream.forEachChunk {
                again.append($0)
                return true
            }
            #expect(again == value)
        }
    }

    @Test("What is written meanwhile changes nothing, nor compaction, nor closing")
    func pinned() async throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        let value = patternedBytes(100_000)
        let id = try Self.insert(store, "A0", plan: value)
        let stream = try #require(
            try store.snapshot().valueStream(forKey: "plan", of: id, chunkBytes: 10_000))
        var iterator = stream.inTime().makeAsyncIterator()
        var found = try await iterator.next() ?? Data()
        _ = try Self.insert(store, "A0", plan: patternedBytes(10))
        for round in 0..<4 { try CompactionTests.update(store, 1..<90, round) }
        _ = try store.compact()
        while let chunk = try await iterator.next() { found.append(chunk) }
        #expect(found == value)
        let now = try #require(try store.snapshot().valueStream(forKey: "plan", of: id))
        #expect(try await Self.joined(Self.collect(now)) == patternedBytes(10))
        try store.close()
        #expect(try await Self.joined(Self.collect(stream)) == value)
    }

    @Test("Nil is nil, a text has its UTF-8, and what cannot be read is refused")
    func refused() async throws {
        let store = try LogStore.inMemory(schema: SampleStore.schema())
        defer { try? store.close() }
        let id = try Self.insert(store, "Ä", plan: nil)
        let snapshot = try store.snapshot()
        #expect(try snapshot.valueStream(forKey: "plan", of: id) == nil)
        let code = try #require(try snapshot.valueStream(forKey: "code", of: id))
        #expect(try await Self.collect(code) == [Data("Ä".utf8)])
        for key in ["elevation", "country", "nothing"] {
            let error = #expect(throws: StoreError.self) {
                _ = try snapshot.valueStream(forKey: key, of: id)
            }
            #expect(error?.code == .invalidRequest)
        }
        let gone = store.identity.id(999, entity: 0)
        let error = #expect(throws: StoreError.self) {
            _ = try snapshot.valueStream(forKey: "plan", of: gone)
        }
        #expect(error?.code == .objectNotFound)
    }

    @Test("A damaged piece is told of, and its bytes are not given", arguments: [0, 1])
    func damaged(piece: Int) async throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        let value = patternedBytes(17 << 20)
        let id = try Self.insert(store, "A", plan: value)
        let state = store.engine.registry.published()
        let name = "/store/" + SegmentName.name(of: state.segments.current.number)
        let file = try disk.open(FilePath(name), .readWrite)
        // Each piece but the last one has 16 MiB less its head.
        let at = UInt64(piece == 0 ? 1 << 20 : (16 << 20) + 300_000)
        try file.write([0, 1, 2, 3, 4, 5, 6, 7].span.bytes, at: at)
        let stream = try #require(
            try store.snapshot().valueStream(forKey: "plan", of: id, chunkBytes: 1 << 20))
        var given = 0
        var failure: StoreError?
        do {
            for try await chunk in stream.inTime() {
                #expect(chunk == value[given..<given + chunk.count])
                given += chunk.count
            }
        } catch {
            failure = error
        }
        #expect(failure?.code == .damaged && failure?.context.segment != nil)
        #expect(given == (piece == 0 ? 0 : 16_777_184))
        // It stays so.
        var iterator = stream.inTime().makeAsyncIterator()
        if piece == 0 {
            for _ in 0..<2 {
                await #expect(throws: StoreError.self) { _ = try await iterator.next() }
            }
        }
        try? store.close()
    }

    @Test("A task that is cancelled gets no more")
    func cancelled() async throws {
        let store = try LogStore.inMemory(schema: SampleStore.schema())
        let id = try Self.insert(store, "A", plan: patternedBytes(100_000))
        let stream = try #require(try store.snapshot().valueStream(forKey: "plan", of: id))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var iterator = stream.inTime().makeAsyncIterator()
            return try await iterator.next()
        }
        let result = await task.result
        #expect(throws: StoreError.self) { _ = try result.get() }
        try store.close()
    }
}
