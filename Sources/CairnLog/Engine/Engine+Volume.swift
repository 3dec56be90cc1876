import Synchronization

extension Engine {
    /// The number of bytes written up to some end of the log, including other files: periodic work is scheduled by it.
    func volume(at end: UInt64) -> UInt64 {
        end + tools.staging.adoptedBytes.load(ordering: .relaxed)
    }
}
