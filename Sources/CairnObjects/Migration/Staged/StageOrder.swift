// The order in which stages put the versions of a model, and the steps from one to another.
//
//   1. Versions come in the order of a plan, if there is one; else in that in which stages name them: where one stage ends the
//      next one begins, or its first version is the one after.
//   2. The model that is opened is the last one, if nobody names it.
//   3. From a version the store follows the stage that begins there, also over versions between; without one, or where that leads
//      too far, what can be inferred leads to the next version.
//
// Threads: a value.

package import CairnModel
package import CairnStore

/// The versions that stages pass through.
package struct StageOrder: Sendable {
    /// From one version to the next.
    package struct Step: Sendable {
        /// The model after it.
        package let model: ManagedObjectModel
        /// What the stage says; nil: what can be inferred.
        package let stage: CustomMigrationStage?
        /// The stage's name.
        package let label: String
    }

    /// Which version a stage migrates a version to.
    private struct Hop {
        let next: String
        let stage: CustomMigrationStage?
        let label: String
    }

    /// What tells the versions apart, oldest first.
    package private(set) var versions: [String] = []
    /// By the version that they begin with.
    private var hops: [String: Hop] = [:]
    private var models: [String: ModelReference] = [:]

    /// Orders the versions that stages name.
    ///
    /// - Parameters:
    ///   - models: of versions that stages name by their checksums.
    ///   - planned: all versions in their order; nil: stages put them in order.
    ///   - model: the one that is opened.
    /// - Throws: `StoreError` with `.invalidRequest` if the stages lead back to a version that they have left, name one that is
    ///   not planned, or several of them begin with the same one.
    package init(
        _ stages: [MigrationStage], models: [ModelReference], planned: [String]? = nil,
        to model: ManagedObjectModel
    ) throws(StoreError) {
        for reference in models { self.models[reference.versionChecksum] = reference }
        for version in planned ?? [] { try add(version) }
        for stage in stages {
            let references: [ModelReference]
            let sums: [String]
            var custom: CustomMigrationStage?
            switch stage {
            case .lightweight(let stage):
                (references, sums) = (stage.models, stage.versionChecksums)
            case .custom(let stage):
                references = [stage.currentModel, stage.nextModel]
                sums = references.map(\.versionChecksum)
                guard sums[0] != sums[1] else {
                    throw StoreError(
                        .invalidRequest,
                        "the stage \(stage.label) starts and ends with the same version")
                }
                custom = stage
            }
            for reference in references { self.models[reference.versionChecksum] = reference }
            if planned == nil {
                for version in sums { try add(version) }
            } else if let unknown = sums.first(where: { !versions.contains($0) }) {
                throw StoreError(
                    .invalidRequest,
                    "the stage \(stage.label) names the version \(unknown), which the plan does not"
                )
            }
            for (version, next) in zip(sums, sums.dropFirst()) where version != next {
                try add(Hop(next: next, stage: custom, label: stage.label), from: version)
            }
        }
        let last = model.versionChecksum
        if self.models[last] == nil { self.models[last] = ModelReference(model) }
        if !versions.contains(last) { try add(last) }
    }

    private mutating func add(_ version: String) throws(StoreError) {
        if versions.last == version { return }
        if versions.contains(version) { throw Self.backwards(to: version) }
        versions.append(version)
    }

    private mutating func add(_ hop: Hop, from version: String) throws(StoreError) {
        guard let start = versions.firstIndex(of: version),
            let end = versions.firstIndex(of: hop.next), start < end
        else { throw Self.backwards(to: hop.next) }
        if let other = hops.updateValue(hop, forKey: version) {
            throw StoreError(
                .invalidRequest,
                "the stages \(other.label) and \(hop.label) start with the same version")
        }
    }

    private static func backwards(to version: String) -> StoreError {
        StoreError(
            .invalidRequest,
            "the stages of the migration form a cycle: they return to the version \(version)")
    }

    /// The custom stage that begins with a version and ends with another one.
    package func stage(from version: String, to next: String) -> CustomMigrationStage? {
        hops[version].flatMap { $0.next == next ? $0.stage : nil }
    }

    /// The steps from one version to another.
    ///
    /// - Throws: `StoreError`: `.stagedMigrationUnknownVersion` if the stages do not know the first; `.stagedMigrationBackwards` if
    ///   the second is before it; `.modelReferenceNotFound` if the model of one on the way is not known.
    package func steps(from first: String, to last: String) throws(StoreError) -> [Step] {
        if first == last { return [] }
        guard let end = versions.firstIndex(of: last) else {
            preconditionFailure("the versions include the current model")
        }
        guard let start = versions.firstIndex(of: first) else {
            throw StoreError(
                .stagedMigrationUnknownVersion,
                "the store has the version \(first), which is in no stage of the migration")
        }
        guard start < end else {
            throw StoreError(
                .stagedMigrationBackwards,
                "the store has a later version than the model it is opened with")
        }
        var steps: [Step] = []
        var place = start
        while place < end {
            let version = versions[place]
            var hop = Hop(next: versions[place + 1], stage: nil, label: "lightweight")
            place += 1
            if let stage = hops[version], let next = versions.firstIndex(of: stage.next),
                next <= end
            {
                (hop, place) = (stage, next)
            }
            guard let reference = models[hop.next] else {
                throw StoreError(
                    .modelReferenceNotFound,
                    "there is no model for the version \(hop.next) of a stage")
            }
            steps.append(
                Step(model: try reference.resolvedModel(), stage: hop.stage, label: hop.label))
        }
        return steps
    }
}
