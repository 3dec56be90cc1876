// Which version of a model a store was made with.

public import FoundationEssentials

extension ModelVersions {
    /// The version whose entities have these hashes: those of ``ManagedObjectModel/entityVersionHashesByName``, all of them and
    /// no others. Nil if no version has them.
    ///
    /// The current version is looked at first, then the others, the latest first. A version that cannot be read is passed over
    /// if another one fits.
    ///
    /// - Throws: `ModelError` if no version fits and one could not be read.
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
