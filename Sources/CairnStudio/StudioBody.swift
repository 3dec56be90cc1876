// The bytes that come with a request: JSON in memory, a file on the disk, each up to a size.
//
// What is not wanted is read all the same and thrown away: the next request on the connection begins behind it.

import FlyingFox
import FoundationEssentials
import SystemPackage

/// Takes the bytes of a request.
enum StudioBody {
    /// The bytes are more than allowed.
    struct TooLarge: Error {}

    static let mostJSON = 16 << 20
    static let mostFile = 4 << 30

    /// Reads and forgets the bytes.
    static func drain(_ body: HTTPBodySequence) async throws {
        for try await _ in body {}
    }

    /// All bytes.
    static func bytes(_ body: HTTPBodySequence) async throws -> Data {
        var all = Data()
        var size = 0
        for try await part in body {
            size += part.count
            if size <= mostJSON { all.append(part) }
        }
        guard size <= mostJSON else { throw TooLarge() }
        return all
    }

    /// Writes the bytes into a new file that nobody else can read, and gives its path. Whoever gets it removes it.
    static func file(_ body: HTTPBodySequence) async throws -> String {
        let path =
            "\(FileManager.default.temporaryDirectory.path)/cairn-studio-\(UUID().uuidString)"
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .exclusiveCreate], permissions: .ownerReadWrite)
        do {
            var size = 0
            var failure: (any Error)?
            for try await part in body {
                size += part.count
                guard size <= mostFile, failure == nil else { continue }
                do { try file.writeAll(part) } catch { failure = error }
            }
            if let failure { throw failure }
            guard size <= mostFile else { throw TooLarge() }
            try file.close()
            return path
        } catch {
            try? file.close()
            remove(path)
            throw error
        }
    }

    /// Removes a file of before.
    static func remove(_ path: String) {
        // In the folder for what is temporary it does no harm either.
        try? FileManager.default.removeItem(atPath: path)
    }
}
