// What an inspector asks of an open store.

import CairnFileSystem
import CairnFormat
import CairnModel
package import CairnStore

extension LogStore {
    /// The store in numbers.
    ///
    /// - Throws: `StoreError` if a file's size cannot be read.
    package func report() throws(StoreError) -> StoreReport {
        let pin = engine.registry.pin()
        let state = pin.state
        let catalog = state.catalog
        var segments: [StoreReport.Segment] = []
        for segment in state.segments {
            do {
                segments.append(
                    StoreReport.Segment(
                        number: segment.number, path: "\(segment.file.path)",
                        end: segment.number == state.end.segment
                            ? state.end.offset : segment.knownEnd ?? 0,
                        bytes: try segment.file.size()))
            } catch {
                throw StoreError(error)
            }
        }
        let entities = catalog.entities.indices.map { index in
            StoreReport.Entity(
                name: catalog.entities[index].name, count: state.counts[index],
                isAbstract: catalog.description(of: index).isAbstract,
                isHidden: catalog.entities[index].isHidden)
        }
        return StoreReport(
            path: "\(engine.files.folder)", identifier: identity.identifier,
            format: FormatVersion.current, schemaVersion: catalog.version, entities: entities,
            segments: segments, commit: state.commit, blockCount: state.blocks.count,
            recovery: recovery)
    }

    /// Goes through everything the store holds and holds it against what must be so.
    ///
    /// Opening has read every frame with its checksums already. Here every value is decoded and checked,
    /// every index entry is looked up, and every reference is followed.
    ///
    /// - Throws: `StoreError` with `.damaged` and the place of the first thing that is wrong.
    package func verify() throws -> StoreVerification {
        var verifier = StoreVerifier(self)
        return try verifier.run()
    }
}
