import CairnFormat
import CairnStore

extension StoreFiles {
    /// Whether a name is that of a store file.
    static func isOurs(_ name: String) -> Bool {
        name == SegmentName.lock || SegmentName.number(in: name) != nil
            || CheckpointName.commit(in: name) != nil
    }
}
