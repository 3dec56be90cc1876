import Synchronization

extension Engine {
    /// How much was written up to some end of the log, with what lies beside it: what is due from time to time is due by this.
    func volume(at end: UInt64) -> UInt64 {
        end + tools.staging.adoptedBytes.load(ordering: .relaxed)
    }
}
