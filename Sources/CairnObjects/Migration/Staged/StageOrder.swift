// The order in which stages put the versions of a model, and the steps from one to another.
//
//   1. Versions come in the order in which stages name them; where one stage ends the next one begins, or its first version is
//      the one after.
//   2. The model that is opened is the last one, if no stage names it.
//   3. From a version to the next one the store follows the custom stage that is between them, or what can be inferred.
//
// Threads: a value.

package import CairnModel
package import CairnStore

/// The versions that stages lead through.
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

    /// What tells the versions apart, oldest first.
    package private(set) var versions: [String] = []
    private var customs: [String: CustomMigrationStage] = [:]
    private var labels: [String: String] = [:]
    private var models: [String: ModelReference] = [:]

    /// Orders the versions that stages name.
    ///
    /// - Parameters:
    ///   - models: of versions that stages name by their checksums.
    ///   - model: the one that is opened.
    /// - Throws: `StoreError` with `.invalidRequest` if the stages lead back to a version that they have left.
    package init(
        _ stages: [MigrationStage], models: [ModelReference], to model: ManagedObjectModel
    ) throws(StoreError) {
        for reference in models { self.models[reference.versionChecksum] = reference }
        for stage in stages {
            switch stage {
            case .lightweight(let stage):
                for reference in stage.models { self.models[reference.versionChecksum] = reference }
                for version in stage.versionChecksums { try add(version, stage.label) }
            case .custom(let stage):
                for reference in [stage.currentModel, stage.nextModel] {
                    self.models[reference.versionChecksum] = reference
                }
                try add(stage.currentModel.versionChecksum, "lightweight")
                guard stage.nextModel.versionChecksum != stage.currentModel.versionChecksum else {
                    throw StoreError(
                        .invalidRequest,
                        "the stage \(stage.label) leads to the version that it begins with")
                }
                try add(stage.nextModel.versionChecksum, stage.label)
                customs[stage.nextModel.versionChecksum] = stage
            }
        }
        let last = model.versionChecksum
        if self.models[last] == nil { self.models[last] = ModelReference(model) }
        if !versions.contains(last) { try add(last, "lightweight") }
    }

    private mutating func add(_ version: String, _ label: String) throws(StoreError) {
        if versions.last == version { return }
        guard !versions.contains(version) else {
            throw StoreError(
                .invalidRequest,
                "the stages of the migration lead back to the version \(version), which they have left"
            )
        }
        versions.append(version)
        labels[version] = label
    }

    /// The custom stage that ends with a version.
    package func stage(endingWith version: String) -> CustomMigrationStage? { customs[version] }

    /// The steps from one version to another.
    ///
    /// - Throws: `StoreError`: `.stagedMigrationUnknownVersion` if the stages do not know the first; `.stagedMigrationBackwards` if
    ///   the second is before it; `.modelReferenceNotFound` if the model of one on the way is not known.
    package func steps(from first: String, to last: String) throws(StoreError) -> [Step] {
        if first == last { return [] }
        guard let end = versions.firstIndex(of: last) else {
            preconditionFailure("the model that is opened is among the versions")
        }
        guard let start = versions.firstIndex(of: first) else {
            throw StoreError(
                .stagedMigrationUnknownVersion,
                "the store is of the version \(first), which is none of the migration's stages")
        }
        guard start < end else {
            throw StoreError(
                .stagedMigrationBackwards,
                "the store is of a later version than the model that it is opened with")
        }
        var steps: [Step] = []
        for version in versions[(start + 1)...end] {
            guard let reference = models[version] else {
                throw StoreError(
                    .modelReferenceNotFound,
                    "no model is known for the version \(version) of a stage")
            }
            steps.append(
                Step(
                    model: try reference.resolvedModel(), stage: customs[version],
                    label: labels[version] ?? ""))
        }
        return steps
    }
}
