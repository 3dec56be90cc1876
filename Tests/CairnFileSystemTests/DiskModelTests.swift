import CairnFileSystem
import CairnTestSupport
import SystemPackage
import Testing

@Suite("The disk in memory against the real one")
struct DiskModelTests {
    /// One side of the comparison: a disk, its folder, what is open on it.
    final class Side {
        let disk: any FileSystem
        let root: FilePath
        var open: [any File] = []

        init(_ disk: any FileSystem, _ root: FilePath) {
            self.disk = disk
            self.root = root
        }
    }

    enum Step {
        case open(String, OpenMode)
        case list(String), unlink(String), makeFolder(String), removeFolder(String), look(String)
        case syncFolder(String)
        case read(Int, Int, UInt64), write(Int, [UInt8], UInt64), truncate(Int, UInt64)
        case size(Int), sync(Int), lock(Int, UInt64, Bool), unlock(Int, UInt64), close(Int), drop(
            Int)
    }

    static func step(_ random: inout RandomSource, open: Int) -> Step {
        let names = ["a", "b", "c", "d", "d/a", "d/b", "d/../a", "e/a", "a/b", "d/e", "d/e/a", ""]
        let name = names.randomElement(using: &random)!
        func offset() -> UInt64 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: UInt64.max - UInt64.random(in: 0...20, using: &random)
            case 1: UInt64(Int64.max) + 1
            case 2...6: UInt64.random(in: 16_370...16_400, using: &random)
            default: UInt64.random(in: 0...70_000, using: &random)
            }
        }
        guard open > 0, !random.oneIn(3) else {
            switch Int.random(in: 0..<12, using: &random) {
            case 0: return .list(name)
            case 1: return .unlink(name)
            case 2: return .makeFolder(name)
            case 3: return .removeFolder(name)
            case 4: return .look(name)
            case 5: return .syncFolder(name)
            default: return .open(name, OpenMode.allCases.randomElement(using: &random)!)
            }
        }
        let file = Int.random(in: 0..<open, using: &random)
        let byte = UInt64.random(in: 0...2, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0...4: return .read(file, Int.random(in: 0...40_000, using: &random), offset())
        case 5...9:
            let count = random.oneIn(2) ? 20_000 : 100
            return .write(
                file, random.bytes(Int.random(in: 0...count, using: &random)), offset())
        case 10...11: return .truncate(file, offset())
        case 12: return .size(file)
        case 13: return .sync(file)
        case 14...16: return .lock(file, byte, random.oneIn(2))
        case 17: return .unlock(file, byte)
        case 18: return .close(file)
        default: return .drop(file)
        }
    }

    /// What a step gives, as something to compare: values and errors alike.
    static func take(_ step: Step, on side: Side) -> String {
        func path(_ name: String) -> FilePath {
            name.isEmpty ? side.root : side.root.pushing(FilePath(name))
        }
        do {
            switch step {
            case .open(let name, let mode):
                side.open.append(try side.disk.open(path(name), mode))
                return "opened"
            case .list(let name): return "\(try side.disk.list(path(name)))"
            case .unlink(let name): try side.disk.unlink(path(name))
            case .makeFolder(let name): try side.disk.makeDirectory(path(name))
            case .removeFolder(let name): try side.disk.removeDirectory(path(name))
            case .syncFolder(let name): try side.disk.syncDirectory(path(name))
            case .look(let name):
                // The numbers differ; which open files have it does not. A closed one's may be reused.
                let identity = try side.disk.identity(of: path(name))
                return "\(side.open.map { (try? $0.size()) != nil && $0.identity == identity })"
            case .read(let file, let count, let offset):
                return "\(try side.open[file].read(count, at: offset))"
            case .write(let file, let bytes, let offset):
                try side.open[file].write(bytes, at: offset)
            case .truncate(let file, let size): try side.open[file].truncate(to: size)
            case .size(let file): return "\(try side.open[file].size())"
            case .sync(let file): try side.open[file].synchronizeData()
            case .lock(let file, let byte, let exclusive):
                return "\(try side.open[file].lock(byte: byte, exclusive: exclusive))"
            case .unlock(let file, let byte): try side.open[file].unlock(byte: byte)
            case .close(let file): try side.open[file].close()
            case .drop(let file): side.open.remove(at: file)
            }
            return "done"
        } catch let error as FileSystemError {
            return "\(error.operation) \(error.code) \(String(describing: error.offset))"
        } catch {
            return "\(error)"
        }
    }

    @Test("any sequence of calls has the same results and the same errors on both")
    func agreement() throws {
        var random = RandomSource()
        for _ in 0..<Campaign.count(3, whole: 300) {
            try withTemporaryDirectory { directory in
                let memory = MemoryFileSystem()
                try memory.makeDirectory("/root")
                let real = Side(POSIXFileSystem(), directory.filePath)
                let model = Side(memory, "/root")
                for number in 0..<400 {
                    let step = Self.step(&random, open: real.open.count)
                    let expected = Self.take(step, on: real)
                    let found = Self.take(step, on: model)
                    if expected != found {
                        Issue.record(
                            "step \(number), \(step): the real disk \(expected.prefix(500)), in memory \(found.prefix(500)); seed \(random.seed)"
                        )
                        return
                    }
                }
            }
        }
    }
}
