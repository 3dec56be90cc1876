import CairnFileSystem
import CairnTestSupport
import SystemPackage
import Testing

@Suite("The disk that fails where it is told")
struct FaultInjectionTests {
    let memory = MemoryFileSystem()
    let disk: FaultInjectingFileSystem

    init() {
        disk = FaultInjectingFileSystem(over: memory)
    }

    @Test("without faults it is the disk below")
    func passesOn() throws {
        try disk.makeDirectory("/d")
        let file = try disk.open("/d/a", .create)
        try file.write([1, 2, 3], at: 0)
        try file.truncate(to: 2)
        try file.synchronizeData()
        try disk.syncDirectory("/d")
        #expect(try file.content() == [1, 2])
        #expect(try disk.list("/d") == ["a"])
        #expect(try disk.identity(of: "/d/a") == memory.identity(of: "/d/a"))
        #expect(try file.lock(byte: 0, exclusive: true))
        try file.unlock(byte: 0)
        try file.close()
        try disk.unlink("/d/a")
        try disk.removeDirectory("/d")
        #expect(disk.mutationCount == 8)
        #expect(disk.count(.write) == 1)
        #expect(disk.history.first?.operation == .makeDirectory)
        #expect(disk.history.contains { $0.operation == .truncate && $0.offset == 2 })
    }

    @Test("the call told to fails, once, and leaves the disk as it was")
    func failsOnce() throws {
        let file = try disk.open("/a", .create)
        disk.fail(.write, number: 2, with: .noSpace)
        try file.write([1], at: 0)
        expectError(.write, .noSpace) { try file.write([2, 2], at: 0) }
        #expect(try file.content() == [1])
        try file.write([3], at: 0)
        #expect(try file.content() == [3])
    }

    @Test("a short write does its beginning and then fails")
    func shortWrite() throws {
        let file = try disk.open("/a", .create)
        try file.write([0, 0, 0, 0], at: 0)
        disk.fail(.write, with: .ioError, afterWriting: 3)
        expectError(.write, .ioError) { try file.write([1, 2, 3, 4], at: 0) }
        #expect(try file.content() == [1, 2, 3, 0])
    }

    @Test("a fault can go on, and can mean some files only")
    func repeatsOnSomeFiles() throws {
        let segment = try disk.open("/1.segment", .create)
        let lock = try disk.open("/lock", .create)
        disk.fail(.synchronize, of: ".segment", with: .ioError, repeats: true)
        try lock.synchronizeData()
        for _ in 0..<3 {
            expectError(.synchronize, .ioError) { try segment.synchronizeData() }
        }
        disk.clearFaults()
        try segment.synchronizeData()
    }

    @Test("every kind of call can fail", arguments: FileSystemError.Operation.allCases)
    func everyKind(_ operation: FileSystemError.Operation) throws {
        let file = try disk.open("/a", .create)
        disk.fail(operation, with: .interrupted)
        expectError(operation, .interrupted) {
            switch operation {
            case .open: _ = try disk.open("/a", .read)
            case .syncDirectory: try disk.syncDirectory("/")
            case .list: _ = try disk.list("/")
            case .unlink: try disk.unlink("/a")
            case .makeDirectory: try disk.makeDirectory("/d")
            case .removeDirectory: try disk.removeDirectory("/d")
            case .identify: _ = try disk.identity(of: "/a")
            case .read: _ = try file.read(1, at: 0)
            case .write: try file.write([1], at: 0)
            case .synchronize: try file.synchronizeData()
            case .truncate: try file.truncate(to: 0)
            case .size: _ = try file.size()
            case .lock: _ = try file.lock(byte: 0, exclusive: true)
            case .unlock: try file.unlock(byte: 0)
            case .lockHolder: _ = try file.lockHolder(byte: 0)
            case .close: try file.close()
            }
        }
        #expect(try memory.list("/") == ["a"])
    }

    @Test("a crash at each mutation in turn leaves what was done before it")
    func crashAtEach() throws {
        // The workload appends one byte per write; after a crash at mutation n, n - 2 writes are there
        // (the first mutation creates the file).
        for number in 1...6 {
            let memory = MemoryFileSystem()
            let disk = FaultInjectingFileSystem(over: memory)
            disk.crash(atMutation: number)
            let error = #expect(throws: FileSystemError.self) {
                let file = try disk.open("/a", .create)
                for byte in 0..<10 { try file.write([UInt8(byte)], at: UInt64(byte)) }
            }
            #expect(error?.code == .ioError)
            #expect(disk.hasCrashed)
            #expect(disk.mutationCount == number)
            if number == 1 {
                #expect(try memory.exists("/a") == false)
            } else {
                let left = try memory.open("/a", .read).content()
                #expect(left == (0..<UInt8(number - 2)).map { $0 })
            }
        }
    }

    @Test("a crash in the middle of a write leaves its beginning")
    func crashInsideWrite() throws {
        disk.crash(atMutation: 2, afterWriting: 2)
        let file = try disk.open("/a", .create)
        expectError(.write, .ioError) { try file.write([1, 2, 3], at: 0) }
        #expect(try memory.open("/a", .read).content() == [1, 2])
    }

    @Test("after a crash nothing works, and the locks are free")
    func afterCrash() throws {
        let file = try disk.open("/a", .create)
        #expect(try file.lock(byte: 0, exclusive: true))
        let other = try memory.open("/a", .readWrite)
        #expect(try other.lock(byte: 0, exclusive: true) == false)
        disk.crash()
        #expect(try other.lock(byte: 0, exclusive: true))
        expectError(.read, .ioError) { _ = try file.read(1, at: 0) }
        expectError(.close, .ioError) { try file.close() }
        expectError(.open, .ioError) { _ = try disk.open("/b", .create) }
        expectError(.list, .ioError) { _ = try disk.list("/") }
        #expect(try memory.list("/") == ["a"])
    }
}
