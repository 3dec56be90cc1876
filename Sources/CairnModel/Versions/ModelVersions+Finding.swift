// The version of a model with which a store was created.

public import FoundationEssentials

extension ModelVersions {
    /// The version whose entities have exactly these hashes, as in ``ManagedObjectModel/entityVersionHashesByName``. Nil if
    /// no version has them.
    ///
    /// The current version is tried first, then the others, the latest first. A version that cannot be read is skipped if
    /// another one fits.
    ///
    /// - Throws: `ModelError` if no version fits and at least one could not be read.
    public func readVersion(withEntityVersionHashes hashes: [String: Data]) throws(ModelError)
        -> ModelFile?
    {
        var failure: ModelError?
        for name in [currentName] + names.reversed().filter({ $0 != currentName }) {
            do throws(ModelError) {
                let file = try read(name)
                if file.model.entityVersionHashesByName == hashes { return file }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return nil
    }
}
