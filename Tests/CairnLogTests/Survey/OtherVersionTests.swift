import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Stores of another version")
struct OtherVersionTests {
    /// A store whose newest segment another version has begun.
    private func disk(_ change: (inout [UInt8]) -> Void) throws -> MemoryFileSystem {
        var image = try GoldenStore.made(steps: 3, rowsPerBlock: 20, segmentBytes: 6000)
        let name = image.segments.last!
        change(&image.files[name]!)
        let checksum = image.files[name]!.withUnsafeBytes {
            Checksum.crc32c(UnsafeRawBufferPointer(rebasing: $0[..<4092]))
        }
        for index in 0..<4 {
            image.files[name]![4092 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * index))
        }
        return try image.disk()
    }

    @Test(
        "F-205, F-208: nothing reads them, checks them or salvages them as if they were damaged",
        arguments: [(8, UInt8(0)), (8, 2), (80, 4)])
    func refused(offset: Int, value: UInt8) throws {
        let disk = try disk { $0[offset] = value }
        let before = try DiskImage(of: disk)
        let options = SampleStore.options(on: disk)
        func expect(_ body: () throws -> Void) {
            let error = #expect(throws: StoreError.self) { try body() }
            #expect(error?.code == .openFailed)
            #expect(error?.message.contains(offset == 8 ? "F-205" : "F-208") ?? false)
            #expect(error?.context.segment != nil && error?.context.path != nil)
        }
        expect { _ = try LogStore.open(at: "/store", options: options) }
        expect { _ = try LogStore.status(at: "/store", options: options) }
        expect { _ = try LogStore.check(at: "/store", options: options) }
        expect {
            var salvage = SalvageOptions()
            salvage.store = options
            _ = try LogStore.salvage(at: "/store", to: "/other", options: salvage)
        }
        #expect(try DiskImage(of: disk).files == before.files)
    }
}
