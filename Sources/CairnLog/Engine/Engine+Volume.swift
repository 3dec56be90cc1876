import Synchronization

extension Engine {
    /// Returns the number of bytes written up to an end of the log, including other files: it schedules
    /// periodic work.
    func volume(at end: UInt64) -> UInt64 {
        end + tools.staging.adoptedBytes.load(ordering: .relaxed)
    }
}
